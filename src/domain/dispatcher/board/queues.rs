//! Pending jobs: a line for each builder, and a queue for all lines whose jobs may use the same workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slab::Slab;

use super::crowd::GroupId;
use super::shares::{Place, Shares};
use crate::domain::dispatcher::key::Key;
use crate::domain::fleet::{Attributes, WorkerClass};
use crate::domain::names::{PoolName, WorkerName};
use crate::domain::table::Table;

pub type QueueId = usize;

/// The pending jobs of one builder that are in the same stage of waiting, and
/// of the same project where workers are shared out among projects.
#[derive(Debug, Clone)]
pub struct Line {
    /// The index of the builder.
    pub builder: usize,
    pub stage: usize,
    pub project: Option<Arc<str>>,
    jobs: BTreeSet<Key>,
    /// `None` until the board is settled.
    pub queue: Option<QueueId>,
}

impl Line {
    pub fn new(builder: usize, stage: usize, project: Option<Arc<str>>) -> Self {
        Self { builder, stage, project, jobs: BTreeSet::new(), queue: None }
    }

    /// Lets these jobs wait in a line that is in no queue yet, and has none.
    pub fn fill(&mut self, keys: Vec<Key>) {
        self.jobs = keys.into_iter().collect();
    }

    /// From the most important one.
    pub fn jobs(&self) -> impl Iterator<Item = Key> {
        self.jobs.iter().copied()
    }

    pub fn holds(&self, key: &Key) -> bool {
        self.jobs.contains(key)
    }
}

/// Which workers a job may use, and when. Jobs that agree in this are one queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Eligibility {
    pub pool: PoolName,
    /// Attributes that a worker must have.
    pub requires: BTreeMap<String, String>,
    /// The builder's own workers; without an allocation those of the pool that no builder has.
    pub dedicated: Option<Arc<[WorkerName]>>,
    /// Besides its own, the builder may use workers that no builder has.
    pub overflows: bool,
    /// No worker of another class, for now.
    pub only: Option<WorkerClass>,
    /// So many more jobs like it must find a worker, too.
    pub reserve: u32,
}

impl Eligibility {
    /// Its jobs may use workers that no builder has.
    pub fn uses_common(&self) -> bool {
        self.dedicated.is_none() || self.overflows
    }

    /// Its jobs may use workers of this kind, if these are in its worker set.
    pub fn takes(&self, class: WorkerClass, attributes: &Attributes) -> bool {
        self.only.is_none_or(|only| only == class)
            && self.requires.iter().all(|(key, value)| attributes.get(key) == Some(value))
    }
}

/// Jobs of equal eligibility: only the most important one can be next.
#[derive(Debug, Clone)]
pub struct Queue {
    pub eligibility: Eligibility,
    /// The first job of every line that has one, with the line's index.
    heads: BTreeSet<(Key, usize)>,
    /// The groups whose workers its jobs may use.
    pub groups: Vec<GroupId>,
    lines: usize,
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The most important job, with the index of its line.
    pub fn head(&self, lines: &[Line], shares: &Shares) -> Option<(Place, usize)> {
        let first = self.heads.first()?;
        let place = |(key, at): &(Key, usize)| (shares.place(*key, lines[*at].project.as_ref()), *at);
        if !shares.is_on() {
            return Some(place(first));
        }
        self.heads.iter().take_while(|(key, _)| key.is_level_with(first.0)).map(place).min()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Queues {
    all: Slab<Queue>,
    by_eligibility: Table<Eligibility, QueueId>,
    /// Those that may use workers that no builder has.
    open: Table<PoolName, Vec<QueueId>>,
}

impl Queues {
    pub fn get(&self, id: QueueId) -> &Queue {
        &self.all[id]
    }

    pub fn get_mut(&mut self, id: QueueId) -> &mut Queue {
        &mut self.all[id]
    }

    /// The queues that may use workers of this pool that no builder has.
    pub fn open_in(&self, pool: &PoolName) -> &[QueueId] {
        self.open.get(pool).map_or(&[], Vec::as_slice)
    }

    /// Adds a job to the line with index `at`.
    pub fn push(&mut self, at: usize, line: &mut Line, key: Key) {
        let was = line.jobs.first().copied();
        line.jobs.insert(key);
        if was.is_none_or(|was| key < was) {
            self.replace_head(at, line, was);
        }
    }

    /// Takes a job out of the line with index `at`.
    pub fn remove(&mut self, at: usize, line: &mut Line, key: Key) {
        let was = line.jobs.first().copied();
        line.jobs.remove(&key);
        if was == Some(key) {
            self.replace_head(at, line, was);
        }
    }

    /// Takes all jobs out of the line with index `at`.
    pub fn empty(&mut self, at: usize, line: &mut Line) -> BTreeSet<Key> {
        let jobs = std::mem::take(&mut line.jobs);
        self.replace_head(at, line, jobs.first().copied());
        jobs
    }

    fn replace_head(&mut self, at: usize, line: &Line, was: Option<Key>) {
        let Some(queue) = line.queue else { return };
        let heads = &mut self.all[queue].heads;
        if let Some(was) = was {
            heads.remove(&(was, at));
        }
        heads.extend(line.jobs.first().map(|key| (*key, at)));
    }

    /// Puts a line into the queue of its eligibility; says whether that queue is new.
    pub fn attach(&mut self, at: usize, line: &mut Line, eligibility: Eligibility) -> (QueueId, bool) {
        let known = self.by_eligibility.get(&eligibility).copied();
        let id = known.unwrap_or_else(|| self.add(eligibility));
        let queue = &mut self.all[id];
        queue.lines += 1;
        queue.heads.extend(line.jobs.first().map(|key| (*key, at)));
        line.queue = Some(id);
        (id, known.is_none())
    }

    fn add(&mut self, eligibility: Eligibility) -> QueueId {
        let queue = Queue { eligibility: eligibility.clone(), heads: BTreeSet::new(), groups: Vec::new(), lines: 0 };
        let id = self.all.insert(queue);
        if eligibility.uses_common() {
            self.open.entry(eligibility.pool.clone()).or_default().push(id);
        }
        self.by_eligibility.insert(eligibility, id);
        id
    }

    /// Takes a line out of its queue; gives back a queue that nobody needs any more, with its id.
    pub fn detach(&mut self, at: usize, line: &mut Line) -> Option<(QueueId, Queue)> {
        let id = line.queue.take()?;
        let queue = &mut self.all[id];
        queue.lines -= 1;
        if let Some(head) = line.jobs.first() {
            queue.heads.remove(&(*head, at));
        }
        if queue.lines > 0 {
            return None;
        }
        let queue = self.all.remove(id);
        self.by_eligibility.swap_remove(&queue.eligibility);
        if queue.eligibility.uses_common()
            && let Some(open) = self.open.get_mut(&queue.eligibility.pool)
        {
            open.retain(|other| *other != id);
        }
        Some((id, queue))
    }
}
