//! A farm, and what happens to it when: played on the real decision code with a clock of its own.

mod outcome;
mod play;

use std::time::Duration;

pub use outcome::{Assigned, Outcome};
pub use play::play;

use crate::domain::allocator::Builders;
use crate::domain::dispatcher::{NewJob, RunResult};
use crate::domain::fleet::Definition;
use crate::domain::{BuilderName, Timestamp, WorkerName};

/// What a scenario calls a job.
pub type JobName = String;

/// What is to be played. Times are seconds from its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub definition: Definition,
    /// In force before the first event.
    pub allocations: Builders,
    /// Runs that ended before.
    pub history: Vec<Past>,
    /// Those of one time are one event, in the order given.
    pub events: Vec<(Timestamp, Happening)>,
    /// What happens then still counts.
    pub until: Timestamp,
    /// Jobs that are to be explained then, if they wait.
    pub explain: Vec<JobName>,
}

/// A run from before the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    pub builder: BuilderName,
    pub worker: WorkerName,
    pub finished_at: Timestamp,
    pub result: RunResult,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// With `service` the job succeeds by itself so long after each start.
    Submit { name: JobName, job: Box<NewJob>, service: Option<Duration> },
    /// These workers are idle until they get a job; before that they are busy with something else.
    Idle(Vec<WorkerName>),
    /// One claim call: these workers are idle until it is answered, with at
    /// most `max` claims (absent: one a worker), or has waited so long
    /// (absent: for ever).
    Claim { workers: Vec<WorkerName>, max: Option<usize>, wait: Option<Duration> },
    /// This is the whole allocation from now on.
    Allocate(Builders),
    /// The worker's run ends, and the worker is idle.
    Finish { worker: WorkerName, result: RunResult },
    /// These workers leave the farm.
    Remove(Vec<WorkerName>),
    /// Nothing is heard of these workers any more.
    Lost(Vec<WorkerName>),
    /// These workers get no more jobs.
    Drain(Vec<WorkerName>),
    /// Nobody wants these jobs any more.
    Cancel(Vec<JobName>),
}
