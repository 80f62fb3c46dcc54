//! What changes on the board as time passes: jobs that have waited long enough for the next stage, workers that are lent.

use super::Board;
use super::look::stage_of;
use super::settle::Farm;
use super::stages::Stage;
use crate::domain::dispatcher::key::Key;
use crate::domain::names::BuilderName;
use crate::domain::time::Timestamp;

impl Board {
    /// When time alone next changes who may use whom.
    pub(super) fn next_change(&self) -> Option<Timestamp> {
        let (moves, lends) = (self.moves.first(), self.lends.first());
        moves.map(|(time, ..)| *time).into_iter().chain(lends.map(|(time, _)| *time)).min()
    }

    /// Lets a job wait in a line.
    pub(super) fn add(&mut self, at: usize, key: Key) {
        self.queues.push(at, &mut self.lines[at], key);
        if let Some(until) = self.until(at, key) {
            self.moves.insert((until, at, key));
        }
    }

    /// Takes a job out of a line.
    pub(super) fn take(&mut self, at: usize, key: Key) {
        self.queues.remove(at, &mut self.lines[at], key);
        if let Some(until) = self.until(at, key) {
            self.moves.remove(&(until, at, key));
        }
    }

    /// Moves the jobs on whose wait in their line is over.
    pub(super) fn move_on(&mut self, now: Timestamp) {
        while let Some(&(_, at, key)) = self.moves.first().filter(|(time, ..)| *time <= now) {
            self.take(at, key);
            let (builder, project) = (self.lines[at].builder, self.lines[at].project.clone());
            let line = self.line(builder, self.stage(builder, key, now), project);
            self.add(line, key);
            self.stale.grown.push(line);
        }
    }

    /// Sorts a builder's jobs into the lines of these stages.
    pub(super) fn sort_by_age(&mut self, builder: usize, stages: Vec<Stage>, now: Timestamp) {
        let mut all = Vec::new();
        for at in self.lines_of(builder) {
            let project = self.lines[at].project.clone();
            for key in self.queues.empty(at, &mut self.lines[at]) {
                if let Some(until) = self.until(at, key) {
                    self.moves.remove(&(until, at, key));
                }
                all.push((project.clone(), key));
            }
        }
        self.builders[builder].stages = stages;
        for (project, key) in all {
            let line = self.line(builder, self.stage(builder, key, now), project);
            self.add(line, key);
        }
    }

    /// Seats the workers anew that their builders lend from now on.
    pub(super) fn lend_rested(&mut self, now: Timestamp) {
        while let Some(&(_, at)) = self.lends.first().filter(|(time, _)| *time <= now) {
            self.lends.pop_first();
            self.stale.seats.push(at);
        }
        // Those that come back after it are late for their own deadline.
        let is_late = |at: &&usize| self.seats[**at].lent_from.is_some_and(|from| from <= now);
        let late: Vec<usize> = self.stale.woken.iter().filter(is_late).copied().collect();
        self.stale.seats.extend(late);
    }

    /// From when on a worker that rests is lent: all its builders have to lend it.
    pub(super) fn lent_from(&mut self, farm: Farm<'_>, seat: usize, builders: &[BuilderName]) -> Option<Timestamp> {
        if !self.lends_any || builders.is_empty() {
            return None;
        }
        let mut longest = None;
        for builder in builders {
            let after = self.options_of(farm.fleet, builder).lend_after?;
            longest = longest.max(Some(after.into()));
        }
        Some(self.seats[seat].rested_since?.after(longest?))
    }

    /// The worker is not idle any more.
    pub(super) fn rouse(&mut self, at: usize) {
        let (worker, seat) = self.seats.get_index_mut(at).expect("the index of a seat");
        if seat.idle.is_some()
            && let Some(from) = seat.lent_from
        {
            self.lends.remove(&(from, at));
        }
        self.crowd.rouse(worker, seat);
    }

    /// The stage of its builder that a job is in by its age.
    pub(super) fn stage(&self, builder: usize, key: Key, now: Timestamp) -> usize {
        stage_of(&self.builders[builder].stages, key, now)
    }

    /// When a job in this line moves on to the next stage.
    fn until(&self, at: usize, key: Key) -> Option<Timestamp> {
        if !self.stages_any {
            return None;
        }
        let line = &self.lines[at];
        let next = self.builders[line.builder].stages.get(line.stage + 1)?;
        Some(key.submitted_at().after(next.from))
    }
}
