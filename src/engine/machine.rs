//! What the engine makes durable: any deterministic state machine. Ours is the farm; a benchmark may bring another.

use std::fmt::{Debug, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::{Command, Event, Farm, Refusal, Timestamp};

/// A state that only events change, and that decides them from commands.
pub trait Machine: Clone + Default + Serialize + DeserializeOwned + Send + 'static {
    type Command: Send + 'static;
    type Event: Serialize + DeserializeOwned + Send + Sync + 'static;
    type Refusal: Debug + Display + Send + 'static;

    /// Pure: the same state, time and command give the same events.
    fn decide(&self, now: Timestamp, command: Self::Command) -> Result<Vec<Self::Event>, Self::Refusal>;

    /// Cannot fail.
    fn apply(&mut self, event: &Self::Event);
}

/// Told of every batch once it is durable and before anybody is answered.
pub trait Publish<M: Machine>: Send + 'static {
    /// `state` has all the events applied.
    fn publish(&mut self, state: &M, events: &[&M::Event]);
}

impl Machine for Farm {
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    fn decide(&self, now: Timestamp, command: Command) -> Result<Vec<Event>, Refusal> {
        Farm::decide(self, now, command)
    }

    fn apply(&mut self, event: &Event) {
        Farm::apply(self, event);
    }
}
