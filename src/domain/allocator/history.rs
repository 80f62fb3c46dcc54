//! Generations that are still kept: what each changed, and the list that every builder had in each.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Generation, GenerationMade};
use crate::domain::author::Author;
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// A list of workers, shared by all generations in which it is the same.
pub(super) type WorkerList = Arc<[WorkerName]>;

/// What is remembered of one generation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub generation: Generation,
    pub time: Timestamp,
    pub author: Author,
    pub reason: Option<String>,
    /// Machine assignments that it added.
    pub added: u64,
    /// Machine assignments that it took away.
    pub removed: u64,
    pub(super) changed: Vec<BuilderName>,
}

/// The list that a builder has from a generation on; `None` is no allocation.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Version {
    from: Generation,
    list: Option<WorkerList>,
}

/// The generations `first ..= last`, each of which can be asked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct History {
    first: Generation,
    /// One a generation, `first ..= last`, save that generation 0 has none.
    entries: VecDeque<Entry>,
    /// By builder, oldest first; the first may be from before `first`.
    versions: BTreeMap<BuilderName, VecDeque<Version>>,
}

impl History {
    /// The oldest generation that can be asked for.
    pub(super) fn first(&self) -> Generation {
        self.first
    }

    pub(super) fn entry(&self, generation: Generation) -> Option<&Entry> {
        let oldest = self.entries.front()?.generation.0;
        self.entries.get(usize::try_from(generation.0.checked_sub(oldest)?).ok()?)
    }

    /// Newest first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().rev()
    }

    /// The builder's list in a generation that is kept.
    pub(super) fn list_at(&self, builder: &BuilderName, generation: Generation) -> Option<&WorkerList> {
        let versions = self.versions.get(builder)?;
        let after = versions.partition_point(|version| version.from <= generation);
        versions.get(after.checked_sub(1)?)?.list.as_ref()
    }

    /// Notes a new last generation and forgets those beyond the `keep` newest.
    pub(super) fn push(
        &mut self,
        made: &GenerationMade,
        counts: Counts,
        lists: Vec<(BuilderName, Option<WorkerList>)>,
        keep: u64,
    ) {
        self.entries.push_back(Entry {
            generation: made.generation,
            time: made.time,
            author: made.author.clone(),
            reason: made.reason.clone(),
            added: counts.added,
            removed: counts.removed,
            changed: lists.iter().map(|(builder, _)| builder.clone()).collect(),
        });
        for (builder, list) in lists {
            self.versions.entry(builder).or_default().push_back(Version { from: made.generation, list });
        }
        while made.generation.0 - self.first.0 >= keep {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if self.entries.front().is_some_and(|entry| entry.generation == self.first) {
            self.entries.pop_front();
        }
        self.first = self.first.next();
        let Some(entry) = self.entries.front() else { return };
        for builder in &entry.changed {
            let Some(versions) = self.versions.get_mut(builder) else { continue };
            while versions.get(1).is_some_and(|second| second.from <= self.first) {
                versions.pop_front();
            }
            if versions.len() == 1 && versions[0].list.is_none() {
                self.versions.remove(builder);
            }
        }
    }

    /// Every builder that has a list in the last generation.
    pub(super) fn last_lists(&self) -> impl Iterator<Item = (&BuilderName, &WorkerList)> {
        self.versions.iter().filter_map(|(builder, versions)| Some((builder, versions.back()?.list.as_ref()?)))
    }
}

/// The numbers of an [`Entry`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub added: u64,
    pub removed: u64,
}
