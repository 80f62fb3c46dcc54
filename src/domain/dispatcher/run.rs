//! Claims and runs: a job given to a worker under a lease, and how that ended.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::job::{JobId, JobSpec};
use crate::domain::author::Author;
use crate::domain::fleet::Options;
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// The number of a claim, counted up from 1 and never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClaimId(pub u64);

impl ClaimId {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the holder of a claim must show: nobody can guess it, and it is good for this claim alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(u128);

impl Token {
    pub fn new(bits: u128) -> Self {
        Self(bits)
    }

    /// The token of the claim that comes so many places after the one with this token.
    pub(super) fn after(self, places: usize) -> Self {
        Self(self.0.wrapping_add(places as u128))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl TryFrom<String> for Token {
    type Error = &'static str;

    fn try_from(hex: String) -> Result<Self, Self::Error> {
        let is_hex = hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex
            .then(|| u128::from_str_radix(&hex, 16).ok())
            .flatten()
            .map(Self)
            .ok_or("a token is 32 hexadecimal digits")
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.to_string()
    }
}

/// One job given to one worker, and what was decided against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub id: ClaimId,
    pub token: Token,
    pub job: JobId,
    pub worker: WorkerName,
    /// 1 for the first start of the job.
    pub attempt: u32,
    /// When the worker last succeeded with this builder; a warm start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_since: Option<Timestamp>,
    /// The job of the same worker set that comes next, and did not get this worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<JobId>,
    /// How many other idle workers could have had the job.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: u32,
    /// How long it lives without a heartbeat.
    #[serde(default = "default_lease", skip_serializing_if = "is_default_lease", with = "lease")]
    pub lease: Duration,
}

/// A lease as a number of seconds.
mod lease {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::domain::fleet::Seconds;

    pub fn serialize<S: Serializer>(lease: &Duration, to: S) -> Result<S::Ok, S::Error> {
        Seconds(lease.as_secs_f64()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        Seconds::deserialize(from).map(Duration::from)
    }
}

fn default_lease() -> Duration {
    Options::default().lease()
}

fn is_default_lease(lease: &Duration) -> bool {
    *lease == default_lease()
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A claim whose lease lives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Running {
    pub job: JobId,
    pub worker: WorkerName,
    pub token: Token,
    pub session: Arc<str>,
    pub attempt: u32,
    pub started_at: Timestamp,
    pub warm: bool,
    #[serde(default = "default_lease", skip_serializing_if = "is_default_lease", with = "lease")]
    pub lease: Duration,
}

/// A claim as its holder is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Granted {
    pub id: ClaimId,
    pub token: Token,
    pub job: JobId,
    /// `None` once the job has ended, for a call that is repeated late.
    pub spec: Option<Arc<JobSpec>>,
    pub worker: WorkerName,
    pub attempt: u32,
    pub lease_until: Timestamp,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunResult {
    Success,
    Failure,
    /// Something broke that is not the job's doing.
    Exception,
    /// The master wants it run again.
    Retry,
    /// Nobody wants it any more, or its worker was taken away.
    Cancelled,
    /// The lease ran out, or the worker was offered again as if it had no job.
    Lost,
    /// An operator put the job back.
    Requeued,
}

impl RunResult {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Exception => "exception",
            Self::Retry => "retry",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
            Self::Requeued => "requeued",
        }
    }
}

impl fmt::Display for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What becomes of a job whose run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// It waits again, with its age.
    Waits,
    /// It is done.
    Ended,
    /// It was to run again, but has had all its attempts.
    GivenUp,
}

/// A run from start to end, complete: the run history is made of these alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub claim: ClaimId,
    pub job: JobId,
    pub builder: BuilderName,
    pub worker: WorkerName,
    pub attempt: u32,
    pub submitted_at: Timestamp,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub result: RunResult,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<Arc<str>>,
    pub next: Next,
    pub author: Author,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
