//! The batches that are recorded, and one run of a scheduler that replays from them.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::log::{BadScore, Log, PushId};
use super::replay::{Decision, Found, Mark, Reason, Replay};
use super::strategy::Strategy;

/// A recorded batch, in the keys of the state file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    #[serde(rename = "pushlog_id")]
    pub id: PushId,
    /// Unix seconds; never before the date of an earlier push, so that every replay from here ages alike.
    #[serde(rename = "pushdate")]
    pub at: i64,
    pub head_rev: String,
}

/// How much a run looks at, and how much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Pushes since the last recorded batch; more are a cold start.
    pub max_replayed: usize,
    /// Batches.
    pub max_recorded: usize,
}

/// The newest batches of a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History(BTreeMap<PushId, Batch>);

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub decision: Decision,
    /// The batches to record, from old to new; the decided push may be the last of them.
    pub batches: Vec<Found>,
}

impl History {
    pub fn batches(&self) -> impl ExactSizeIterator<Item = &Batch> {
        self.0.values()
    }

    pub fn has(&self, id: PushId) -> bool {
        self.0.contains_key(&id)
    }

    /// Decides on the push at a place of the log.
    ///
    /// # Errors
    /// A score that the replay needs, and that is missing or no risk: nothing
    /// is decided, and the next run looks at the push again.
    pub fn run(&self, strategy: &Strategy, log: &Log, place: usize, limits: Limits) -> Result<Run, BadScore> {
        let id = log.entries[place].id;
        if !strategy.has_state() {
            return replayed(strategy, log, Mark { id, at: log.entries[place].at }, place..place + 1);
        }
        let Some((_, batch)) = self.0.range(..id).next_back() else {
            return if self.0.is_empty() {
                cold_start(strategy, log, place)
            } else if self.has(id) {
                Ok(Run::undone(Decision::alone(place, true, Reason::Recorded)))
            } else {
                Ok(Run::undone(Decision::alone(place, false, Reason::Stale)))
            };
        };
        let first = log.place_after(batch.id);
        if place - first < limits.max_replayed || strategy.beside.is_current(log, place, batch.id) {
            replayed(strategy, log, Mark { id: batch.id, at: batch.at }, first..place + 1)
        } else {
            cold_start(strategy, log, place)
        }
    }

    /// Adds batches that are not there yet, and keeps the newest.
    pub fn record(&mut self, batches: impl IntoIterator<Item = Batch>, limits: Limits) {
        for batch in batches {
            self.0.entry(batch.id).or_insert(batch);
        }
        while self.0.len() > limits.max_recorded {
            self.0.pop_first();
        }
    }
}

impl FromIterator<Batch> for History {
    fn from_iter<T: IntoIterator<Item = Batch>>(batches: T) -> Self {
        Self(batches.into_iter().map(|batch| (batch.id, batch)).collect())
    }
}

impl Run {
    /// Nothing is to be recorded.
    fn undone(decision: Decision) -> Self {
        Self { decision, batches: Vec::new() }
    }
}

fn replayed(strategy: &Strategy, log: &Log, from: Mark, places: Range<usize>) -> Result<Run, BadScore> {
    let decided = places.end - 1;
    let Replay { batches, decisions } = strategy.decisions(log, from, places, decided)?;
    let decision = *decisions.last().expect("a run replays its push at least");
    Ok(Run { decision, batches: batches.into_iter().filter(|found| found.starts_over).collect() })
}

/// Nothing before the push is known, or too little: it is a batch, unless there is an anchor to replay from.
fn cold_start(strategy: &Strategy, log: &Log, place: usize) -> Result<Run, BadScore> {
    let Some(anchor) = strategy.beside.newest_anchor(log, place) else {
        let decision = Decision::cold(log, place);
        let batches = if decision.batched { vec![Found::first(log, place)] } else { Vec::new() };
        return Ok(Run { decision, batches });
    };
    let first = Found::first(log, anchor);
    if anchor == place {
        return Ok(Run { decision: Decision::alone(place, true, Reason::Anchor), batches: vec![first] });
    }
    let from = Mark { id: log.entries[anchor].id, at: first.at };
    let mut run = replayed(strategy, log, from, anchor + 1..place + 1)?;
    run.batches.insert(0, first);
    Ok(run)
}
