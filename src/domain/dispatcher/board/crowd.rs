//! Workers that have been offered, in groups that serve the same queues, and which of them are idle.

use std::collections::BTreeMap;

use slab::Slab;

use super::offers::OfferId;
use super::queues::QueueId;
use crate::domain::fleet::{Attributes, WorkerClass};
use crate::domain::names::{BuilderName, PoolName, WorkerName};
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

pub type GroupId = usize;

/// Where a worker stands.
#[derive(Debug, Clone, Default)]
pub struct Seat {
    /// `None` until the board is settled, and for a worker that is not in the fleet.
    pub group: Option<GroupId>,
    pub offer: Option<OfferId>,
    /// In the group's cell of this cap.
    pub idle: Option<Cap>,
    /// The end of its last run, or else when it was first offered.
    pub rested_since: Option<Timestamp>,
    /// From then on its builders lend it, if it is idle.
    pub lent_from: Option<Timestamp>,
}

/// An offer that wants fewer jobs than it has workers; `None` for one that takes what it gets.
pub type Cap = Option<OfferId>;

/// What decides which queues a worker serves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kind {
    pub pool: PoolName,
    pub class: WorkerClass,
    pub attributes: Attributes,
    /// Those that have the worker; none for the pool's common workers.
    pub builders: Vec<BuilderName>,
    /// By those, to builders that have no workers.
    pub is_lent: bool,
}

/// Workers that are alike to every queue.
#[derive(Debug, Clone)]
pub struct Group {
    pub kind: Kind,
    pub queues: Vec<QueueId>,
    /// Idle workers by the cap that they are under; never an empty one.
    pub cells: Vec<Cell>,
    seats: usize,
}

/// Idle workers that are alike in everything but warmth and name.
#[derive(Debug, Clone)]
pub struct Cell {
    pub cap: Cap,
    /// With the index of each one's seat.
    pub idle: BTreeMap<WorkerName, usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Crowd {
    all: Slab<Group>,
    by_kind: Table<Kind, GroupId>,
    /// Those of workers that no builder has.
    common: Table<PoolName, Vec<GroupId>>,
    /// Those of workers that their builders lend.
    lent: Table<PoolName, Vec<GroupId>>,
}

impl Crowd {
    pub fn get(&self, id: GroupId) -> &Group {
        &self.all[id]
    }

    pub fn get_mut(&mut self, id: GroupId) -> &mut Group {
        &mut self.all[id]
    }

    /// The groups of the pool's workers that no builder has.
    pub fn common_in(&self, pool: &PoolName) -> &[GroupId] {
        self.common.get(pool).map_or(&[], Vec::as_slice)
    }

    /// The groups of the pool's workers that their builders lend.
    pub fn lent_in(&self, pool: &PoolName) -> &[GroupId] {
        self.lent.get(pool).map_or(&[], Vec::as_slice)
    }

    /// Where groups of a kind are listed, if they serve builders that have no workers.
    fn listed(&mut self, kind: &Kind) -> Option<&mut Vec<GroupId>> {
        if kind.builders.is_empty() {
            Some(self.common.entry(kind.pool.clone()).or_default())
        } else if kind.is_lent {
            Some(self.lent.entry(kind.pool.clone()).or_default())
        } else {
            None
        }
    }

    /// Seats a worker with its like; says whether that group is new.
    pub fn seat(&mut self, seat: &mut Seat, kind: Kind) -> (GroupId, bool) {
        let known = self.by_kind.get(&kind).copied();
        let id = known.unwrap_or_else(|| self.add(kind));
        self.all[id].seats += 1;
        seat.group = Some(id);
        (id, known.is_none())
    }

    fn add(&mut self, kind: Kind) -> GroupId {
        let group = Group { kind: kind.clone(), queues: Vec::new(), cells: Vec::new(), seats: 0 };
        let id = self.all.insert(group);
        if let Some(listed) = self.listed(&kind) {
            listed.push(id);
        }
        self.by_kind.insert(kind, id);
        id
    }

    /// Takes a worker that is not idle out of its group; gives back a group
    /// that has nobody any more, with its id.
    pub fn unseat(&mut self, seat: &mut Seat) -> Option<(GroupId, Group)> {
        let id = seat.group.take()?;
        let group = &mut self.all[id];
        group.seats -= 1;
        if group.seats > 0 {
            return None;
        }
        let group = self.all.remove(id);
        self.by_kind.swap_remove(&group.kind);
        if let Some(listed) = self.listed(&group.kind) {
            listed.retain(|other| *other != id);
        }
        Some((id, group))
    }

    /// Lets a seated worker be idle under a cap.
    pub fn rest(&mut self, worker: &WorkerName, at: usize, seat: &mut Seat, cap: Cap) {
        let Some(group) = seat.group else { return };
        let cells = &mut self.all[group].cells;
        let cell = match cells.iter().position(|cell| cell.cap == cap) {
            Some(cell) => &mut cells[cell],
            None => cells.push_mut(Cell { cap, idle: BTreeMap::new() }),
        };
        cell.idle.insert(worker.clone(), at);
        seat.idle = Some(cap);
    }

    /// The worker is not idle any more.
    pub fn rouse(&mut self, worker: &WorkerName, seat: &mut Seat) {
        let (Some(cap), Some(group)) = (seat.idle.take(), seat.group) else { return };
        let cells = &mut self.all[group].cells;
        if let Some(at) = cells.iter().position(|cell| cell.cap == cap) {
            cells[at].idle.remove(worker);
            if cells[at].idle.is_empty() {
                cells.swap_remove(at);
            }
        }
    }
}
