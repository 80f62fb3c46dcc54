//! The replica thread: a second state that applies durable events only, for questions and snapshots that must not delay the writer.

use std::io::BufWriter;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as thread_channel;
use std::thread::{self, JoinHandle};

use super::machine::Machine;
use super::recovery::Recovered;
use super::stats::Stats;
use crate::domain::Timestamp;
use crate::ports::{Fault, Snapshots};

/// Records between two rounds of the journal's housekeeping.
const TIDY_EVERY: u64 = 1000;

/// A volatile side that nobody has asked for during so many events goes; the
/// next question makes another.
const FORGET_AFTER: usize = 1_000_000;

/// A question about the state and the volatile side that follows it.
type QuestionBeside<M> = Box<dyn FnOnce(&M, &mut <M as Machine>::Volatile) + Send>;

pub(super) enum Work<M: Machine> {
    Applied { events: Vec<Arc<[M::Event]>>, seq: u64 },
    Ask(Box<dyn FnOnce(&M) + Send>),
    AskBeside(Timestamp, QuestionBeside<M>),
    Stop,
}

/// When to take a snapshot, and where it goes.
pub(super) struct SnapshotPlan {
    store: Box<dyn Snapshots>,
    every: u64,
    /// The record up to which the newest snapshot reaches.
    taken: u64,
}

impl SnapshotPlan {
    pub(super) fn new<M: Machine>(store: Box<dyn Snapshots>, every: u64, recovered: &Recovered<M>) -> Self {
        Self { store, every, taken: recovered.snapshot }
    }
}

type Tidier = Box<dyn FnMut() -> Result<(), Fault> + Send>;

pub(super) fn spawn<M: Machine>(
    state: M,
    queue: thread_channel::Receiver<Work<M>>,
    plan: SnapshotPlan,
    tidier: Tidier,
    stats: Arc<Stats>,
) -> Result<JoinHandle<()>, Fault> {
    let seq = stats.last_seq.load(Ordering::Acquire);
    let replica = Replica { state, beside: None, seq, tidied: seq, plan, tidier, stats };
    Ok(thread::Builder::new().name("replica".into()).spawn(move || replica.run(queue))?)
}

struct Replica<M: Machine> {
    state: M,
    beside: Option<Beside<M>>,
    /// Of the last record applied.
    seq: u64,
    /// Of the last record before the last housekeeping.
    tidied: u64,
    plan: SnapshotPlan,
    tidier: Tidier,
    stats: Arc<Stats>,
}

/// A volatile side that follows the state. It takes memory and long to make, so it is made for the first who asks.
struct Beside<M: Machine> {
    volatile: M::Volatile,
    /// Events since the last question.
    noted: usize,
}

impl<M: Machine> Replica<M> {
    fn run(mut self, queue: thread_channel::Receiver<Work<M>>) {
        while let Ok(work) = queue.recv() {
            let mut next = Some(work);
            // Whatever has piled up comes before a snapshot, which takes long.
            while let Some(work) = next {
                match work {
                    Work::Applied { events, seq } => self.apply(&events, seq),
                    Work::Ask(question) => self.answer(question),
                    Work::AskBeside(now, question) => self.answer_beside(now, question),
                    Work::Stop => return self.snapshot_if_older_than(1),
                }
                next = queue.try_recv().ok();
            }
            self.snapshot_if_older_than(self.plan.every);
        }
    }

    /// A question that panics costs its asker the answer, and nobody else anything.
    fn answer(&self, question: Box<dyn FnOnce(&M) + Send>) {
        if panic::catch_unwind(AssertUnwindSafe(|| question(&self.state))).is_err() {
            tracing::error!("a question to the replica panicked; its last words are on stderr");
        }
    }

    fn answer_beside(&mut self, now: Timestamp, question: QuestionBeside<M>) {
        let kept = self.beside.take();
        let mut volatile = kept.map_or_else(|| self.state.volatile(now), |beside| beside.volatile);
        match panic::catch_unwind(AssertUnwindSafe(|| question(&self.state, &mut volatile))) {
            Ok(()) => self.beside = Some(Beside { volatile, noted: 0 }),
            Err(_) => tracing::error!("a question to the replica panicked; its last words are on stderr"),
        }
    }

    fn apply(&mut self, events: &[Arc<[M::Event]>], seq: u64) {
        self.beside.take_if(|beside| beside.noted > FORGET_AFTER);
        for event in events.iter().flat_map(|events| events.iter()) {
            if let Some(Beside { volatile, noted }) = &mut self.beside {
                self.state.follow(volatile, event);
                *noted += 1;
            }
            self.state.apply(event);
        }
        self.seq = seq;
        if self.seq - self.tidied >= TIDY_EVERY {
            self.tidied = self.seq;
            if let Err(fault) = (self.tidier)() {
                tracing::warn!("the journal's housekeeping failed: {fault:#}");
            }
        }
    }

    /// A snapshot that fails is only logged: the journal has everything.
    fn snapshot_if_older_than(&mut self, records: u64) {
        if self.seq - self.plan.taken < records {
            return;
        }
        // Also after a failure: the next try comes with the next snapshot.
        self.plan.taken = self.seq;
        let state = &self.state;
        let kept = self.plan.store.keep(self.seq, &mut |to| {
            let mut to = BufWriter::with_capacity(1 << 16, to);
            serde_json::to_writer(&mut to, state)?;
            Ok(std::io::Write::flush(&mut to)?)
        });
        match kept {
            Ok(()) => {
                self.stats.last_snapshot.store(self.seq, Ordering::Release);
                tracing::info!(seq = self.seq, "took a snapshot");
            }
            Err(fault) => tracing::warn!("taking a snapshot at record {} failed: {fault:#}", self.seq),
        }
    }
}
