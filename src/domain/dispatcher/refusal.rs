//! Why the dispatcher leaves jobs as they are.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use super::MAX_OFFERED_WORKERS;
use super::job::{JobId, MAX_JOBS_PER_CALL, MAX_PENDING_JOBS};
use super::run::ClaimId;
use crate::domain::names::{BuilderName, WorkerName};

/// How many names or faults a refusal's text spells out.
const TOLD: usize = 20;

/// Why one job of a submission cannot be accepted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BadJob {
    /// Its place in the submission, from 0.
    pub index: usize,
    pub builder: BuilderName,
    /// The key that is wrong.
    pub key: &'static str,
    pub message: String,
}

impl fmt::Display for BadJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "jobs[{}].{} (builder {:?}): {}", self.index, self.key, self.builder, self.message)
    }
}

#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    #[error("{}", told(.0.iter().map(ToString::to_string)))]
    BadJobs(Vec<BadJob>),
    #[error("{given} jobs are too many for one call, which takes {MAX_JOBS_PER_CALL}: send them in parts")]
    TooManyJobs { given: usize },
    #[error("{MAX_PENDING_JOBS} jobs wait already; cancel what nobody needs, or try again when some have run")]
    QueueFull,
    #[error("there is no job {0}")]
    NoSuchJob(JobId),
    #[error("job {0} has ended already: nothing of it can be cancelled")]
    JobEnded(JobId),
    #[error("a claim names at least one worker")]
    NoWorkers,
    #[error("{given} workers are too many for one call, which takes {MAX_OFFERED_WORKERS}: claim for them in parts")]
    TooManyWorkers { given: usize },
    #[error("`max` is at least 1, or the call could claim nothing")]
    NothingWanted,
    #[error("worker {0:?} is named twice in one call")]
    OfferedTwice(WorkerName),
    #[error("not in the farm: {}; the farm file or PUT /v1/workers/<name> makes a worker known", names(.0))]
    UnknownWorkers(Vec<WorkerName>),
    #[error("claimed for by another session: {}; a worker is free for others once that call has ended and its lease is over", names(.0))]
    OfferedElsewhere(Vec<WorkerName>),
    #[error(
        "claim {0} is not running with this token: its lease ran out, it has ended, or the token is another's; nothing was changed"
    )]
    StaleToken(ClaimId),
    #[error("there was no claim {0}")]
    NoSuchClaim(ClaimId),
}

fn names(workers: &[WorkerName]) -> String {
    told(workers.iter().map(|worker| format!("{worker:?}")))
}

fn told(texts: impl ExactSizeIterator<Item = String>) -> String {
    let more = texts.len().saturating_sub(TOLD);
    let mut texts: Vec<_> = texts.take(TOLD).collect();
    if more > 0 {
        texts.push(format!("and {more} more"));
    }
    texts.join("; ")
}
