//! What an explanation sees of the board: who waits in which line. And a small board to try things on.

use std::sync::Arc;

use super::queues::{Eligibility, Line};
use super::settle::Farm;
use super::shares::Place;
use super::stages::Stage;
use super::{Board, Builder};
use crate::domain::dispatcher::key::Key;
use crate::domain::dispatcher::leases::Leases;
use crate::domain::dispatcher::run::Claim;
use crate::domain::dispatcher::state::Jobs;
use crate::domain::fleet::Fleet;
use crate::domain::names::{BuilderName, PoolName, WorkerName};
use crate::domain::time::Timestamp;

/// A builder that has had jobs, and those of them that wait.
#[derive(Clone, Copy)]
pub struct Waiting<'a> {
    board: &'a Board,
    pub name: &'a BuilderName,
    builder: &'a Builder,
}

impl<'a> Waiting<'a> {
    /// The index of its rule in the farm file.
    pub fn rule(&self) -> usize {
        self.builder.rule
    }

    /// Jobs that wait, by stage and, where it matters, project.
    pub fn lines(&self) -> impl Iterator<Item = &'a Line> + use<'a> {
        let board = self.board;
        self.builder.lines.iter().map(|line| &board.lines[*line])
    }

    /// How its jobs' worker set changes as they wait; empty while it is paused.
    pub fn stages(&self) -> &'a [Stage] {
        &self.builder.stages
    }

    /// What the jobs of a line may use; `None` while it is paused.
    pub fn eligibility(&self, line: &Line) -> Option<&'a Eligibility> {
        self.builder.stages.get(line.stage).map(|stage| &stage.eligibility)
    }

    /// The jobs of a line that go before this place, in the order of their keys.
    pub fn before(&self, line: &'a Line, place: Place) -> impl Iterator<Item = Key> + use<'a> {
        let shares = &self.board.shares;
        let level = place.key.level();
        let level_with = line.jobs().take_while(move |key| key.level() <= level);
        level_with.filter(move |key| shares.place(*key, line.project.as_ref()) < place)
    }
}

/// The stage that jobs of this age are in.
pub fn stage_of(stages: &[Stage], key: Key, now: Timestamp) -> usize {
    stages.iter().rposition(|stage| key.submitted_at().after(stage.from) <= now).unwrap_or(0)
}

impl Board {
    /// Takes jobs that another board has given out off this one, which decides nothing.
    pub fn take_started(&mut self, jobs: &Jobs, claims: &[Claim]) {
        for claim in claims {
            let Some(job) = jobs.job(claim.job) else { continue };
            self.drop_job(claim.job, &job.spec);
            self.shares.started(job.spec.project.as_ref());
        }
    }

    /// Brings a board that decides nothing up to date.
    pub fn catch_up(&mut self, farm: Farm<'_>, now: Timestamp) {
        self.settle(farm, now);
        drop(self.take_fresh());
        drop(self.take_removed());
    }

    pub(in crate::domain::dispatcher) fn waiting_at(&self, builder: &BuilderName) -> Option<Waiting<'_>> {
        let (_, name, builder) = self.builders.get_full(builder)?;
        Some(Waiting { board: self, name, builder })
    }

    /// All builders of a pool that have had jobs.
    pub(in crate::domain::dispatcher) fn waiting_in<'a>(
        &'a self,
        fleet: &'a Fleet,
        pool: &'a PoolName,
    ) -> impl Iterator<Item = Waiting<'a>> {
        let rules = &fleet.definition().builders;
        let of_pool = self.builders.iter().filter(move |(_, builder)| rules[builder.rule].pool == *pool);
        of_pool.map(|(name, builder)| Waiting { board: self, name, builder })
    }

    /// A job's place in the order as it is now.
    pub(in crate::domain::dispatcher) fn place(&self, key: Key, project: Option<&Arc<str>>) -> Place {
        self.shares.place(key, project)
    }

    /// Some jobs wait for a class of workers.
    pub(in crate::domain::dispatcher) fn waits_any(&self) -> bool {
        self.waits_any
    }

    /// A board for a sketch of another one's farm: each of these builders has the rule of its own index,
    /// and a job of each of these projects has ended.
    pub(in crate::domain::dispatcher) fn sketch<'a>(
        &self,
        fleet: &Fleet,
        jobs: &Jobs,
        builders: impl Iterator<Item = &'a BuilderName>,
        ended: &[Option<Arc<str>>],
    ) -> Self {
        let mut board = Self { leases: Leases::default(), ..Self::default() };
        for (rule, name) in builders.enumerate() {
            let (at, _) =
                board.builders.insert_full(name.clone(), Builder { rule, stages: Vec::new(), lines: Vec::new() });
            board.stale.builders.push(at);
        }
        board.fill(fleet, jobs);
        board.shares = self.shares.clone();
        ended.iter().for_each(|project| board.shares.ended(project.as_ref()));
        board
    }

    /// Since when a worker that will be offered rests.
    pub(in crate::domain::dispatcher) fn rests_since(&mut self, worker: &WorkerName, since: Option<Timestamp>) {
        let (at, _) = self.seats.insert_full(worker.clone(), super::Seat::default());
        self.seats[at].rested_since = since;
    }
}
