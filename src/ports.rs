//! All that the engine asks of the world: a journal, a place for snapshots, and the time.

use std::io::Write;
use std::sync::Arc;

use crate::domain::Timestamp;

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
