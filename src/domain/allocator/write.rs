//! A write as its author means it, and the plain difference from the generation in force that it comes down to.

use std::collections::BTreeSet;

use super::state::Allocations;
use super::{Builders, Generation, Refusal};
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// What a writer asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// These builders and no others.
    Replace(Builders),
    /// These builders get these lists, those lose theirs, all others keep theirs.
    Patch { set: Builders, unset: BTreeSet<BuilderName> },
    /// This builder loses its list; it must have one.
    Delete(BuilderName),
    /// Everything as it was in an earlier generation.
    Rollback(Generation),
}

/// One line of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportLine {
    /// When it was published; a line without a time happens now.
    pub time: Option<Timestamp>,
    pub write: Write,
}

/// A write in terms of the generation in force: every builder that it names.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Difference {
    /// New lists, as written (neither sorted nor checked).
    pub set: Builders,
    pub unset: BTreeSet<BuilderName>,
}

impl Difference {
    pub(super) fn of(write: Write, now: &Allocations) -> Result<Self, Refusal> {
        match write {
            Write::Replace(set) => {
                let unset = now.builders().map(|(name, _)| name).filter(|name| !set.contains_key(*name));
                Ok(Self { unset: unset.cloned().collect(), set })
            }
            Write::Patch { set, unset } => Ok(Self { set, unset }),
            Write::Delete(builder) if now.workers_of(&builder).is_none() => Err(Refusal::NotAllocated { builder }),
            Write::Delete(builder) => Ok(Self { set: Builders::new(), unset: BTreeSet::from([builder]) }),
            Write::Rollback(generation) => {
                let back = now.difference(now.generation(), generation)?;
                Ok(Self { set: back.set, unset: back.unset.into_iter().collect() })
            }
        }
    }

    pub(super) fn names(&self, builder: &BuilderName) -> bool {
        self.set.contains_key(builder) || self.unset.contains(builder)
    }

    /// Brings the lists into the form in which they are published: sorted,
    /// each worker once; what changes nothing is left out.
    pub(super) fn published(self, now: &Allocations) -> (Builders, Vec<BuilderName>) {
        let mut set = Builders::new();
        for (builder, mut workers) in self.set {
            workers.sort();
            workers.dedup();
            if !workers.is_empty() && now.workers_of(&builder) != Some(workers.as_slice()) {
                set.insert(builder, workers);
            }
        }
        let unset = self.unset.into_iter().filter(|builder| now.workers_of(builder).is_some()).collect();
        (set, unset)
    }

    /// Every worker whose builders may change, or that gets one.
    pub(super) fn touched<'a>(&'a self, now: &'a Allocations) -> BTreeSet<&'a WorkerName> {
        let named = self.set.keys().chain(&self.unset);
        let before = named.filter_map(|builder| now.workers_of(builder)).flatten();
        before.chain(self.set.values().flatten()).collect()
    }
}
