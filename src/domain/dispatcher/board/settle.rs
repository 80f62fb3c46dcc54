//! Puts what has become stale where it belongs now: lines into queues, workers into groups, and links between the two.

use super::crowd::Kind;
use super::shares::Shares;
use super::stages::Commons;
use super::{Board, Fresh, GroupId, QueueId, Seat, Stale, stages};
use crate::domain::allocator::Allocations;
use crate::domain::dispatcher::key::{Ageing, Key};
use crate::domain::dispatcher::state::Jobs;
use crate::domain::fleet::Fleet;
use crate::domain::names::WorkerName;
use crate::domain::time::Timestamp;

/// What the board has to agree with.
#[derive(Clone, Copy)]
pub struct Farm<'a> {
    pub fleet: &'a Fleet,
    pub allocations: &'a Allocations,
    pub jobs: &'a Jobs,
}

impl Board {
    /// Brings the board up to date after events were applied, and as time passes. What it costs
    /// depends on what they touched, save that a new farm file touches everything.
    pub(in crate::domain::dispatcher) fn settle(&mut self, farm: Farm<'_>, now: Timestamp) {
        if self.stale.everything {
            self.start_over(farm);
        }
        self.lend_rested(now);
        let Stale { everything: _, mut builders, mut seats, mut woken, grown } = std::mem::take(&mut self.stale);
        for list in [&mut builders, &mut seats] {
            list.sort_unstable();
            list.dedup();
        }
        // First everything leaves its old place, so that nothing is linked to one.
        for &at in &seats {
            self.leave_group(at);
        }
        for &at in &builders {
            for line in self.lines_of(at) {
                self.leave_queue(line);
            }
        }
        let mut commons = Commons::default();
        for &at in &builders {
            self.set_stages(farm, &mut commons, at, now);
            for line in self.lines_of(at) {
                self.join_queue(line);
                self.fresh.queues.extend(self.lines[line].queue);
            }
        }
        for &at in &seats {
            self.join_group(farm, at, now);
        }
        woken.extend(seats);
        for at in woken {
            self.wake_or_rest(farm, at);
        }
        self.move_on(now);
        let grown = grown.into_iter().chain(std::mem::take(&mut self.stale.grown));
        self.fresh.queues.extend(grown.filter_map(|at| self.lines[at].queue));
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
        let kept = |seat: &Seat| Seat { offer: seat.offer, rested_since: seat.rested_since, ..Seat::default() };
        let offered: Vec<_> = self.seats.iter().map(|(worker, seat)| (worker.clone(), kept(seat))).collect();
        *self = Self {
            leases: std::mem::take(&mut self.leases),
            offers: std::mem::take(&mut self.offers),
            ..Self::default()
        };
        for (worker, seat) in offered {
            let (at, _) = self.seats.insert_full(worker, seat);
            self.stale.seats.push(at);
        }
        self.removed = removed;
        self.fill(farm.fleet, farm.jobs);
    }

    /// Lets all pending jobs of the farm wait on an empty board.
    pub(super) fn fill(&mut self, fleet: &Fleet, jobs: &Jobs) {
        let definition = fleet.definition();
        self.ageing = Ageing::from(definition.ageing_seconds_per_priority);
        self.shares = Shares::of(definition);
        self.options = (0..definition.builders.len()).map(|rule| definition.options_of(rule).into()).collect();
        self.lends_any = self.options.iter().any(|options| options.lend_after.is_some());
        self.waits_any = self.options.iter().any(|options| options.inhouse_wait.is_some());
        self.stages_any = self.waits_any || self.options.iter().any(|options| options.overflow_after.is_some());
        for (_, running) in jobs.claims() {
            self.shares.started(jobs.job(running.job).and_then(|job| job.spec.project.as_ref()));
        }
        // Sorted all at once: one by one a million jobs would take a second.
        let mut keys: Vec<Vec<Key>> = Vec::new();
        for (id, job) in jobs.all().filter(|(_, job)| job.claim.is_none()) {
            let Some(at) = self.line_of(fleet, &job.spec) else { continue };
            keys.resize_with(self.lines.len(), Vec::new);
            keys[at].push(self.ageing.key(id, &job.spec));
        }
        for (line, keys) in self.lines.iter_mut().zip(keys) {
            line.fill(keys);
        }
    }

