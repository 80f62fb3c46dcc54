//! The shapes of explanations, as the OpenAPI document describes them.
#![expect(dead_code, reason = "the types are there for their schemas, no value of them is ever made")]

use std::collections::BTreeMap;

use utoipa::{OpenApi, ToSchema};

use super::job_schemas::Id;
use super::schemas::{Name, Timestamp, WorkerClass};

/// All of them, with what they refer to.
#[derive(OpenApi)]
#[openapi(components(schemas(ExplainedJob, ExplainedEndedJob, ExplainedWorker, ExplainedBuilder)))]
pub struct Schemas;

/// Why a job is where it is.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainedJob {
    job: Id,
    builder: Name,
    state: ExplainedState,
    /// The reason in one sentence.
    reason: String,
    /// Among the jobs with the same worker set and the same waits; 1 is the next of them.
    #[schema(nullable = false, minimum = 1)]
    place: Option<u64>,
    #[schema(nullable = false)]
    ahead: Option<Ahead>,
    /// Every worker of the pool and of the allocation, by what keeps it from the job.
    workers: Vec<WorkerGroup>,
    /// Null when nothing that is known says when.
    #[schema(required = true)]
    start: Option<Estimate>,
    /// Null when it would take more steps than anybody would make.
    #[schema(required = true)]
    change: Option<SmallestChange>,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExplainedState {
    Pending,
    Running,
}

/// A job of which only the run history knows more.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainedEndedJob {
    job: Id,
    state: Ended,
    reason: String,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    Ended,
}

/// More important jobs that could use one of the job's workers.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Ahead {
    #[schema(minimum = 0)]
    count: u64,
    /// The most important ones.
    #[schema(max_items = 10)]
    jobs: Vec<Id>,
}

/// Workers that have the same reason.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerGroup {
    code: ObstacleCode,
    reason: String,
    #[schema(minimum = 1)]
    count: u64,
    /// The first by name.
    #[schema(max_items = 20)]
    workers: Vec<GroupedWorker>,
}

#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObstacleCode {
    Idle,
    Busy,
    Away,
    Held,
    Class,
    OutsideAllocation,
    Dedicated,
    Attributes,
    Gone,
    Paused,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupedWorker {
    name: Name,
    #[schema(nullable = false)]
    detail: Option<String>,
}

/// A guess, with what it rests on.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    at: Timestamp,
    because: String,
}

/// What would start the job, all steps together, with one decision after them.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallestChange {
    #[schema(min_items = 1)]
    steps: Vec<Step>,
    /// The same for a person.
    reads: String,
    /// Absent if on a worker that is yet to come.
    #[schema(nullable = false)]
    starts_on: Option<Name>,
}

/// What somebody can do.
#[derive(ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// Lift a pause, of a pool or of a builder.
    Resume(Paused),
    /// Take a worker that is offered back into work.
    Release { worker: Name },
    /// Give an option another value, for a builder or for all of a pool.
    Set(NewValue),
    /// Cancel a less important job; its worker is offered then.
    Cancel { job: Id, worker: Name },
    /// Add so many idle workers, to the builder's allocation if it has one.
    Worker {
        pool: Name,
        class: WorkerClass,
        attributes: BTreeMap<String, String>,
        #[schema(required = true)]
        builder: Option<Name>,
        #[schema(minimum = 1)]
        count: u64,
    },
}

/// One of the two.
#[derive(ToSchema)]
pub struct Paused {
    #[schema(nullable = false)]
    pool: Option<Name>,
    #[schema(nullable = false)]
    builder: Option<Name>,
}

/// For a builder or for a pool.
#[derive(ToSchema)]
pub struct NewValue {
    option: String,
    to: u64,
    #[schema(nullable = false)]
    pool: Option<Name>,
    #[schema(nullable = false)]
    builder: Option<Name>,
}

/// What a worker does, and what waits that could be thought to run on it.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainedWorker {
    worker: Name,
    pool: Name,
    class: WorkerClass,
    state: Standing,
    /// The reason in one sentence.
    reason: String,
    /// The builders that have it; empty for a worker that no builder has.
    builders: Vec<Name>,
    /// The most important job that could run on it, were it idle.
    #[schema(required = true)]
    next: Option<Id>,
    /// The jobs of its pool that wait, by what keeps them from it.
    waiting: Vec<WaitingGroup>,
}

/// How a worker stands: `held` is taken out of work.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    Idle,
    Busy,
    Away,
    Held,
}

/// Builders whose jobs have the same reason.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitingGroup {
    code: ObstacleCode,
    reason: String,
    /// How many jobs wait.
    #[schema(minimum = 1)]
    jobs: u64,
    /// The first by name.
    #[schema(max_items = 20)]
    builders: Vec<Name>,
}

/// Where a builder stands.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainedBuilder {
    builder: Name,
    pool: Name,
    /// The rule of the farm file that it falls under, as its pattern.
    rule: String,
    /// Null when it uses the pool's workers that no builder has.
    #[schema(required = true)]
    allocation: Option<Vec<Name>>,
    /// The reason in one sentence.
    reason: String,
    /// How many of its jobs wait.
    #[schema(minimum = 0)]
    pending: u64,
    /// Seconds that its runs have taken on average; null before the first has ended.
    #[schema(required = true)]
    mean_run: Option<f64>,
    /// Its most important job.
    #[schema(required = true)]
    next: Option<ExplainedJob>,
}
