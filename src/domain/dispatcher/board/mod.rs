//! Who waits for whom: pending jobs in queues of equal eligibility, idle workers in groups that serve the same queues.
//!
//! All of it follows from the farm and the open offers, so none of it is
//! journalled. An event only marks what it touches as stale; `settle` puts
//! that, and nothing else, where it belongs now.

mod assign;
mod crowd;
mod held;
mod look;
mod offers;
mod queues;
mod settle;
mod shares;
mod stages;
mod waiting;

pub(super) use assign::Assignment;
pub(super) use held::{outlook, paused, shortage};
pub(super) use look::{Waiting, stage_of};
pub use offers::{Offer, OfferId, OpenOffer};
pub(super) use queues::{Eligibility, Line};
pub use settle::Farm;
pub(super) use shares::Place;
pub(super) use stages::{Commons, Stage, stages};

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Event;
use super::job::{JobId, JobSpec};
use super::key::{Ageing, Key};
use super::leases::Leases;
use super::run::Next;
use super::state::Jobs;
use super::submission::Texts;
use crate::domain::allocator::{self, Allocations};
use crate::domain::fleet::{self, Fleet, Options, Pausable};
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::table::Table;
use crate::domain::time::Timestamp;
use crowd::{Crowd, GroupId, Seat};
use offers::Offers;
use queues::{QueueId, Queues};
use shares::Shares;

/// The dispatcher's volatile side.
#[derive(Debug, Clone, Default)]
pub struct Board {
    pub(super) leases: Leases,
    pub(super) texts: Texts,
    ageing: Ageing,
    shares: Shares,
    /// What is said of the builders of each rule, by its index.
    options: Vec<Arc<Options>>,
    /// Some builder lends its workers.
    lends_any: bool,
    /// Some builder's jobs wait for a class of workers.
    waits_any: bool,
    /// Some builder's jobs may use other workers when they have waited.
    stages_any: bool,
    /// An index into it stays good until all is built anew.
    builders: Table<BuilderName, Builder>,
    /// So does one into this.
    lines: Vec<Line>,
    queues: Queues,
    /// The jobs that will move on to the next stage, with the index of their line.
    moves: BTreeSet<(Timestamp, usize, Key)>,
    /// The seats of idle workers that will be lent.
    lends: BTreeSet<(Timestamp, usize)>,
    /// Of every worker that has been offered; an index into it stays good, too.
    seats: Table<WorkerName, Seat>,
    crowd: Crowd,
    offers: Offers,
    stale: Stale,
    /// Workers that were taken out of the fleet, whose runs have yet to end.
    removed: Vec<WorkerName>,
    /// What the next decision has to look at.
    fresh: Fresh,
}

/// A builder that has had jobs since all was built.
#[derive(Debug, Clone)]
struct Builder {
    /// Of the farm file, by index.
    rule: usize,
    /// None until the board is settled, and while it is paused.
    stages: Vec<Stage>,
    /// By index.
    lines: Vec<usize>,
}

/// What events have touched since the board was last settled.
#[derive(Debug, Clone, Default)]
struct Stale {
    /// The farm file has changed.
    everything: bool,
    /// Builders that may have another worker set.
    builders: Vec<usize>,
    /// Seats whose worker may belong to another group.
    seats: Vec<usize>,
    /// Seats whose worker may have turned idle or not.
    woken: Vec<usize>,
    /// Lines with another job in them.
    grown: Vec<usize>,
}

/// Queues and groups about which something changed that a job could start of.
#[derive(Debug, Clone, Default)]
struct Fresh {
    queues: Vec<QueueId>,
    groups: Vec<GroupId>,
}

impl Board {
    /// The board of a farm as it was recovered: nobody is offered, and every lease is whole.
    pub fn of(fleet: &Fleet, jobs: &Jobs, now: Timestamp) -> Self {
        let mut board = Self { leases: Leases::whole(jobs, now), ..Self::default() };
        board.fill(fleet, jobs);
        board
    }

