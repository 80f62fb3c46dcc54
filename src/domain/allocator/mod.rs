//! The allocator: which workers are dedicated to which builder, generation by generation.

mod decide;
mod history;
mod peaks;
mod rules;
mod state;
#[cfg(test)]
mod tests;
mod vacated;
mod write;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use history::Entry;
pub use rules::{Fault, FaultValue, Rule};
pub use state::{Allocations, Delta, NotKept};
pub use write::{ImportLine, Write};

pub(super) use decide::decide;
pub(super) use vacated::vacated;

use super::author::Author;
use super::names::{BuilderName, WorkerName};
use super::time::Timestamp;

/// The number of a published state of all allocations; 0 is the empty one before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub u64);

impl Generation {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many faults the text of a refusal spells out; its list has them all.
const FAULTS_TOLD: usize = 100;

/// The longest history that one import takes, in changes.
pub const MAX_IMPORT_LINES: usize = 100_000;

/// Builder → its dedicated workers.
pub type Builders = BTreeMap<BuilderName, Vec<WorkerName>>;

/// What can be asked of the allocator.
#[derive(Debug, Clone)]
pub enum Command {
    /// One write, which becomes one generation.
    Write(WriteCommand),
    /// A history that has already happened: a generation a line, broken rules reported and not refused.
    Import { lines: Vec<ImportLine>, strict: bool, author: Author, reason: Option<String> },
}

/// A write and the conditions it is made under.
#[derive(Debug, Clone)]
pub struct WriteCommand {
    pub write: Write,
    pub author: Author,
    pub reason: Option<String>,
    /// The generations that the writer takes to be in force; another one refuses the write.
    pub expected: Option<Vec<Generation>>,
    /// Lifts the shrink rule, and no other.
    pub force: bool,
    /// Names that could not be parsed at the edge: they refuse the write, together with all other faults.
    pub bad_names: Vec<Fault>,
}

/// What has happened to the allocations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    GenerationMade(GenerationMade),
}

/// What a generation came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[default]
    Write,
    Rollback(Generation),
    Import,
}

impl Origin {
    fn is_write(&self) -> bool {
        *self == Self::Write
    }
}

/// One generation: the difference from the one before, and how it came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationMade {
    pub generation: Generation,
    pub time: Timestamp,
    pub author: Author,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Origin::is_write")]
    pub origin: Origin,
    /// Builders whose list is new, with the whole list: sorted, never empty.
    pub set: Builders,
    /// Builders that have no allocation any more.
    pub unset: Vec<BuilderName>,
    /// The shrink rule was lifted, so it counts from here on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// Rules that an imported generation breaks; always empty for a write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Fault>,
}

/// Why the allocations stay as they are.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    #[error(
        "the write expects generation {}, but {actual} is in force: read it again, and repeat the write if it still fits",
        list(.expected)
    )]
    Stale { expected: Vec<Generation>, actual: Generation },
    #[error("{}", list_faults(.0))]
    Faults(Vec<Fault>),
    #[error("builder {builder:?} has no allocation to delete")]
    NotAllocated { builder: BuilderName },
    #[error(transparent)]
    NotKept(#[from] NotKept),
    #[error("the history has {lines} changes, an import takes {MAX_IMPORT_LINES} at most: cut it into parts")]
    TooManyLines { lines: usize },
    #[error("line {line} (time {time}) breaks {} rule(s), and the import is strict", .faults.len())]
    Strict { line: usize, time: Timestamp, faults: Vec<Fault> },
}

fn list_faults(faults: &[Fault]) -> String {
    let mut texts: Vec<_> = faults.iter().take(FAULTS_TOLD).map(ToString::to_string).collect();
    if faults.len() > FAULTS_TOLD {
        texts.push(format!("and {} more", faults.len() - FAULTS_TOLD));
    }
    texts.join("; ")
}

fn list(generations: &[Generation]) -> String {
    if generations.is_empty() {
        return "none of this farm".to_owned();
    }
    generations.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}
