//! The server's answers, as far as commands look into them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::difference::Difference;
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Blob {
    pub epoch: String,
    pub generation: Generation,
    pub builders: Builders,
}

impl Blob {
    /// What `If-Match` calls this state.
    pub(super) fn tag(&self) -> String {
        format!("\"{}-{}\"", self.epoch, self.generation)
    }

    /// The whole blob as the server writes it.
    pub(super) fn encode(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Whole<'a> {
            epoch: &'a str,
            generation: Generation,
            builders: &'a Builders,
            machines: BTreeMap<&'a WorkerName, Vec<&'a BuilderName>>,
        }
        let mut machines = BTreeMap::<_, Vec<_>>::new();
        for (builder, list) in &self.builders {
            for machine in list {
                machines.entry(machine).or_default().push(builder);
            }
        }
        let Self { epoch, generation, builders } = self;
        serde_json::to_vec(&Whole { epoch, generation: *generation, builders, machines })
            .expect("names and numbers are always JSON")
    }
}

/// `GET /v1/allocations?since=…`, and what writes answer
#[derive(Debug, Deserialize)]
pub(super) struct Delta {
    /// The generation that the delta leads to.
    pub generation: Generation,
    #[serde(flatten)]
    pub difference: Difference,
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