    /// A job's place in the order.
    pub(super) fn key(&self, id: JobId, spec: &JobSpec) -> Key {
        self.ageing.key(id, spec)
    }

    /// When something is due.
    pub fn next_deadline(&self, jobs: &Jobs) -> Option<Timestamp> {
        let release = jobs.health().quarantined().map(|(_, until)| until).min();
        self.leases.next().into_iter().chain(release).chain(self.next_change()).min()
    }

    /// When the lease of a claim ends without another heartbeat.
    pub fn lease_of(&self, claim: super::ClaimId) -> Option<Timestamp> {
        self.leases.of(claim)
    }

    /// The index of a builder; `None` if no rule of the farm file matches it.
    /// Matching is slow, so it is done once.
    pub(super) fn find(&mut self, fleet: &Fleet, builder: &BuilderName) -> Option<usize> {
        if let Some(at) = self.builders.get_index_of(builder) {
            return Some(at);
        }
        let rule = fleet.rule_index(builder)?;
        let new = Builder { rule, stages: Vec::new(), lines: Vec::new() };
        let (at, _) = self.builders.insert_full(builder.clone(), new);
        self.stale.builders.push(at);
        Some(at)
    }

    /// A builder, by a name that all its jobs share, and its rule as an index
    /// into those of the farm file.
    pub(super) fn builder(&self, at: usize) -> (&BuilderName, usize) {
        let (name, builder) = self.builders.get_index(at).expect("the index of a builder");
        (name, builder.rule)
    }

    /// What the farm file says of a builder.
    pub(super) fn options_of(&mut self, fleet: &Fleet, builder: &BuilderName) -> Arc<Options> {
        match self.find(fleet, builder) {
            Some(at) => self.options[self.builders[at].rule].clone(),
            None => fleet.definition().options.clone().into(),
        }
    }

    fn lines_of(&self, builder: usize) -> Vec<usize> {
        self.builders[builder].lines.clone()
    }

    /// The index of the line for such jobs of a builder.
    fn line(&mut self, builder: usize, stage: usize, project: Option<Arc<str>>) -> usize {
        let alike = |line: &Line| line.stage == stage && line.project == project;
        if let Some(at) = self.builders[builder].lines.iter().find(|at| alike(&self.lines[**at])) {
            return *at;
        }
        let at = self.lines.len();
        self.lines.push(Line::new(builder, stage, project));
        self.builders[builder].lines.push(at);
        self.join_queue(at);
        at
    }

    /// Notes what an event is about to change; call before it is applied.
    pub fn note(&mut self, fleet: &Fleet, jobs: &Jobs, event: &Event) {
        match event {
            Event::Submitted { jobs: submitted, author: _, time: _ } => {
                for submitted in submitted {
                    self.push(fleet, submitted.id, &submitted.job);
                }
            }
            Event::Cancelled { job, author: _, reason: _, time: _ } => {
                if let Some(cancelled) = jobs.job(*job) {
                    self.drop_job(*job, &cancelled.spec);
                }
            }
            Event::Claimed { claims, time, .. } => {
                for claim in claims {
                    self.leases.renew(claim.id, claim.lease, *time);
                }
            }
            Event::RunEnded(run) => {
                self.leases.end(run.claim);
                self.shares.ended(run.project.as_ref());
                self.rest(&run.worker, run.ended_at);
                if let (Next::Waits, Some(job)) = (run.next, jobs.job(run.job)) {
                    self.push(fleet, run.job, &job.spec);
                }
            }
            Event::Remembered { successes: _ } => {}
            Event::Quarantined { worker, record: _ } | Event::Released { worker, time: _ } => self.wake(worker),
        }
    }

