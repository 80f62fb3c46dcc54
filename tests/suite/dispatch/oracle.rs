//! A second player of scenarios, to hold the real one against: written from the specification alone, by brute force.
//!
//! It shares no code with the crate. What the specification leaves open it
//! reads as a release engineer would expect it:
//!
//! - Everything that is due or happens at one moment is one decision: first
//!   the deadlines, then the events in the order of the file. So a service
//!   that ends at 60 frees its worker for a job submitted at 60, and a report
//!   at the very moment when the lease ends is too late.
//! - A worker that runs a job and is named idle runs it no more: the job is
//!   put back as if its lease had ended.
//! - A lost worker reports nothing by itself: its job's `service` ends no
//!   more. A `finish` before the end of the lease still counts. Lost a second
//!   time, its lease ends one lease after that. A lost worker without a job is
//!   no longer idle.
//! - A drained worker finishes its job, and then takes no other, also when it
//!   is named idle again.
//! - A call's wait ends as a deadline: a job of that moment comes too late, and
//!   a wait of 0 s sees the one decision of its own moment. An answer of fewer
//!   claims than `max` is one too: all of the call's workers are idle no more.
//! - A worker that is offered again, by an event or by its `finish`, leaves its
//!   older call, which keeps the others, its limit and its wait, even when it
//!   has no worker left. A lost or a removed worker leaves it alike; a drained
//!   or quarantined one stays in it.
//! - A call that names no worker, one twice or one that is not there, or that
//!   wants no claim, is refused as a whole.
//! - A removed worker is gone: named idle, it stays unknown. Its claim ends as
//!   cancelled; its job is put back, even after its last attempt, since it did
//!   nothing wrong. What it reports at the moment of its removal still counts.
//!   Its name stays in the allocation, which holds its builder's jobs when no
//!   other worker is left.
//! - A cancelled job that runs ends at once. Its worker is still busy with it:
//!   it is idle when it is named idle, and its `finish` counts for nothing.
//! - Success and failure end a row of exceptions; nothing else says that the
//!   worker is well. The third exception in a row quarantines the worker for
//!   10 s, the fourth for 20 s, and so on. A quarantined worker that is idle
//!   takes a job when its quarantine ends. A quarantine outlives its worker, so
//!   that it is not escaped by coming back: its end is a deadline all the same.
//! - Success makes a worker warm for a builder at the moment it is reported.
//! - What is lent is not in the worker set: in-house workers that are lent let no
//!   job wait for them, though one that waits may use them. Drained workers let
//!   it wait, as all that are registered.
//! - A worker's rest goes on whoever it is dedicated to, and whether it is drained,
//!   lost or offered; what ran before the scenario is no run of it.
//! - Jobs without a project are all of one. A project's running jobs count
//!   whatever their pool, class and priority.
//! - Where builders allow different numbers of exceptions, the first quarantine
//!   of a row is the short one all the same.
//! - An allocation goes with its last worker even if the same moment brings a
//!   new one, which then counts.
//! - Ids are counted up: among equal jobs the one submitted first goes first.

use serde_json::Value;

use super::moment::Moment;
use super::outcome::{Outcome, micros};
use super::world::World;

/// What must come of the scenario.
pub fn play(scenario: &Value) -> Outcome {
    play_by(scenario, |moment| moment.decide())
}

/// What would come of it by another rule, which says for each waiting job the idle worker that it starts on.
pub fn play_by(scenario: &Value, mut rule: impl FnMut(&Moment<'_>) -> Vec<Option<usize>>) -> Outcome {
    let mut world = World::new(scenario);
    let mut events: Vec<&Value> = scenario["events"].as_array().unwrap().iter().collect();
    events.sort_by_key(|event| micros(&event["at"]));
    let mut events = events.into_iter().peekable();
    let until = micros(&scenario["until"]);
    let mut assignments = Vec::new();
    let mut decisions = 0;
    loop {
        let next_event = events.peek().map(|event| micros(&event["at"]));
        let next = next_event.into_iter().chain(world.deadlines()).min();
        let Some(now) = next.filter(|next| *next <= until) else { break };
        world.pass_deadlines(now);
        while let Some(event) = events.next_if(|event| micros(&event["at"]) == now) {
            world.happen(event);
        }
        world.clear();
        assignments.extend(world.start_by(&mut rule));
        decisions += 1;
    }
    let pending = world.moment().waiting.into_iter().map(|waiting| waiting.job.id.clone()).collect();
    Outcome::new(assignments, pending, decisions)
}
