//! Who waits for whom: pending jobs in queues of equal eligibility, idle workers in groups that serve the same queues.
//!
//! All of it follows from the farm and the open offers, so none of it is
//! journalled. An event only marks what it touches as stale; `settle` puts
//! that, and nothing else, where it belongs now.

mod assign;
mod crowd;
mod offers;
mod queues;
mod settle;

pub(super) use assign::Assignment;
pub use offers::{Offer, OfferId};
pub use settle::Farm;

use super::Event;
use super::job::{JobId, JobSpec};
use super::key::Ageing;
use super::leases::Leases;
use super::run::Next;
use super::state::Jobs;
use super::submission::Texts;
use crate::domain::allocator::{self, Allocations};
use crate::domain::fleet::{self, Fleet};
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::table::Table;
use crate::domain::time::Timestamp;
use crowd::{Crowd, GroupId, Seat};
use offers::Offers;
use queues::{Line, QueueId, Queues};

/// The dispatcher's volatile side.
#[derive(Debug, Clone, Default)]
pub struct Board {
    pub(super) leases: Leases,
    pub(super) texts: Texts,
    ageing: Ageing,
    /// By builder; an index into it stays good until all is built anew.
    lines: Table<BuilderName, Line>,
    queues: Queues,
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

/// What events have touched since the board was last settled.
#[derive(Debug, Clone, Default)]
struct Stale {
    /// The farm file has changed.
    everything: bool,
    /// Lines whose builder may have another worker set.
    lines: Vec<usize>,
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

    /// When something is due.
    pub fn next_deadline(&self, jobs: &Jobs) -> Option<Timestamp> {
        let release = jobs.health().quarantined().map(|(_, until)| until).min();
        self.leases.next().into_iter().chain(release).min()
    }

    /// When the lease of a claim ends without another heartbeat.
    pub fn lease_of(&self, claim: super::ClaimId) -> Option<Timestamp> {
        self.leases.of(claim)
    }

    /// The index of the builder's line; `None` if no rule of the farm file
    /// matches it. Matching is slow, so it is done once.
    pub(super) fn line(&mut self, fleet: &Fleet, builder: &BuilderName) -> Option<usize> {
        if let Some(at) = self.lines.get_index_of(builder) {
            return Some(at);
        }
        let rule = fleet.rule_index(builder)?;
        let (at, _) = self.lines.insert_full(builder.clone(), Line::new(rule));
        self.stale.lines.push(at);
        Some(at)
    }

    /// The builder of a line, by a name that all its jobs share, and its rule
    /// as an index into those of the farm file.
    pub(super) fn builder(&self, line: usize) -> (&BuilderName, usize) {
        let (builder, line) = self.lines.get_index(line).expect("the index of a line");
        (builder, line.rule)
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
                    self.leases.renew(claim.id, *time);
                }
            }
            Event::RunEnded(run) => {
                self.leases.end(run.claim);
                self.wake(&run.worker);
                if let (Next::Waits, Some(job)) = (run.next, jobs.job(run.job)) {
                    self.push(fleet, run.job, &job.spec);
                }
            }
            Event::Remembered { successes: _ } => {}
            Event::Quarantined { worker, record: _ } | Event::Released { worker, time: _ } => self.wake(worker),
        }
    }

    /// The same for an event of the fleet.
    pub fn note_fleet(&mut self, event: &fleet::Event) {
        match event {
            fleet::Event::Defined { .. } => self.stale.everything = true,
            fleet::Event::WorkerPut { name, .. } => self.unseat(name),
            fleet::Event::WorkerRemoved { name, .. } => {
                self.unseat(name);
                self.removed.push(name.clone());
            }
            fleet::Event::DutySet { name, .. } => self.wake(name),
        }
    }

    /// The same for an event of the allocator.
    pub fn note_allocator(&mut self, allocations: &Allocations, event: &allocator::Event) {
        match event {
            allocator::Event::GenerationMade(made) => {
                for builder in made.unset.iter().chain(made.set.keys()) {
                    self.stale.lines.extend(self.lines.get_index_of(builder));
                    for worker in allocations.workers_of(builder).unwrap_or_default() {
                        self.unseat(worker);
                    }
                }
                for worker in made.set.values().flatten() {
                    self.unseat(worker);
                }
            }
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
        // A job whose builder no rule matches any more waits for one that does.
        let Some(at) = self.line(fleet, &spec.builder) else { return };
        self.queues.push(at, &mut self.lines[at], self.ageing.key(id, spec));
        self.stale.grown.push(at);
    }

    fn drop_job(&mut self, id: JobId, spec: &JobSpec) {
        if let Some(at) = self.lines.get_index_of(&spec.builder) {
            self.queues.remove(at, &mut self.lines[at], self.ageing.key(id, spec));
        }
    }
}
