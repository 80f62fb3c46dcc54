//! Workers that break their jobs: several exceptions in a row take one out of work for a while, each time for longer.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::run::RunResult;
use crate::domain::fleet::Options;
use crate::domain::names::WorkerName;
use crate::domain::time::Timestamp;

const FIRST_QUARANTINE: Duration = Duration::from_secs(10);
const LONGEST_QUARANTINE: Duration = Duration::from_secs(3_600);

/// What a worker's last runs say about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Exceptions since a run last ended by itself.
    pub exceptions: u32,
    /// Quarantines since then.
    pub quarantines: u32,
    /// The end of the quarantine that it is in.
    pub until: Option<Timestamp>,
}

/// The workers that have broken something lately; all others are well.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Health {
    records: BTreeMap<WorkerName, Record>,
}

impl Health {
    pub fn of(&self, worker: &WorkerName) -> Record {
        self.records.get(worker).copied().unwrap_or_default()
    }

    /// The worker gets no job before this.
    pub fn quarantined_until(&self, worker: &WorkerName) -> Option<Timestamp> {
        self.records.get(worker)?.until
    }

    /// All that are in quarantine, by name.
    pub fn quarantined(&self) -> impl Iterator<Item = (&WorkerName, Timestamp)> {
        self.records.iter().filter_map(|(worker, record)| Some((worker, record.until?)))
    }

    /// The quarantine that one more exception now would mean.
    pub fn after_exception(&self, worker: &WorkerName, now: Timestamp, options: &Options) -> Option<Record> {
        let Record { exceptions, quarantines, until: _ } = self.of(worker);
        if exceptions + 1 < options.quarantine_after() {
            return None;
        }
        let span = FIRST_QUARANTINE.saturating_mul(1 << quarantines.min(16)).min(LONGEST_QUARANTINE);
        Some(Record { exceptions: exceptions + 1, quarantines: quarantines + 1, until: Some(now.after(span)) })
    }

    /// Takes over what is known of a worker.
    pub(super) fn take(&mut self, worker: &WorkerName, from: &Self) {
        self.records.extend(from.records.get(worker).map(|record| (worker.clone(), *record)));
    }

    pub(super) fn ran(&mut self, worker: &WorkerName, result: RunResult) {
        match result {
            RunResult::Exception => self.records.entry(worker.clone()).or_default().exceptions += 1,
            RunResult::Success | RunResult::Failure => drop(self.records.remove(worker)),
            // They say nothing about the machine.
            RunResult::Retry | RunResult::Cancelled | RunResult::Lost | RunResult::Requeued => {}
        }
    }

    pub(super) fn quarantine(&mut self, worker: &WorkerName, record: Record) {
        self.records.insert(worker.clone(), record);
    }

    pub(super) fn release(&mut self, worker: &WorkerName) {
        if let Some(record) = self.records.get_mut(worker) {
            record.until = None;
        }
    }

    pub(super) fn forget(&mut self, worker: &WorkerName) {
        self.records.remove(worker);
    }
}
