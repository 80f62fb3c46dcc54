//! One decision: which of the jobs about which something changed start now, and on which worker.
//!
//! Before an event no idle worker is of use to any pending job, so only the
//! queues that the event touched, and those that a newly idle worker serves,
//! can have a job that starts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::rc::Rc;
use std::time::Duration;

use super::settle::Farm;
use super::shares::Place;
use super::{Board, Fresh, GroupId, OfferId, QueueId};
use crate::domain::dispatcher::job::JobId;
use crate::domain::dispatcher::key::Key;
use crate::domain::dispatcher::matching::{Flow, FlowCell};
use crate::domain::fleet::{Options, Warmth};
use crate::domain::names::WorkerName;
use crate::domain::time::Timestamp;

/// A job that starts, and what was decided against.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub job: JobId,
    pub worker: WorkerName,
    pub offer: OfferId,
    /// The worker's last success with the job's builder.
    pub warm_since: Option<Timestamp>,
    /// The next job of the same queue, which has to wait.
    pub before: Option<JobId>,
    /// How many other idle workers could have had the job.
    pub others: usize,
    pub lease: Duration,
}

/// An accepted job, with the number of its queue in the decision and the index of its line.
struct Accepted {
    key: Key,
    queue: usize,
    line: usize,
}

/// An idle worker on which the builder has succeeded: its seat, and its cell in the decision.
#[derive(Clone, Copy)]
struct Candidate {
    seat: usize,
    cell: usize,
}

/// The part of the board that a decision is about; its flow numbers what is listed here.
struct Scope {
    queues: Vec<QueueId>,
    /// Each a group with the place of the cell in it.
    cells: Vec<(GroupId, super::crowd::Cap)>,
    flow: Flow,
    /// The warm workers that a queue may have for a builder, by the indices of both; found when first asked for.
    warm: BTreeMap<(usize, usize), Rc<[Candidate]>>,
}

impl Board {
    /// Takes the jobs that start and the workers that they start on off the board.
    pub(in crate::domain::dispatcher) fn assign(&mut self, farm: Farm<'_>) -> Vec<Assignment> {
        let Some(mut scope) = self.scope() else { return Vec::new() };
        let accepted = self.accept(&mut scope);
        let chosen: Vec<_> = accepted.iter().map(|job| self.choose(farm, &mut scope, job)).collect();
        // Only now is it known who stays behind.
        let before = accepted.iter().map(|job| self.head(scope.queues[job.queue]).map(|(place, _)| place.key.id));
        chosen.into_iter().zip(before).map(|(chosen, before)| Assignment { before, ..chosen }).collect()
    }

    /// What has to be looked at; `None` when nothing can start.
    fn scope(&mut self) -> Option<Scope> {
        let Fresh { mut queues, groups } = self.take_fresh();
        for group in groups {
            queues.extend(&self.crowd.get(group).queues);
        }
        queues.retain(|queue| !self.queues.get(*queue).is_empty());
        queues.sort_unstable();
        queues.dedup();
        let is_idle = |group: &GroupId| !self.crowd.get(*group).cells.is_empty();
        let mut groups: Vec<GroupId> = Vec::new();
        for queue in &queues {
            groups.extend(self.queues.get(*queue).groups.iter().copied().filter(is_idle));
        }
        if groups.is_empty() {
            return None;
        }
        groups.sort_unstable();
        groups.dedup();
        Some(self.scope_of(queues, &groups))
    }

    /// `groups` in order.
    fn scope_of(&self, queues: Vec<QueueId>, groups: &[GroupId]) -> Scope {
        let mut scope = Scope { queues, cells: Vec::new(), flow: Flow::default(), warm: BTreeMap::new() };
        let mut caps: Vec<OfferId> = Vec::new();
        let mut first_cell = Vec::with_capacity(groups.len() + 1);
        for &group in groups {
            first_cell.push(scope.cells.len());
            for cell in &self.crowd.get(group).cells {
                let cap = cell.cap.map(|offer| {
                    caps.iter().position(|other| *other == offer).unwrap_or_else(|| {
                        scope.flow.caps.push(self.offers.get(offer).map_or(0, |offer| offer.max));
                        caps.push(offer);
                        caps.len() - 1
                    })
                });
                scope.cells.push((group, cell.cap));
                scope.flow.cells.push(FlowCell::new(cell.idle.len(), cap));
            }
        }
        first_cell.push(scope.cells.len());
        for queue in &scope.queues {
            let groups_of = self.queues.get(*queue).groups.iter().filter_map(|group| groups.binary_search(group).ok());
            scope.flow.queues.push(groups_of.flat_map(|at| first_cell[at]..first_cell[at + 1]).collect());
        }
        scope
    }

