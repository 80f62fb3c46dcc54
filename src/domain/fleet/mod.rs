//! The fleet: pools, workers and builder rules as the farm file defines them, and what a change of that file changes.

mod definition;
mod diff;
mod options;
mod pause;
mod range;
mod state;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use definition::{
    AllocationLimits, Branch, BuilderRule, Definition, FairShare, JobClass, MAX_WORKERS, Pool, Problem, Seconds,
    WorkerClass, WorkerEntry,
};
pub use diff::{Change, diff};
pub use options::{OnEmptySet, Options, Warmth};
pub use pause::{MAX_PAUSED_BUILDERS, Pausable, Pause, Pauses};
pub use range::{BadRange, WorkerRange};
pub use state::{Assigned, Attributes, Duty, Fleet, Worker};

use super::author::Author;
use super::names::{PoolName, WorkerName};
use super::time::Timestamp;

/// What can be asked of the fleet.
#[derive(Debug, Clone)]
pub enum Command {
    /// Put this definition in force; one that is in force already changes nothing.
    Define { definition: Box<Definition>, author: Author },
    /// Make a worker that the farm file does not name, or change it.
    PutWorker { name: WorkerName, worker: Worker, author: Author, reason: Option<String> },
    /// Take such a worker away.
    RemoveWorker { name: WorkerName, author: Author, reason: Option<String> },
    /// Take any worker out of work, or back.
    SetDuty { name: WorkerName, duty: Duty, author: Author, reason: Option<String> },
    /// Let nothing of it start.
    Pause { what: Pausable, author: Author, reason: Option<String> },
    /// Let it go on; what is not paused goes on already.
    Resume { what: Pausable, author: Author, reason: Option<String> },
}

/// What has happened to the fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The whole resolved farm file, so that a replay never reads one that has changed since.
    Defined {
        definition: Box<Definition>,
        author: Author,
    },
    WorkerPut {
        name: WorkerName,
        worker: Worker,
        author: Author,
        reason: Option<String>,
    },
    WorkerRemoved {
        name: WorkerName,
        author: Author,
        reason: Option<String>,
    },
    DutySet {
        name: WorkerName,
        duty: Duty,
        author: Author,
        reason: Option<String>,
        time: Timestamp,
    },
    Paused {
        what: Pausable,
        author: Author,
        reason: Option<String>,
        time: Timestamp,
    },
    Resumed {
        what: Pausable,
        author: Author,
        reason: Option<String>,
    },
}

/// Why the fleet stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("the farm definition has {} fault(s): {}", .0.len(), .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    BadDefinition(Vec<Problem>),
    #[error("there is no pool {pool:?} (the pools are: {})", .known.join(", "))]
    NoSuchPool { pool: PoolName, known: Vec<String> },
    #[error("there is no worker {name:?}")]
    NoSuchWorker { name: WorkerName },
    #[error("worker {name:?} stands in the farm file, which wins: change it there, and reload")]
    InFarmFile { name: WorkerName },
    #[error("there is no {what}: {why}")]
    NothingToPause { what: Pausable, why: String },
    #[error("{MAX_PAUSED_BUILDERS} builders are paused already: pause their pools")]
    TooManyPaused,
    #[error("there are {MAX_WORKERS} workers already, and more are not managed")]
    TooManyWorkers,
}

pub(super) fn decide(fleet: &Fleet, now: Timestamp, command: Command) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Define { definition, author } => {
            let mut problems = definition.problems();
            if problems.is_empty() {
                problems = fleet.stranded_by(&definition);
            }
            if !problems.is_empty() {
                return Err(Refusal::BadDefinition(problems));
            }
            if *definition == *fleet.definition() {
                return Ok(Vec::new());
            }
            Ok(vec![Event::Defined { definition, author }])
        }
        Command::PutWorker { name, worker, author, reason } => {
            if fleet.is_in_file(&name) {
                return Err(Refusal::InFarmFile { name });
            }
            let pools = &fleet.definition().pools;
            if !pools.iter().any(|pool| pool.name == worker.pool) {
                let known = pools.iter().map(|pool| pool.name.to_string()).collect();
                return Err(Refusal::NoSuchPool { pool: worker.pool, known });
            }
            if fleet.worker(&name).is_none() && fleet.workers().len() as u64 >= MAX_WORKERS {
                return Err(Refusal::TooManyWorkers);
            }
            Ok(vec![Event::WorkerPut { name, worker, author, reason }])
        }
        Command::RemoveWorker { name, author, reason } => {
            if fleet.is_in_file(&name) {
                return Err(Refusal::InFarmFile { name });
            }
            known(fleet, &name)?;
            Ok(vec![Event::WorkerRemoved { name, author, reason }])
        }
        Command::SetDuty { name, duty, author, reason } => {
            known(fleet, &name)?;
            Ok(vec![Event::DutySet { name, duty, author, reason, time: now }])
        }
        Command::Pause { what, author, reason } => {
            can_be_paused(fleet, &what)?;
            let is_new = fleet.pauses().get(&what).is_none();
            if is_new && fleet.pauses().builders.len() >= MAX_PAUSED_BUILDERS {
                return Err(Refusal::TooManyPaused);
            }
            Ok(vec![Event::Paused { what, author, reason, time: now }])
        }
        Command::Resume { what, author, reason } => {
            if fleet.pauses().get(&what).is_some() {
                return Ok(vec![Event::Resumed { what, author, reason }]);
            }
            can_be_paused(fleet, &what)?;
            Ok(Vec::new())
        }
    }
}

fn can_be_paused(fleet: &Fleet, what: &Pausable) -> Result<(), Refusal> {
    let definition = fleet.definition();
    let why = match what {
        Pausable::Pool(name) if definition.pools.iter().any(|pool| pool.name == *name) => return Ok(()),
        Pausable::Pool(_) => {
            let known: Vec<_> = definition.pools.iter().map(|pool| pool.name.as_str()).collect();
            format!("the pools are: {}", known.join(", "))
        }
        Pausable::Builder(name) if fleet.rule_index(name).is_some() => return Ok(()),
        Pausable::Builder(name) => definition.unmatched(name),
    };
    Err(Refusal::NothingToPause { what: what.clone(), why })
}

fn known(fleet: &Fleet, name: &WorkerName) -> Result<(), Refusal> {
    if fleet.worker(name).is_some() { Ok(()) } else { Err(Refusal::NoSuchWorker { name: name.clone() }) }
}
