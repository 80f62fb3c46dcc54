//! The server's answers, as far as commands look into them.

use serde::Deserialize;

use crate::domain::allocator::{Builders, Fault, Generation};
use crate::domain::{BuilderName, Timestamp, WorkerName};

/// `GET /v1/builders/<name>`
#[derive(Debug, Deserialize)]
pub(super) struct Machines {
    pub machines: Vec<WorkerName>,
}

/// `GET /v1/machines/<name>`
#[derive(Debug, Deserialize)]
pub(super) struct BuilderNames {
    pub builders: Vec<BuilderName>,
}

/// `GET /v1/allocations`
#[derive(Debug, Deserialize)]
pub(super) struct Blob {
    pub generation: Generation,
    pub builders: Builders,
}

/// `GET /v1/allocations?since=…`
#[derive(Debug, Deserialize)]
pub(super) struct Delta {
    /// The generation that the delta leads to.
    pub generation: Generation,
    pub set: Builders,
    pub unset: Vec<BuilderName>,
}

/// `GET /v1/allocations/history`
#[derive(Debug, Deserialize)]
pub(super) struct History {
    /// Newest first.
    pub generations: Vec<HistoryEntry>,
    /// What `before` is on the next page.
    pub next_before: Option<Generation>,
}

#[derive(Debug, Deserialize)]
pub(super) struct HistoryEntry {
    pub generation: Generation,
    pub time: Timestamp,
    pub author: String,
    pub reason: Option<String>,
    /// Machine assignments.
    pub added: u64,
    pub removed: u64,
}

/// `POST /v1/allocations/import`
#[derive(Debug, Deserialize)]
pub(super) struct Imported {
    /// `None` when no generation was made.
    pub first: Option<Generation>,
    pub last: Generation,
    pub imported: u64,
    pub broken: Vec<Broken>,
}

/// A rule that an imported change breaks.
#[derive(Debug, Deserialize)]
pub(super) struct Broken {
    /// Counted from 1, blank lines not counted.
    pub line: u64,
    pub time: Timestamp,
    #[serde(flatten)]
    pub fault: Fault,
}
