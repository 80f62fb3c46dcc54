//! All that is asked of the world: a journal, a place for snapshots, a history of runs, and the time.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::domain::dispatcher::{ClaimId, JobId, RunResult};
use crate::domain::{Author, BuilderName, Timestamp, WorkerName};

/// Something broke: not the caller's doing, told as a chain of causes.
pub use anyhow::Error as Fault;

/// One journalled event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// 1, 2, 3, … without a gap.
    pub seq: u64,
    pub time: Timestamp,
    /// Versioned JSON.
    pub body: String,
    /// What goes with it, in the same transaction.
    pub beside: Vec<Beside>,
}

/// Text that is too long for the state, and is kept beside the journal for as long as it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beside {
    Keep { key: u64, text: Arc<str> },
    Drop { key: u64 },
}

/// The durable, append-only list of all that has happened.
pub trait Journal: Send {
    /// Makes all records durable, or none: when it answers, they are on disk.
    /// After a fault nothing is known about them, and the journal must not be
    /// appended to again.
    fn append(&mut self, records: &[Record]) -> Result<(), Fault>;

    /// Hands out every record behind `after`, in order and without a gap; a
    /// record that is damaged or missing is a fault that names it.
    fn replay(&mut self, after: u64, each: &mut dyn FnMut(Record) -> Result<(), Fault>) -> Result<(), Fault>;

    /// The number of the last record, 0 when there is none.
    fn last_seq(&mut self) -> Result<u64, Fault>;

    /// Housekeeping that would delay an append; runs on another thread, at any time.
    fn tidier(&self) -> Result<Box<dyn FnMut() -> Result<(), Fault> + Send>, Fault>;
}

/// The journal as others read it, beside the writer and at any time.
pub trait Records: Send + Sync {
    /// The newest records before `before` (or of all), newest first, at most
    /// `limit`; fewer, but at least one, where they are large.
    fn newest(&self, before: Option<u64>, limit: usize) -> Result<Vec<Record>, Fault>;

    /// The records of this range whose bodies are wanted, oldest first, at
    /// most `limit`; one of them that is damaged is a fault that names it.
    fn wanted(
        &self,
        range: RangeInclusive<u64>,
        limit: usize,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Record>, Fault>;
}

/// The texts that are kept beside the journal, read at any time.
pub trait Payloads: Send + Sync {
    /// Those of these keys that there are.
    fn payloads(&self, keys: &[u64]) -> Result<Vec<(u64, String)>, Fault>;
}

/// Where states of the machine are kept, so that a start need not replay everything.
pub trait Snapshots: Send {
    /// Keeps one state, whole or not at all; `state` writes it, in large pieces.
    fn keep(&mut self, seq: u64, state: &mut dyn FnMut(&mut dyn Write) -> Result<(), Fault>) -> Result<(), Fault>;

    /// The records that snapshots were taken after, newest first.
    fn list(&self) -> Result<Vec<u64>, Fault>;

    /// Reads one; a damaged one is a fault.
    fn read(&self, seq: u64) -> Result<Vec<u8>, Fault>;
}

/// The time of day.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// A row of the run history: a run that has ended, or a job that was cancelled while it waited.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRun {
    /// Of the journal's record that tells of its end.
    pub seq: u64,
    pub job: JobId,
    /// `None`, like worker and start, when the job waited.
    pub claim: Option<ClaimId>,
    pub builder: BuilderName,
    pub worker: Option<WorkerName>,
    pub branch: Option<Arc<str>>,
    pub project: Option<Arc<str>>,
    pub push: Option<Arc<str>>,
    /// 1 for the first start of the job, 0 when the job waited.
    pub attempt: u32,
    pub submitted_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Timestamp,
    pub result: RunResult,
    pub warm: bool,
    /// Who said that it has ended.
    pub author: Author,
    pub reason: Option<String>,
}

/// Which rows are meant; what is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    pub job: Option<JobId>,
    pub builder: Option<BuilderName>,
    pub worker: Option<WorkerName>,
    /// Any of these.
    pub workers: Option<BTreeSet<WorkerName>>,
    pub result: Option<RunResult>,
    pub ended: Window,
}

/// From a time to before another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

/// Some rows, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPage {
    pub runs: Vec<PastRun>,
    /// Where to go on; `None` when there are no more.
    pub next_before: Option<u64>,
}

/// The history of runs: what the journal says of them, in a form that can be
/// asked. Rows are in the order of their ends.
pub trait Runs: Send + Sync {
    /// The journal's record up to which the history reaches.
    fn recorded(&self) -> Result<u64, Fault>;

    /// Adds the rows of the records behind `after` up to `to`, all or none. A
    /// fault, and nothing added, if the history does not reach exactly to `after`.
    fn append(&self, runs: &[PastRun], after: u64, to: u64) -> Result<(), Fault>;

    /// Forgets everything, so that it can be recorded anew.
    fn clear(&self) -> Result<(), Fault>;

    /// The newest rows that are meant, behind the row `before` (or of all), at
    /// most `limit`. A page may have fewer though there are more, since only so
    /// many rows are looked at for one.
    fn newest(&self, filter: &RunFilter, before: Option<u64>, limit: usize) -> Result<RunPage, Fault>;

    /// The oldest rows of this window behind the row `after` (or of all), oldest first, at most `limit`.
    fn oldest(&self, ended: Window, after: Option<&PastRun>, limit: usize) -> Result<Vec<PastRun>, Fault>;

    /// Forgets at most `limit` rows that ended before this; answers how many.
    fn prune(&self, before: Timestamp, limit: usize) -> Result<usize, Fault>;
}
