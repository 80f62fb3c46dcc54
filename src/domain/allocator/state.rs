//! The allocations in force, by builder and by worker, and their difference from any kept generation.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::history::{Counts, Entry, History, WorkerList};
use super::peaks::Peaks;
use super::{Builders, Event, Generation, GenerationMade};
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// Who may run what. Every view of it is of one generation.
///
/// Stored without its indexes, which follow from the history.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct Allocations {
    generation: Generation,
    /// Sorted, never empty.
    builders: BTreeMap<BuilderName, WorkerList>,
    /// Sorted, never empty.
    workers: BTreeMap<WorkerName, Vec<BuilderName>>,
    history: History,
    peaks: Peaks,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    generation: Generation,
    history: History,
    peaks: Peaks,
}

/// What turns one generation into another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delta {
    pub set: Builders,
    pub unset: Vec<BuilderName>,
}

/// A generation that cannot be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("generation {asked} is not kept: the oldest is {first}, the newest {last}")]
pub struct NotKept {
    pub asked: Generation,
    pub first: Generation,
    pub last: Generation,
}

impl Allocations {
    /// These lists and nothing else, to try things on.
    pub(in crate::domain) fn sketch(lists: &BTreeMap<BuilderName, WorkerList>) -> Self {
        let mut allocations = Self::default();
        lists.iter().for_each(|(builder, list)| allocations.link(builder, list));
        allocations
    }

    /// The generation in force.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The dedicated workers of a builder: sorted, never empty; `None` without an allocation.
    pub fn workers_of(&self, builder: &BuilderName) -> Option<&[WorkerName]> {
        self.builders.get(builder).map(AsRef::as_ref)
    }

    /// The same list, shared and not copied.
    pub(in crate::domain) fn shared_workers_of(&self, builder: &BuilderName) -> Option<&WorkerList> {
        self.builders.get(builder)
    }

    /// The builders of a worker: sorted, never empty; `None` when no builder has it.
    pub fn builders_of(&self, worker: &WorkerName) -> Option<&[BuilderName]> {
        self.workers.get(worker).map(Vec::as_slice)
    }

    /// All builders with an allocation, sorted.
    pub fn builders(&self) -> impl ExactSizeIterator<Item = (&BuilderName, &[WorkerName])> {
        self.builders.iter().map(|(builder, list)| (builder, list.as_ref()))
    }

    /// All allocated workers, sorted.
    pub fn workers(&self) -> impl ExactSizeIterator<Item = (&WorkerName, &[BuilderName])> {
        self.workers.iter().map(|(worker, builders)| (worker, builders.as_slice()))
    }

    /// What a shrink at this moment is measured against: the most distinct
    /// workers that were allocated at once within the hour before it, or since
    /// the last forced write if that was later.
    pub(super) fn most_workers_since_an_hour_before(&self, now: Timestamp) -> u64 {
        self.peaks.most(now)
    }

    /// The oldest generation that can still be asked for.
    pub fn first_kept(&self) -> Generation {
        self.history.first()
    }

    /// Kept generations, newest first; generation 0 made no entry.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.history.entries()
    }

    /// What changed from generation `from` to generation `to`, which may be the older one.
    pub fn difference(&self, from: Generation, to: Generation) -> Result<Delta, NotKept> {
        self.check_kept(from)?;
        self.check_kept(to)?;
        let (older, newer) = (from.min(to), from.max(to));
        let between = (older.0 + 1..=newer.0).filter_map(|at| self.history.entry(Generation(at)));
        let changed: BTreeSet<&BuilderName> = between.flat_map(|entry| &entry.changed).collect();
        let mut delta = Delta::default();
        for builder in changed {
            let (was, becomes) = (self.history.list_at(builder, from), self.history.list_at(builder, to));
            if was == becomes {
                continue;
            }
            match becomes {
                Some(list) => drop(delta.set.insert(builder.clone(), list.to_vec())),
                None => delta.unset.push(builder.clone()),
            }
        }
        Ok(delta)
    }

    fn check_kept(&self, asked: Generation) -> Result<(), NotKept> {
        let (first, last) = (self.history.first(), self.generation);
        if (first..=last).contains(&asked) { Ok(()) } else { Err(NotKept { asked, first, last }) }
    }

    /// `keep`: how many generations stay available, at least 1.
    pub(in crate::domain) fn apply(&mut self, event: &Event, keep: u64) {
        match event {
            Event::GenerationMade(made) => self.make(made, keep),
        }
    }

    fn make(&mut self, made: &GenerationMade, keep: u64) {
        let (mut added, mut removed) = (0, 0);
        let mut lists: Vec<_> = made.unset.iter().map(|builder| (builder.clone(), None)).collect();
        lists.extend(made.set.iter().map(|(builder, workers)| (builder.clone(), Some(self.shared(workers)))));
        for (builder, _) in &lists {
            removed += self.unlink(builder);
        }
        for (builder, list) in &lists {
            let Some(list) = list else { continue };
            added += list.len() as u64;
            self.link(builder, list);
        }
        // A worker that stays with its builder was counted both ways.
        let kept = self.kept(&lists);
        self.generation = made.generation;
        self.peaks.push(made, self.workers.len() as u64);
        self.history.push(made, Counts { added: added - kept, removed: removed - kept }, lists, keep);
    }

    /// How many assignments the new lists share with those of the generation still in force.
    fn kept(&self, lists: &[(BuilderName, Option<WorkerList>)]) -> u64 {
        let shared = |(builder, list): &(BuilderName, Option<WorkerList>)| {
            let (Some(list), Some(was)) = (list, self.history.list_at(builder, self.generation)) else { return 0 };
            list.iter().filter(|worker| was.binary_search(worker).is_ok()).count() as u64
        };
        lists.iter().map(shared).sum()
    }

    /// Takes a builder out of both indexes; answers how many workers it had.
    fn unlink(&mut self, builder: &BuilderName) -> u64 {
        let Some(list) = self.builders.remove(builder) else { return 0 };
        for worker in list.iter() {
            if let Some(builders) = self.workers.get_mut(worker) {
                builders.retain(|other| other != builder);
                if builders.is_empty() {
                    self.workers.remove(worker);
                }
            }
        }
        list.len() as u64
    }

    /// A list whose names are those of the index where it has them, so that
    /// ten thousand generations do not hold ten thousand copies of each.
    fn shared(&self, workers: &[WorkerName]) -> WorkerList {
        let known = |worker| self.workers.get_key_value(worker).map(|(known, _)| known.clone());
        workers.iter().map(|worker| known(worker).unwrap_or_else(|| worker.clone())).collect()
    }

    /// Puts a builder into both indexes.
    fn link(&mut self, builder: &BuilderName, list: &WorkerList) {
        for worker in list.iter() {
            let builders = self.workers.entry(worker.clone()).or_default();
            if let Err(at) = builders.binary_search(builder) {
                builders.insert(at, builder.clone());
            }
        }
        self.builders.insert(builder.clone(), list.clone());
    }
}

impl From<Saved> for Allocations {
    fn from(saved: Saved) -> Self {
        let mut allocations = Self { generation: saved.generation, ..Self::default() };
        for (builder, list) in saved.history.last_lists() {
            allocations.link(builder, list);
        }
        allocations.history = saved.history;
        allocations.peaks = saved.peaks;
        allocations
    }
}

impl From<Allocations> for Saved {
    fn from(allocations: Allocations) -> Self {
        Self { generation: allocations.generation, history: allocations.history, peaks: allocations.peaks }
    }
}
