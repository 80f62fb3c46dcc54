//! The shapes of the dispatcher's bodies, as the OpenAPI document describes them.
#![expect(dead_code, reason = "the types are there for their schemas, no value of them is ever made")]

use std::collections::BTreeSet;

use serde_json::Value;
use utoipa::{OpenApi, ToSchema};

use super::schemas::{Name, Reason, Timestamp, WorkerClass};

/// All of them, with what they refer to.
#[derive(OpenApi)]
#[openapi(components(schemas(
    NewJobs,
    SubmittedJobs,
    Job,
    EndedJob,
    JobPage,
    Requeue,
    Requeued,
    Offer,
    Claims,
    Heartbeat,
    Lease,
    Finish,
    Finished,
    Situation,
    Advice,
    Pools,
    PausedPool,
    PausedBuilder,
)))]
pub struct Schemas;

/// The id of a job or a claim: a number, as text.
#[derive(ToSchema)]
#[schema(pattern = r"^[0-9]{1,19}$")]
pub struct Id(String);

/// What the holder of a claim must show.
#[derive(ToSchema)]
#[schema(pattern = r"^[0-9a-fA-F]{32}$")]
pub struct Token(String);

/// At most 512 bytes.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 512)]
pub struct Text(String);

/// A moment: Unix seconds, or RFC 3339 text.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum Moment {
    Seconds(UnixSeconds),
    Text(DateTime),
}

/// With a fraction where there is one.
#[derive(ToSchema)]
#[schema(minimum = -253_402_207_200_i64, maximum = 253_402_207_200_i64)]
pub struct UnixSeconds(f64);

#[derive(ToSchema)]
#[schema(format = "date-time")]
pub struct DateTime(String);

/// What is compared before any priority.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobClass {
    Release,
    Normal,
    Idle,
}

/// One job, or up to 10,000 of them.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(example = json!({
    "builder": "Android armv7 API 9 mozilla-inbound build",
    "branch": "mozilla-inbound",
    "idempotency_key": "mozilla-inbound/4f6a/android-api-9",
    "payload": {"revision": "4f6a"},
}))]
pub enum NewJobs {
    One(NewJob),
    Several(Vec<NewJob>),
}

/// A job to be run; what is left out is filled in from the farm file.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJob {
    builder: Name,
    /// That of its builder's rule, if absent.
    class: Option<JobClass>,
    /// Smaller is more important; that of its branch, or else the farm's default, if absent.
    #[schema(minimum = -1_000_000_000, maximum = 1_000_000_000)]
    priority: Option<i64>,
    /// Since when it waits; now, if absent or in the future.
    submitted_at: Option<Moment>,
    branch: Option<Text>,
    project: Option<Text>,
    push: Option<Text>,
    /// A second job with this key, within a day, is the first one.
    idempotency_key: Option<Text>,
    /// Ids of input sets.
    #[schema(required = false, max_items = 1000)]
    inputs: Vec<Text>,
    /// For whoever runs it: any JSON of at most 16 KiB.
    payload: Option<Value>,
}

/// What was accepted, in the order of the call.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmittedJobs {
    jobs: Vec<SubmittedJob>,
}

/// An accepted job; of one that was known and has ended already, only its id.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmittedJob {
    id: Id,
    #[schema(nullable = false)]
    builder: Option<Name>,
    #[schema(nullable = false)]
    class: Option<JobClass>,
    #[schema(nullable = false)]
    priority: Option<i64>,
    #[schema(nullable = false)]
    submitted_at: Option<Timestamp>,
    #[schema(nullable = false)]
    branch: Option<Text>,
    #[schema(nullable = false)]
    project: Option<Text>,
    #[schema(nullable = false)]
    push: Option<Text>,
    #[schema(nullable = false)]
    idempotency_key: Option<Text>,
    #[schema(nullable = false)]
    inputs: Option<Vec<Text>>,
    /// Its idempotency key was known: it is an older job.
    #[schema(nullable = false)]
    known: Option<bool>,
    /// Its `submitted_at` lay in the future, and was taken to be now.
    #[schema(nullable = false)]
    clamped: Option<bool>,
}

/// A job that waits or runs.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    id: Id,
    state: JobState,
    builder: Name,
    class: JobClass,
    priority: i64,
    submitted_at: Timestamp,
    #[schema(nullable = false)]
    branch: Option<Text>,
    #[schema(nullable = false)]
    project: Option<Text>,
    #[schema(nullable = false)]
    push: Option<Text>,
    #[schema(nullable = false)]
    idempotency_key: Option<Text>,
    #[schema(nullable = false)]
    inputs: Option<Vec<Text>>,
    /// How often it has started.
    attempts: u32,
    #[schema(nullable = false)]
    running: Option<RunningJob>,
    /// Only where one job is asked for.
    #[schema(nullable = false)]
    payload: Option<Value>,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    Pending,
    Running,
}

/// A run that goes on.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunningJob {
    claim: Id,
    job: Id,
    worker: Name,
    session: String,
    attempt: u32,
    started_at: Timestamp,
}

/// A job that neither waits nor runs.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EndedJob {
    id: Id,
    state: Ended,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    Ended,
}

/// One page of jobs, the most important first.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobPage {
    jobs: Vec<Job>,
    /// `after` of the next page; null on the last.
    #[schema(required)]
    next_after: Option<String>,
}

