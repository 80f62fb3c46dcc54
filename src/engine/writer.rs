//! The writer thread: drain, decide, apply, append, publish, reply.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc as thread_channel;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::{mpsc, oneshot, watch};

use super::machine::{Machine, Publish};
use super::recovery::encode;
use super::replica::Work;
use super::stats::Stats;
use crate::domain::Timestamp;
use crate::ports::{Clock, Fault, Journal, Record};

/// The most commands that share one sync.
pub const MAX_BATCH: usize = 1024;

/// A command that was carried out, and is durable.
#[derive(Debug)]
pub struct Done<M: Machine> {
    pub events: Arc<[M::Event]>,
    pub reply: M::Reply,
}

type Answer<M> = Result<Done<M>, <M as Machine>::Refusal>;

pub(super) struct Request<M: Machine> {
    pub command: M::Command,
    pub reply: oneshot::Sender<Answer<M>>,
}

pub(super) struct Writer<M: Machine, P> {
    pub state: M,
    pub volatile: M::Volatile,
    /// Of the last command: time never runs backwards in a journal.
    pub now: Timestamp,
    /// When something is due, as far as the one who waits for it has to know.
    pub deadline: watch::Sender<Option<Timestamp>>,
    /// Of the last record.
    pub seq: u64,
    pub journal: Box<dyn Journal>,
    pub clock: Arc<dyn Clock>,
    pub publisher: P,
    pub replica: thread_channel::Sender<Work<M>>,
    pub stats: Arc<Stats>,
}

/// A bug of ours must not look like readiness to write.
impl<M: Machine, P> Drop for Writer<M, P> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.stats.stop_writes("the writer panicked; its last words are on stderr".to_owned());
        }
    }
}

/// Commands that are decided and wait for the same sync.
struct Batch<M: Machine> {
    records: Vec<Record>,
    events: Vec<Arc<[M::Event]>>,
    /// An answer is sent after the append, refusals too: they may rest on
    /// events of the same batch.
    replies: Vec<(oneshot::Sender<Answer<M>>, Answer<M>)>,
}

impl<M: Machine, P: Publish<M>> Writer<M, P> {
    pub(super) fn spawn(self, requests: mpsc::Receiver<Request<M>>) -> Result<JoinHandle<()>, Fault> {
        Ok(thread::Builder::new().name("writer".into()).spawn(move || self.run(requests))?)
    }

    /// Ends when every sender is gone. After an append that failed it only turns away.
    fn run(mut self, mut requests: mpsc::Receiver<Request<M>>) {
        while let Some(first) = requests.blocking_recv() {
            let mut batch = Batch { records: Vec::new(), events: Vec::new(), replies: Vec::new() };
            self.take(first, &mut batch);
            while batch.replies.len() < MAX_BATCH
                && let Ok(next) = requests.try_recv()
            {
                self.take(next, &mut batch);
            }
            if let Err(fault) = self.append(&batch) {
                tracing::error!("appending to the journal failed, writes stop until a restart: {fault:#}");
                self.stats.stop_writes(format!("{fault:#}"));
                drop(batch);
                return self.turn_away(requests);
            }
            self.publish(&batch);
            self.announce_deadline();
            for (reply, answer) in batch.replies {
                // A caller that went away does not want its answer.
                drop(reply.send(answer));
            }
        }
    }

    /// A request that is dropped tells its caller. The publisher stays, and
    /// with it the streams of those who read.
    fn turn_away(self, mut requests: mpsc::Receiver<Request<M>>) {
        while requests.blocking_recv().is_some() {}
    }

    fn take(&mut self, request: Request<M>, batch: &mut Batch<M>) {
        self.now = self.now.max(self.clock.now());
        let done = self.state.carry_out(&mut self.volatile, self.now, request.command);
        let answer = done.map(|(events, reply)| Done { events: events.into(), reply });
        if let Ok(Done { events, reply: _ }) = &answer {
            for event in events.iter() {
                self.seq += 1;
                let (body, beside) = (encode(event), M::beside(event));
                batch.records.push(Record { seq: self.seq, time: self.now, body, beside });
            }
            batch.events.push(events.clone());
        }
        batch.replies.push((request.reply, answer));
    }

    fn append(&mut self, batch: &Batch<M>) -> Result<(), Fault> {
        if batch.records.is_empty() {
            return Ok(());
        }
        let _span =
            tracing::debug_span!("append", first = batch.records[0].seq, records = batch.records.len()).entered();
        let begun = Instant::now();
        self.journal.append(&batch.records)?;
        self.stats.appended(batch.records.len(), begun.elapsed());
        self.stats.last_seq.store(self.seq, Ordering::Release);
        Ok(())
    }

    /// Whoever waits for a deadline that moves away wakes at the old one, and is told the new one then.
    fn announce_deadline(&self) {
        let next = self.state.next_deadline(&self.volatile);
        self.deadline.send_if_modified(|announced| {
            let is_sooner = announced.is_none_or(|announced| next.is_some_and(|next| next < announced));
            let is_over = announced.is_some_and(|announced| announced <= self.now);
            let changes = *announced != next && (is_sooner || is_over);
            if changes {
                *announced = next;
            }
            changes
        });
    }

    /// The replica first, so that whoever sees the new views can also ask about them.
    fn publish(&mut self, batch: &Batch<M>) {
        if batch.records.is_empty() {
            return;
        }
        let applied = Work::Applied { events: batch.events.clone(), seq: self.seq };
        if self.replica.send(applied).is_err() {
            tracing::error!("the replica has stopped; lists, deltas and snapshots are out of order until a restart");
        }
        let events: Vec<&M::Event> = batch.events.iter().flat_map(|events| events.iter()).collect();
        self.publisher.publish(&self.state, &events);
    }
}