    /// Goes through the jobs from the most important one, and takes those that
    /// can all start out of their queues. A queue whose first job cannot start
    /// has none that can.
    fn accept(&mut self, scope: &mut Scope) -> Vec<Accepted> {
        let mut accepted = Vec::new();
        let mut free: usize = scope.flow.cells.iter().map(|cell| cell.workers).sum();
        let head = |queue: QueueId| self.head(queue).map(|(place, _)| place);
        let heads = scope.queues.iter().enumerate();
        let mut heads: BinaryHeap<Reverse<(Place, usize)>> =
            heads.filter_map(|(at, queue)| Some(Reverse((head(*queue)?, at)))).collect();
        while free > 0
            && let Some(Reverse((seen, queue))) = heads.pop()
        {
            let id = scope.queues[queue];
            let (place, line) = self.head(id).expect("a queue whose head was seen");
            if place != seen {
                // Its project has started another job since.
                heads.push(Reverse((place, queue)));
                continue;
            }
            let reserve = self.queues.get(id).eligibility.reserve;
            if !scope.flow.accept(queue, reserve) {
                continue;
            }
            free -= 1;
            self.take(line, place.key);
            self.shares.started(self.lines[line].project.as_ref());
            accepted.push(Accepted { key: place.key, queue, line });
            heads.extend(self.head(id).map(|(next, _)| Reverse((next, queue))));
        }
        accepted
    }

    fn head(&self, queue: QueueId) -> Option<(Place, usize)> {
        self.queues.get(queue).head(&self.lines, &self.shares)
    }

    /// Among the workers that let all other accepted jobs start: the warmest,
    /// then the first by name, which is all when there is only one. Takes it.
    fn choose(&mut self, farm: Farm<'_>, scope: &mut Scope, job: &Accepted) -> Assignment {
        let at = self.lines[job.line].builder;
        let (builder, of) = self.builders.get_index(at).expect("the index of a builder");
        let options = self.options[of.rule].clone();
        let others = scope.flow.queues[job.queue].iter().map(|cell| scope.flow.cells[*cell].workers).sum::<usize>() - 1;
        let seat = if others == 0 {
            let cells = scope.flow.queues[job.queue].clone();
            self.first_by_name(scope, job.queue, cells).expect("an accepted job has a worker")
        } else {
            self.best(farm, scope, job.queue, at, &options)
        };
        let (worker, seated) = self.seats.get_index(seat).expect("the index of a seat");
        let (worker, offer) = (worker.clone(), seated.offer.expect("an idle worker is offered"));
        let warm_since = farm.jobs.warm().since(builder, &worker);
        self.rouse(seat);
        let (lease, job) = (options.lease(), job.key.id);
        Assignment { job, worker, offer, warm_since, before: None, others, lease }
    }

    /// Gives the queue a worker of the first preferred class that can give one.
    fn best(&self, farm: Farm<'_>, scope: &mut Scope, queue: usize, builder: usize, options: &Options) -> usize {
        let class = |scope: &Scope, cell: usize| self.crowd.get(scope.cells[cell].0).kind.class;
        let cells = &scope.flow.queues[queue];
        let ranks = BTreeSet::from_iter(cells.iter().map(|cell| options.preference(class(scope, *cell))));
        for rank in ranks {
            // A cell that cannot give one worker cannot give any other.
            let of_rank = scope.flow.queues[queue].iter().copied();
            let mut open: Vec<usize> = of_rank.filter(|cell| options.preference(class(scope, *cell)) == rank).collect();
            let ask_warmth = options.warmth.unwrap_or_default() == Warmth::RecentSuccess;
            let warmest = if ask_warmth { self.warmest(farm, scope, queue, builder, &mut open) } else { None };
            if let Some(seat) = warmest.or_else(|| self.first_by_name(scope, queue, open)) {
                return seat;
            }
        }
        unreachable!("an accepted job has a worker");
    }

