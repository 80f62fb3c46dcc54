//! The fleet: pools, workers and builder rules as the farm file defines them, and what a change of that file changes.

mod definition;
mod diff;
mod range;
mod state;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use definition::{
    AllocationLimits, Branch, BuilderRule, Definition, JobClass, MAX_WORKERS, Pool, Problem, Seconds, WorkerClass,
    WorkerEntry,
};
pub use diff::{Change, diff};
pub use range::{BadRange, WorkerRange};
pub use state::{Fleet, Worker};

use super::author::Author;

/// What can be asked of the fleet.
#[derive(Debug, Clone)]
pub enum Command {
    /// Put this definition in force; one that is in force already changes nothing.
    Define { definition: Box<Definition>, author: Author },
}

/// What has happened to the fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The whole resolved farm file, so that a replay never reads one that has changed since.
    Defined { definition: Box<Definition>, author: Author },
}

/// Why the fleet stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("the farm definition has {} fault(s): {}", .0.len(), .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    BadDefinition(Vec<Problem>),
}

pub(super) fn decide(fleet: &Fleet, command: Command) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Define { definition, author } => {
            let problems = definition.problems();
            if !problems.is_empty() {
                return Err(Refusal::BadDefinition(problems));
            }
            if *definition == *fleet.definition() {
                return Ok(Vec::new());
            }
            Ok(vec![Event::Defined { definition, author }])
        }
    }
}