/// Which running jobs are put back: those that fit all that is said, of which something must be said, or `all`.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"worker": "bld-linux64-spot-024", "reason": "its disk is full"}))]
pub struct Requeue {
    builder: Option<Name>,
    pool: Option<Name>,
    worker: Option<Name>,
    jobs: Option<Vec<Id>>,
    /// Every job that runs.
    #[schema(required = false)]
    all: bool,
    reason: Option<Reason>,
}

/// What was put back.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Requeued {
    jobs: Vec<PutBack>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutBack {
    id: Id,
    builder: Name,
    /// The claim that has ended by it.
    claim: Id,
    worker: Name,
}

/// Workers that are idle, and how many jobs are wanted for them.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"workers": ["bld-linux64-spot-024", "bld-linux64-spot-301"], "max": 1}))]
pub struct Offer {
    #[schema(min_items = 1, max_items = 10_000)]
    workers: BTreeSet<Name>,
    /// As many as there are workers, if absent.
    #[schema(minimum = 1, maximum = 18_446_744_073_709_551_615_u64)]
    max: Option<u64>,
    /// For so many seconds, at most 60, if no job is there at once.
    #[schema(required = false, minimum = 0)]
    wait: f64,
    /// Who offers them; the token's name, if absent. A worker that one session has offered, or has a claim on, is not
    /// another's to offer.
    session: Option<Text>,
    /// A second call of the session with this key, within a day, gets the same claims.
    idempotency_key: Option<Text>,
}

/// Jobs for workers.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    #[schema(min_items = 1)]
    claims: Vec<Claim>,
}

/// A job that a worker is to run.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    id: Id,
    token: Token,
    job: ClaimedJob,
    worker: Name,
    /// 1 for the first start of the job.
    attempt: u32,
    /// When the claim ends without a heartbeat.
    lease_until: Timestamp,
}

/// What is to be run; of a job that has ended, in an answer that is given once more, only its id.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimedJob {
    id: Id,
    #[schema(nullable = false)]
    builder: Option<Name>,
    #[schema(nullable = false)]
    class: Option<JobClass>,
    #[schema(nullable = false)]
    priority: Option<i64>,
    #[schema(nullable = false)]
    submitted_at: Option<Timestamp>,
    #[schema(nullable = false)]
    branch: Option<Text>,
    #[schema(nullable = false)]
    project: Option<Text>,
    #[schema(nullable = false)]
    push: Option<Text>,
    #[schema(nullable = false)]
    idempotency_key: Option<Text>,
    #[schema(nullable = false)]
    inputs: Option<Vec<Text>>,
    #[schema(nullable = false)]
    payload: Option<Value>,
}

/// The claim's worker lives.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    token: Token,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    lease_until: Timestamp,
}

/// How a run ended.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    token: Token,
    result: FinishResult,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FinishResult {
    Success,
    Failure,
    /// Something broke that is not the job's doing: it runs again.
    Exception,
    /// It is to run again.
    Retry,
    Cancelled,
}

/// What has become of the job.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    id: Id,
    job: Id,
    result: FinishResult,
    next: Next,
}

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    Waits,
    Ended,
    /// It was to run again, but has had all its attempts.
    GivenUp,
}

/// What waits and who is idle, as a master sees it.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Situation {
    #[schema(max_items = 10_000)]
    idle: Vec<Name>,
    #[schema(max_items = 10_000)]
    pending: Vec<PendingJob>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PendingJob {
    builder: Name,
    priority: Option<i64>,
    class: Option<JobClass>,
    submitted_at: Option<Moment>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// All builders that a rule of the farm file matches, by their most important job.
    order: Vec<Name>,
    /// In the order of the jobs; a builder as often as it starts.
    assign: Vec<Assign>,
    /// Builders with a job that has to wait.
    held: Vec<HeldBuilder>,
    /// Workers that are not idle for us.
    ignored: Vec<IgnoredWorker>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Assign {
    builder: Name,
    worker: Name,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldBuilder {
    builder: Name,
    reason: String,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct IgnoredWorker {
    worker: Name,
    reason: String,
}

/// All pools, in the order of the farm file.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pools {
    pools: Vec<Pool>,
    /// By name.
    paused_builders: Vec<PausedBuilder>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    name: Name,
    class: WorkerClass,
    workers: WorkerCounts,
    /// Null unless nothing of it starts.
    #[schema(required)]
    paused: Option<Pause>,
    /// Of its workers, those that have a job.
    running: u64,
    /// Jobs that wait for a worker of it.
    pending: u64,
    /// Of the oldest of them, in seconds; null if none waits.
    #[schema(required, minimum = 0)]
    oldest_wait: Option<f64>,
    /// As far as this run of the server has seen them.
    started_last_hour: u64,
}

/// Workers by state.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerCounts {
    active: u64,
    draining: u64,
    quarantined: u64,
}

/// Who paused something, when and why.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    author: String,
    reason: Option<Reason>,
    since: Timestamp,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PausedPool {
    pool: Name,
    /// Null once it is resumed.
    #[schema(required)]
    paused: Option<Pause>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PausedBuilder {
    builder: Name,
    /// Null once it is resumed.
    #[schema(required)]
    paused: Option<Pause>,
}