    fn leave_group(&mut self, at: usize) {
        self.rouse(at);
        if let Some((id, group)) = self.crowd.unseat(&mut self.seats[at]) {
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

    /// Works out the stages of a builder's jobs, and puts each job where it belongs by its age.
    fn set_stages(&mut self, farm: Farm<'_>, commons: &mut Commons, at: usize, now: Timestamp) {
        let (name, builder) = self.builders.get_index(at).expect("the index of a builder");
        let (rule, options) = (&farm.fleet.definition().builders[builder.rule], &self.options[builder.rule]);
        let is_paused = farm.fleet.pauses().of(name, &rule.pool).is_some();
        let stages = if is_paused { Vec::new() } else { stages(farm, commons, name, rule, options) };
        if builder.stages.len() > 1 || stages.len() > 1 {
            self.sort_by_age(at, stages, now);
        } else {
            self.builders[at].stages = stages;
        }
    }

    /// Puts a line into the queue of its stage, if its builder still has that stage.
    pub(super) fn join_queue(&mut self, at: usize) {
        let line = &mut self.lines[at];
        if line.queue.is_some() {
            return;
        }
        let Some(stage) = self.builders[line.builder].stages.get(line.stage) else { return };
        let (queue, is_new) = self.queues.attach(at, line, stage.eligibility.clone());
        if !is_new {
            return;
        }
        let eligibility = &stage.eligibility;
        let own = eligibility.dedicated.iter().flat_map(|workers| workers.iter());
        let mut groups: Vec<GroupId> = own.filter_map(|worker| self.seats.get(worker)?.group).collect();
        if eligibility.uses_common() {
            groups.extend(self.crowd.common_in(&eligibility.pool));
        }
        if eligibility.dedicated.is_none() {
            groups.extend(self.crowd.lent_in(&eligibility.pool));
        }
        for group in groups {
            self.link(queue, group);
        }
    }

    fn join_group(&mut self, farm: Farm<'_>, at: usize, now: Timestamp) {
        let (name, _) = self.seats.get_index(at).expect("the index of a seat");
        let Some(worker) = farm.fleet.worker(name) else { return };
        let builders = farm.allocations.builders_of(name).unwrap_or_default();
        let lent_from = self.lent_from(farm, at, builders);
        let kind = Kind {
            pool: worker.pool.clone(),
            class: worker.class,
            attributes: worker.attributes.clone(),
            builders: builders.to_vec(),
            is_lent: lent_from.is_some_and(|from| from <= now),
        };
        let is_lent = kind.is_lent;
        let seat = &mut self.seats[at];
        seat.lent_from = lent_from.filter(|_| !is_lent);
        let (group, is_new) = self.crowd.seat(seat, kind);
        if !is_new {
            return;
        }
        let mut queues: Vec<QueueId> = Vec::new();
        for builder in builders.iter().filter_map(|builder| self.builders.get(builder)) {
            queues.extend(builder.lines.iter().filter_map(|line| self.lines[*line].queue));
        }
        let open = self.queues.open_in(&worker.pool).iter().copied();
        if builders.is_empty() {
            queues.extend(open);
        } else if is_lent {
            queues.extend(open.filter(|queue| self.queues.get(*queue).eligibility.dedicated.is_none()));
        }
        for queue in queues {
            self.link(queue, group);
        }
    }

    /// Links a queue to a group whose workers are in its worker set, if it takes such workers.
    fn link(&mut self, queue: QueueId, group: GroupId) {
        let group_of = self.crowd.get_mut(group);
        let takes = self.queues.get(queue).eligibility.takes(group_of.kind.class, &group_of.kind.attributes);
        if !takes || group_of.queues.contains(&queue) {
            return;
        }
        group_of.queues.push(queue);
        self.queues.get_mut(queue).groups.push(group);
    }

    fn wake_or_rest(&mut self, farm: Farm<'_>, at: usize) {
        let (worker, seat) = self.seats.get_index_mut(at).expect("the index of a seat");
        let Some((id, offer)) = seat.offer.and_then(|id| Some((id, self.offers.get(id)?))) else {
            return self.rouse(at);
        };
        let can_work = seat.group.is_some()
            && farm.jobs.claim_of(worker).is_none()
            && farm.fleet.assigned(worker).is_none()
            && farm.jobs.health().quarantined_until(worker).is_none();
        if !can_work {
            return self.rouse(at);
        }
        if seat.idle.is_none() {
            self.crowd.rest(worker, at, seat, offer.is_capped().then_some(id));
            self.lends.extend(seat.lent_from.map(|from| (from, at)));
        }
        self.fresh.groups.extend(seat.group);
    }
}
