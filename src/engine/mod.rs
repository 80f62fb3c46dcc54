//! The single writer: commands become durable events, in order, one sync for as many as are waiting.

mod machine;
mod recovery;
mod replica;
mod stats;
#[cfg(test)]
mod tests;
pub mod views;
mod writer;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as thread_channel;
use std::thread::JoinHandle;

use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::Instrument;

pub use machine::{Machine, Publish, beside_recovered};
pub use recovery::{Recovered, decode, kind, recover};
pub use stats::{LatencyHistogram, Stats};
pub use writer::{Done, MAX_BATCH};

use crate::domain::Timestamp;
use crate::ports::{Clock, Fault, Journal, Snapshots};
use replica::Work;
use writer::Request;

/// Commands that may wait for the writer; a caller beyond them waits itself.
const QUEUE_LENGTH: usize = 4 * MAX_BATCH;

/// A running engine. Clones share it.
pub struct Engine<M: Machine> {
    commands: mpsc::Sender<Request<M>>,
    replica: thread_channel::Sender<Work<M>>,
    deadline: watch::Receiver<Option<Timestamp>>,
    stats: Arc<Stats>,
}

/// What an engine is made of.
pub struct Parts<M: Machine, P> {
    /// The state that the journal leads up to.
    pub recovered: Recovered<M>,
    pub journal: Box<dyn Journal>,
    pub snapshots: Box<dyn Snapshots>,
    pub clock: Arc<dyn Clock>,
    pub publisher: P,
    /// Records between two snapshots.
    pub snapshot_every: u64,
}

/// The engine's threads; [`Threads::stop`] ends them in order.
pub struct Threads<M: Machine> {
    writer: JoinHandle<()>,
    replica: JoinHandle<()>,
    work: thread_channel::Sender<Work<M>>,
}

/// Why a command came to nothing.
#[derive(Debug, Error)]
pub enum SubmitError<R> {
    /// The machine said no; the state is unchanged.
    #[error("{0}")]
    Refused(R),
    /// An append failed earlier, so nothing is written any more until a restart.
    #[error("writes have stopped: {why}")]
    ReadOnly { why: String },
}

impl<M: Machine> Engine<M> {
    /// Starts the writer and the replica.
    pub fn start<P: Publish<M>>(parts: Parts<M, P>) -> Result<(Self, Threads<M>), Fault> {
        let stats = Arc::new(Stats::default());
        stats.last_seq.store(parts.recovered.seq, Ordering::Release);
        let (commands, requests) = mpsc::channel(QUEUE_LENGTH);
        let (work, queue) = thread_channel::channel();

        let tidier = parts.journal.tidier()?;
        let snapshots = replica::SnapshotPlan::new(parts.snapshots, parts.snapshot_every, &parts.recovered);
        let now = parts.clock.now();
        let (state, volatile) = beside_recovered(&parts.recovered.state, now);
        let replica = replica::spawn(state, queue, snapshots, tidier, stats.clone())?;
        let (announce, deadline) = watch::channel(parts.recovered.state.next_deadline(&volatile));
        let writer = writer::Writer {
            state: parts.recovered.state,
            volatile,
            now,
            deadline: announce,
            seq: parts.recovered.seq,
            journal: parts.journal,
            clock: parts.clock,
            publisher: parts.publisher,
            replica: work.clone(),
            stats: stats.clone(),
        };
        let writer = writer.spawn(requests)?;
        let engine = Self { commands, replica: work.clone(), deadline, stats };
        Ok((engine, Threads { writer, replica, work }))
    }

    /// Has a command carried out and its events made durable; then answers with them.
    pub async fn submit(&self, command: M::Command) -> Result<Done<M>, SubmitError<M::Refusal>> {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Request { command, reply }).await.is_err() {
            return Err(self.read_only());
        }
        match answer.instrument(tracing::debug_span!("command")).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(refusal)) => Err(SubmitError::Refused(refusal)),
            Err(_) => Err(self.read_only()),
        }
    }

    fn read_only(&self) -> SubmitError<M::Refusal> {
        let why = self.stats.read_only().unwrap_or_else(|| "the server is stopping".to_owned());
        SubmitError::ReadOnly { why }
    }

    /// Runs a question on the replica, which holds all that was acknowledged before the call.
    pub async fn ask<T: Send + 'static>(&self, question: impl FnOnce(&M) -> T + Send + 'static) -> Result<T, Fault> {
        let (reply, answer) = oneshot::channel();
        let ask = Work::Ask(Box::new(move |state: &M| drop(reply.send(question(state)))));
        self.replica.send(ask).map_err(|_| anyhow::anyhow!("the replica has stopped"))?;
        answer.await.map_err(|_| anyhow::anyhow!("the replica has stopped"))
    }

    /// The same for a question about what follows from the state, too. It is asked
    /// with a volatile side that decides nothing, and that only such questions change.
    pub async fn ask_beside<T: Send + 'static>(
        &self,
        now: Timestamp,
        question: impl FnOnce(&M, &mut M::Volatile) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let (reply, answer) = oneshot::channel();
        let question = move |state: &M, volatile: &mut M::Volatile| drop(reply.send(question(state, volatile)));
        let ask = Work::AskBeside(now, Box::new(question));
        self.replica.send(ask).map_err(|_| anyhow::anyhow!("the replica has stopped"))?;
        answer.await.map_err(|_| anyhow::anyhow!("the replica has stopped"))
    }

    /// When something is due that no command brings, or sooner.
    pub fn deadline(&self) -> watch::Receiver<Option<Timestamp>> {
        self.deadline.clone()
    }

    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }
}

impl<M: Machine> Clone for Engine<M> {
    fn clone(&self) -> Self {
        Self {
            commands: self.commands.clone(),
            replica: self.replica.clone(),
            deadline: self.deadline.clone(),
            stats: self.stats.clone(),
        }
    }
}

impl<M: Machine> Threads<M> {
    /// Waits until everything submitted is answered, then takes a last
    /// snapshot. Every [`Engine`] must be dropped before.
    pub fn stop(self) -> Result<(), Fault> {
        let ended = self.writer.join();
        drop(self.work.send(Work::Stop));
        drop(self.work);
        let replica_ended = self.replica.join();
        if ended.is_err() || replica_ended.is_err() {
            anyhow::bail!("an engine thread panicked; the journal holds all that was acknowledged");
        }
        Ok(())
    }
}
