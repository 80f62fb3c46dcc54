//! What is known beside the farm and not journalled, and what a command is answered with.

use super::dispatcher::{self, Board};
use super::{Event, Farm, Timestamp};

/// Open offers, heartbeats, and all that is worked out from the farm to decide quickly.
#[derive(Debug, Clone, Default)]
pub struct Volatile {
    pub board: Board,
}

/// A command that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// What has happened, in order.
    pub events: Vec<Event>,
    pub reply: Reply,
}

/// What a command is answered with, beyond its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Reply {
    /// The events say it all.
    #[default]
    Events,
    Dispatcher(dispatcher::Reply),
}

impl Volatile {
    /// That of a farm as it was recovered: nobody is offered, and every lease is whole.
    pub fn of(farm: &Farm, now: Timestamp) -> Self {
        Self { board: Board::of(&farm.fleet, &farm.jobs, now) }
    }

    /// The same for one that decides nothing, but follows what was decided.
    pub fn follow(&mut self, farm: &Farm, event: &Event) {
        if let Event::Dispatcher(dispatcher::Event::Claimed { claims, .. }) = event {
            self.board.take_started(&farm.jobs, claims);
        }
        self.note(farm, event);
    }

    /// Notes what an event is about to change; call before it is applied.
    pub(super) fn note(&mut self, farm: &Farm, event: &Event) {
        match event {
            Event::Fleet(event) => self.board.note_fleet(&farm.fleet, event),
            Event::Allocator(event) => self.board.note_allocator(&farm.allocations, event),
            Event::Dispatcher(event) => self.board.note(&farm.fleet, &farm.jobs, event),
            Event::Access(_) => {}
        }
    }
}