    /// The same for an event of the fleet.
    pub fn note_fleet(&mut self, fleet: &Fleet, event: &fleet::Event) {
        match event {
            fleet::Event::Defined { .. } => self.stale.everything = true,
            fleet::Event::WorkerPut { name, .. } => {
                self.unseat(name);
                self.classes_may_differ();
            }
            fleet::Event::WorkerRemoved { name, .. } => {
                self.unseat(name);
                self.removed.push(name.clone());
                self.classes_may_differ();
            }
            fleet::Event::DutySet { name, .. } => self.wake(name),
            fleet::Event::Paused { what, .. } | fleet::Event::Resumed { what, .. } => self.hold_or_let_go(fleet, what),
        }
    }

    /// The same for an event of the allocator.
    pub fn note_allocator(&mut self, allocations: &Allocations, event: &allocator::Event) {
        match event {
            allocator::Event::GenerationMade(made) => {
                for builder in made.unset.iter().chain(made.set.keys()) {
                    self.stale.builders.extend(self.builders.get_index_of(builder));
                    for worker in allocations.workers_of(builder).unwrap_or_default() {
                        self.unseat(worker);
                    }
                }
                for worker in made.set.values().flatten() {
                    self.unseat(worker);
                }
                self.classes_may_differ();
            }
        }
    }

    /// Builders are paused, or no longer.
    fn hold_or_let_go(&mut self, fleet: &Fleet, what: &Pausable) {
        match what {
            Pausable::Builder(name) => self.stale.builders.extend(self.builders.get_index_of(name)),
            Pausable::Pool(pool) => {
                let rules = &fleet.definition().builders;
                let of_pool =
                    self.builders.values().enumerate().filter(|(_, builder)| rules[builder.rule].pool == *pool);
                self.stale.builders.extend(of_pool.map(|(at, _)| at));
            }
        }
    }

    /// Jobs that wait for a class of workers may have some of it now, or none.
    fn classes_may_differ(&mut self) {
        if self.waits_any {
            let waits = |builder: &Builder| self.options[builder.rule].inhouse_wait.is_some();
            let waiting = self.builders.values().enumerate().filter(|(_, builder)| waits(builder));
            self.stale.builders.extend(waiting.map(|(at, _)| at));
        }
    }

    /// The worker's run has ended.
    fn rest(&mut self, worker: &WorkerName, now: Timestamp) {
        if let Some((at, _, seat)) = self.seats.get_full_mut(worker) {
            seat.rested_since = Some(now);
            // It is not lent any more.
            let touched = if self.lends_any { &mut self.stale.seats } else { &mut self.stale.woken };
            touched.push(at);
        }
    }

    fn wake(&mut self, worker: &WorkerName) {
        self.stale.woken.extend(self.seats.get_index_of(worker));
    }

    fn unseat(&mut self, worker: &WorkerName) {
        self.stale.seats.extend(self.seats.get_index_of(worker));
    }

    /// Lets a job wait.
    fn push(&mut self, fleet: &Fleet, id: JobId, spec: &JobSpec) {
        if self.stale.everything {
            return;
        }
        let Some(at) = self.line_of(fleet, spec) else { return };
        self.add(at, self.ageing.key(id, spec));
        self.stale.grown.push(at);
    }

    /// The index of the line that a job waits in at first; where it belongs by
    /// its age is seen to with all that has waited. A job whose builder no rule
    /// matches any more waits for one that does.
    fn line_of(&mut self, fleet: &Fleet, spec: &JobSpec) -> Option<usize> {
        let builder = self.find(fleet, &spec.builder)?;
        Some(self.line(builder, 0, self.shares.project_of(spec.project.as_ref()).cloned()))
    }

    fn drop_job(&mut self, id: JobId, spec: &JobSpec) {
        let Some(builder) = self.builders.get(&spec.builder) else { return };
        let key = self.ageing.key(id, spec);
        if let Some(at) = builder.lines.iter().copied().find(|at| self.lines[*at].holds(&key)) {
            self.take(at, key);
        }
    }
}
