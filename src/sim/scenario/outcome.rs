//! What came of a scenario.

use std::collections::BTreeMap;

use serde::Serialize;

use super::JobName;
use crate::domain::dispatcher::explain::Explained;
use crate::domain::{Event, Timestamp, WorkerName};

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Outcome {
    /// In the order in which they were made.
    pub assignments: Vec<Assigned>,
    /// How often it was decided what starts: one for all events of a time, or for a deadline.
    pub decisions: u64,
    /// The jobs that wait at the end, the most important first.
    pub pending: Vec<JobName>,
    /// Why those of them wait that were asked for.
    pub explain: BTreeMap<JobName, Explained>,
    /// All that happened, as it would be journalled, and what could not.
    pub events: Vec<Told>,
}

/// A job that started.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assigned {
    pub at: Timestamp,
    pub job: JobName,
    pub worker: WorkerName,
    pub attempt: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    pub at: Timestamp,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Event(Box<Event>),
    /// It was refused, or meant nothing; why.
    Ignored(String),
}
