//! Puts what has become stale where it belongs now: lines into queues, workers into groups, and links between the two.

use std::collections::BTreeMap;

use super::crowd::Kind;
use super::queues::{Eligibility, Line};
use super::{Board, Fresh, GroupId, QueueId, Stale};
use crate::domain::allocator::Allocations;
use crate::domain::dispatcher::key::Ageing;
use crate::domain::dispatcher::state::Jobs;
use crate::domain::fleet::{Attributes, Fleet};
use crate::domain::names::WorkerName;

/// What the board has to agree with.
#[derive(Clone, Copy)]
pub struct Farm<'a> {
    pub fleet: &'a Fleet,
    pub allocations: &'a Allocations,
    pub jobs: &'a Jobs,
}

impl Board {
    /// Brings the board up to date after events were applied. What it costs
    /// depends on what they touched, save that a new farm file touches everything.
    pub(in crate::domain::dispatcher) fn settle(&mut self, farm: Farm<'_>) {
        if self.stale.everything {
            self.start_over(farm);
        }
        let Stale { everything: _, mut lines, mut seats, mut woken, grown } = std::mem::take(&mut self.stale);
        for list in [&mut lines, &mut seats] {
            list.sort_unstable();
            list.dedup();
        }
        // First everything leaves its old place, so that nothing is linked to one.
        for &at in &seats {
            self.leave_group(at);
        }
        for &at in &lines {
            self.leave_queue(at);
        }
        for &at in &lines {
            self.join_queue(farm, at);
        }
        for &at in &seats {
            self.join_group(farm, at);
        }
        woken.extend(seats);
        for at in woken {
            self.wake_or_rest(farm, at);
        }
        self.fresh.queues.extend(grown.iter().filter_map(|at| self.lines[*at].queue));
        self.fresh.queues.extend(lines.iter().filter_map(|at| self.lines[*at].queue));
    }

    /// The workers that were taken out of the fleet since this was asked last.
    pub(in crate::domain::dispatcher) fn take_removed(&mut self) -> Vec<WorkerName> {
        std::mem::take(&mut self.removed)
    }

    pub(super) fn take_fresh(&mut self) -> Fresh {
        std::mem::take(&mut self.fresh)
    }

    /// Keeps the offers and the leases, and builds the rest anew.
    fn start_over(&mut self, farm: Farm<'_>) {
        // Any of them may have gone with the old farm file.
        let removed = farm.jobs.claims().map(|(_, running)| running.worker.clone());
        let removed = removed.filter(|worker| farm.fleet.worker(worker).is_none()).collect();
        let offered = self.seats.iter().filter_map(|(worker, seat)| Some((worker.clone(), seat.offer?)));
        let offered: Vec<_> = offered.collect();
        *self = Self {
            leases: std::mem::take(&mut self.leases),
            offers: std::mem::take(&mut self.offers),
            ..Self::default()
        };
        for (worker, offer) in offered {
            let (at, _) = self.seats.insert_full(worker, super::Seat { offer: Some(offer), ..Default::default() });
            self.stale.seats.push(at);
        }
        self.removed = removed;
        self.fill(farm.fleet, farm.jobs);
    }

    /// Lets all pending jobs of the farm wait on an empty board.
    pub(super) fn fill(&mut self, fleet: &Fleet, jobs: &Jobs) {
        self.ageing = Ageing::from(fleet.definition().ageing_seconds_per_priority);
        for (id, job) in jobs.all().filter(|(_, job)| job.claim.is_none()) {
            self.push(fleet, id, &job.spec);
        }
    }

    fn leave_group(&mut self, at: usize) {
        let (worker, seat) = self.seats.get_index_mut(at).expect("the index of a seat");
        self.crowd.rouse(worker, seat);
        if let Some((id, group)) = self.crowd.unseat(seat) {
            for queue in group.queues {
                self.queues.get_mut(queue).groups.retain(|other| *other != id);
            }
        }
    }

    fn leave_queue(&mut self, at: usize) {
        if let Some((id, queue)) = self.queues.detach(at, &mut self.lines[at]) {
            for group in queue.groups {
                self.crowd.get_mut(group).queues.retain(|other| *other != id);
            }
        }
    }

    fn join_queue(&mut self, farm: Farm<'_>, at: usize) {
        let (builder, line) = self.lines.get_index_mut(at).expect("the index of a line");
        let eligibility = eligibility(farm, builder, line);
        let (queue, is_new) = self.queues.attach(at, line, eligibility.clone());
        if !is_new {
            return;
        }
        let groups: Vec<GroupId> = match &eligibility.dedicated {
            None => self.crowd.common_in(&eligibility.pool).to_vec(),
            Some(workers) => workers.iter().filter_map(|worker| self.seats.get(worker)?.group).collect(),
        };
        for group in groups {
            self.link(queue, group);
        }
    }

    fn join_group(&mut self, farm: Farm<'_>, at: usize) {
        let (name, seat) = self.seats.get_index_mut(at).expect("the index of a seat");
        let Some(worker) = farm.fleet.worker(name) else { return };
        let builders = farm.allocations.builders_of(name).unwrap_or_default();
        let kind =
            Kind { pool: worker.pool.clone(), attributes: worker.attributes.clone(), builders: builders.to_vec() };
        let (group, is_new) = self.crowd.seat(seat, kind);
        if !is_new {
            return;
        }
        let queues: Vec<QueueId> = if builders.is_empty() {
            self.queues.open_in(&worker.pool).to_vec()
        } else {
            builders.iter().filter_map(|builder| self.lines.get(builder)?.queue).collect()
        };
        for queue in queues {
            self.link(queue, group);
        }
    }

    /// Links a queue to a group whose workers are in its worker set, if they have what it requires.
    fn link(&mut self, queue: QueueId, group: GroupId) {
        let requires = &self.queues.get(queue).eligibility.requires;
        let group_of = self.crowd.get_mut(group);
        if !satisfies(&group_of.kind.attributes, requires) || group_of.queues.contains(&queue) {
            return;
        }
        group_of.queues.push(queue);
        self.queues.get_mut(queue).groups.push(group);
    }

    fn wake_or_rest(&mut self, farm: Farm<'_>, at: usize) {
        let (worker, seat) = self.seats.get_index_mut(at).expect("the index of a seat");
        let Some((id, offer)) = seat.offer.and_then(|id| Some((id, self.offers.get(id)?))) else {
            return self.crowd.rouse(worker, seat);
        };
        let can_work = seat.group.is_some()
            && farm.jobs.claim_of(worker).is_none()
            && farm.fleet.assigned(worker).is_none()
            && farm.jobs.health().quarantined_until(worker).is_none();
        if !can_work {
            return self.crowd.rouse(worker, seat);
        }
        if seat.idle.is_none() {
            self.crowd.rest(worker, at, seat, offer.is_capped().then_some(id));
        }
        self.fresh.groups.extend(seat.group);
    }
}

fn eligibility(farm: Farm<'_>, builder: &super::BuilderName, line: &Line) -> Eligibility {
    let rule = &farm.fleet.definition().builders[line.rule];
    Eligibility {
        pool: rule.pool.clone(),
        requires: rule.requires.clone(),
        dedicated: farm.allocations.shared_workers_of(builder).cloned(),
    }
}

/// The worker has every attribute that is required.
fn satisfies(attributes: &Attributes, requires: &BTreeMap<String, String>) -> bool {
    requires.iter().all(|(key, value)| attributes.get(key) == Some(value))
}
