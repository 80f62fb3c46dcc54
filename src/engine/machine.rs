//! What the engine makes durable: any deterministic state machine. Ours is the farm; a benchmark may bring another.

use std::fmt::{Debug, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::dispatcher::{self, Next};
use crate::domain::{Command, Done, Event, Farm, Refusal, Reply, Timestamp, Volatile};
use crate::ports::Beside;

/// A state that only events change, and that decides them from commands.
pub trait Machine: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    type Command: Send + 'static;
    type Event: Serialize + DeserializeOwned + Send + Sync + 'static;
    type Refusal: Debug + Display + Send + 'static;
    /// What the writer knows beside the state, and loses with the process.
    type Volatile: Send + 'static;
    /// What a command is answered with, beyond its events.
    type Reply: Send + 'static;

    /// The volatile side of a state that was recovered.
    fn volatile(&self, now: Timestamp) -> Self::Volatile;

    /// Decides a command and applies its events, which are to be made durable.
    /// Pure: the same state, volatile side, time and command give the same.
    fn carry_out(&mut self, volatile: &mut Self::Volatile, now: Timestamp, command: Self::Command) -> Outcome<Self>;

    /// Cannot fail.
    fn apply(&mut self, event: &Self::Event);

    /// Notes in a volatile side that decides nothing what an event is about to change.
    fn follow(&self, _volatile: &mut Self::Volatile, _event: &Self::Event) {}

    /// When something is due that no command brings.
    fn next_deadline(&self, _volatile: &Self::Volatile) -> Option<Timestamp> {
        None
    }

    /// What an event has to be kept with, outside the state.
    fn beside(_event: &Self::Event) -> Vec<Beside> {
        Vec::new()
    }
}

/// What a command comes to: its events, in order, and its reply.
pub type Outcome<M> = Result<(Vec<<M as Machine>::Event>, <M as Machine>::Reply), <M as Machine>::Refusal>;

/// What stands beside a recovered state: a copy for the replica, and the volatile
/// side. Made at the same time, since each takes long for a million jobs.
pub fn beside_recovered<M: Machine>(state: &M, now: Timestamp) -> (M, M::Volatile) {
    std::thread::scope(|scope| {
        let replica = scope.spawn(|| state.clone());
        let volatile = state.volatile(now);
        (replica.join().expect("a copy is no work that fails"), volatile)
    })
}

/// Told of every batch once it is durable and before anybody is answered.
pub trait Publish<M: Machine>: Send + 'static {
    /// `state` has all the events applied.
    fn publish(&mut self, state: &M, events: &[&M::Event]);
}

/// Several are told one after the other.
impl<M: Machine, A: Publish<M>, B: Publish<M>, C: Publish<M>> Publish<M> for (A, B, C) {
    fn publish(&mut self, state: &M, events: &[&M::Event]) {
        self.0.publish(state, events);
        self.1.publish(state, events);
        self.2.publish(state, events);
    }
}

impl Machine for Farm {
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;
    type Volatile = Volatile;
    type Reply = Reply;

    fn volatile(&self, now: Timestamp) -> Volatile {
        Volatile::of(self, now)
    }

    fn carry_out(&mut self, volatile: &mut Volatile, now: Timestamp, command: Command) -> Outcome<Self> {
        let Done { events, reply } = Farm::carry_out(self, volatile, now, command)?;
        Ok((events, reply))
    }

    fn apply(&mut self, event: &Event) {
        Farm::apply(self, event);
    }

    fn follow(&self, volatile: &mut Volatile, event: &Event) {
        volatile.follow(self, event);
    }

    fn next_deadline(&self, volatile: &Volatile) -> Option<Timestamp> {
        Farm::next_deadline(self, volatile)
    }

    /// Payloads, from the job's submission to its end.
    fn beside(event: &Event) -> Vec<Beside> {
        let Event::Dispatcher(event) = event else { return Vec::new() };
        match event {
            dispatcher::Event::Submitted { jobs, .. } => {
                let payloads = jobs.iter().filter_map(|submitted| Some((submitted.id, submitted.payload.clone()?)));
                payloads.map(|(id, text)| Beside::Keep { key: id.0, text }).collect()
            }
            dispatcher::Event::Cancelled { job, .. } => vec![Beside::Drop { key: job.0 }],
            dispatcher::Event::RunEnded(run) => match run.next {
                Next::Ended | Next::GivenUp => vec![Beside::Drop { key: run.job.0 }],
                Next::Waits => Vec::new(),
            },
            dispatcher::Event::Claimed { .. }
            | dispatcher::Event::Remembered { .. }
            | dispatcher::Event::Quarantined { .. }
            | dispatcher::Event::Released { .. } => Vec::new(),
        }
    }
}