    /// The warmest worker of these cells that the queue can have, if any is warm; leaves out cells that cannot give one.
    fn warmest(
        &self,
        farm: Farm<'_>,
        scope: &mut Scope,
        queue: usize,
        builder: usize,
        open: &mut Vec<usize>,
    ) -> Option<usize> {
        let known = scope.warm.get(&(queue, builder)).cloned();
        let warm = known.unwrap_or_else(|| self.warm_idle(farm, scope, queue, builder));
        for &Candidate { seat, cell } in warm.iter() {
            // Others of this decision may have taken it.
            if self.seats[seat].idle.is_none() || !open.contains(&cell) {
                continue;
            }
            if scope.flow.give(queue, cell) {
                return Some(seat);
            }
            open.retain(|other| *other != cell);
        }
        None
    }

    /// The idle workers of a queue on which the builder has succeeded, the
    /// warmest first, then by name. Looked for among the idle or among the warm
    /// ones, whichever are fewer.
    fn warm_idle(&self, farm: Farm<'_>, scope: &mut Scope, queue: usize, builder: usize) -> Rc<[Candidate]> {
        let (name, _) = self.builders.get_index(builder).expect("the index of a builder");
        let warm = farm.jobs.warm().workers(name);
        let cells = &scope.flow.queues[queue];
        let mut found: Vec<(Reverse<Timestamp>, &WorkerName, Candidate)> = Vec::new();
        let idle = cells.iter().filter_map(|cell| self.cell(scope, *cell));
        if idle.map(BTreeMap::len).sum::<usize>() <= warm.len() {
            for &cell in cells {
                for (worker, &seat) in self.cell(scope, cell).into_iter().flatten() {
                    let since = farm.jobs.warm().since(name, worker);
                    found.extend(since.map(|since| (Reverse(since), worker, Candidate { seat, cell })));
                }
            }
        } else {
            for (worker, since) in warm {
                let idle = self.idle_in(scope, cells, worker);
                found.extend(idle.map(|(seat, cell)| (Reverse(since), worker, Candidate { seat, cell })));
            }
        }
        found.sort_unstable_by_key(|(since, worker, _)| (*since, *worker));
        let found: Rc<[Candidate]> = found.into_iter().map(|(.., warm)| warm).collect();
        scope.warm.insert((queue, builder), found.clone());
        found
    }

    /// The idle workers of a cell of the decision, with the indices of their seats; `None` once all are taken.
    fn cell(&self, scope: &Scope, cell: usize) -> Option<&BTreeMap<WorkerName, usize>> {
        let (group, cap) = scope.cells[cell];
        self.crowd.get(group).cells.iter().find(|cell| cell.cap == cap).map(|cell| &cell.idle)
    }

    /// The worker's seat and its cell, if it is idle in one of these.
    fn idle_in(&self, scope: &Scope, cells: &[usize], worker: &WorkerName) -> Option<(usize, usize)> {
        let (at, _, seat) = self.seats.get_full(worker)?;
        let place = (seat.group?, seat.idle?);
        let cell = cells.iter().find(|cell| scope.cells[**cell] == place)?;
        Some((at, *cell))
    }

    /// The first worker by name of these cells that the queue can have.
    fn first_by_name(&self, scope: &mut Scope, queue: usize, mut open: Vec<usize>) -> Option<usize> {
        loop {
            let firsts = open.iter().filter_map(|cell| Some((self.cell(scope, *cell)?.first_key_value()?, *cell)));
            let ((_, seat), cell) = firsts.min()?;
            if scope.flow.give(queue, cell) {
                return Some(*seat);
            }
            open.retain(|other| *other != cell);
        }
    }
}
