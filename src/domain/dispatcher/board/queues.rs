//! Pending jobs: a line for each builder, and a queue for all lines whose jobs may use the same workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slab::Slab;

use super::crowd::GroupId;
use crate::domain::dispatcher::key::Key;
use crate::domain::names::{PoolName, WorkerName};
use crate::domain::table::Table;

pub type QueueId = usize;

/// The pending jobs of one builder.
#[derive(Debug, Clone)]
pub struct Line {
    /// Of the farm file, by index.
    pub rule: usize,
    jobs: BTreeSet<Key>,
    /// `None` until the board is settled.
    pub queue: Option<QueueId>,
}

impl Line {
    pub fn new(rule: usize) -> Self {
        Self { rule, jobs: BTreeSet::new(), queue: None }
    }
}

/// Which workers a job may use. Jobs that agree in this are one queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Eligibility {
    pub pool: PoolName,
    /// Attributes that a worker must have.
    pub requires: BTreeMap<String, String>,
    /// The builder's own workers; without an allocation those of the pool that no builder has.
    pub dedicated: Option<Arc<[WorkerName]>>,
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
    pub fn head(&self) -> Option<Key> {
        self.heads.first().map(|(key, _)| *key)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Queues {
    all: Slab<Queue>,
    by_eligibility: Table<Eligibility, QueueId>,
    /// Those for workers that no builder has.
    open: Table<PoolName, Vec<QueueId>>,
}

impl Queues {
    pub fn get(&self, id: QueueId) -> &Queue {
        &self.all[id]
    }

    pub fn get_mut(&mut self, id: QueueId) -> &mut Queue {
        &mut self.all[id]
    }

    /// The queues for workers of this pool that no builder has.
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

    /// Takes the most important job out of a queue.
    pub fn pop(&mut self, id: QueueId, lines: &mut Table<super::BuilderName, Line>) -> Option<(Key, usize)> {
        let (key, at) = self.all[id].heads.pop_first()?;
        let line = &mut lines[at];
        line.jobs.pop_first();
        if let Some(next) = line.jobs.first() {
            self.all[id].heads.insert((*next, at));
        }
        Some((key, at))
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
        if eligibility.dedicated.is_none() {
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
        if queue.eligibility.dedicated.is_none()
            && let Some(open) = self.open.get_mut(&queue.eligibility.pool)
        {
            open.retain(|other| *other != id);
        }
        Some((id, queue))
    }
}
