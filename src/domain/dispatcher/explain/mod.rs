//! Why a job is where it is, and a worker idle, in the words of a person; and the smallest change that would start the job now.
//!
//! After each decision no idle worker is of use to any pending job that is not
//! held back. So a worker that is not an answer has a reason of its own, and
//! the job's own wait has one more. What would help is not guessed: it is tried
//! on a sketch of the farm, by the matcher that decides.

mod builder;
mod change;
mod estimate;
mod job;
mod obstacle;
mod roll;
mod sketch;
mod worker;

use serde::Serialize;

pub use builder::{ExplainedBuilder, builder};
pub use change::{Change, Step};
pub use estimate::Estimate;
pub use job::{Ahead, Explained, State, job};
pub use roll::{Group, Member};
pub use worker::{ExplainedWorker, worker};

use super::board::{Board, Farm, OpenOffer};
use super::job::JobId;
use super::run::Running;
use crate::domain::names::WorkerName;
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

/// All that an explanation looks at.
pub struct Scene<'a> {
    pub farm: Farm<'a>,
    /// Up to date with the farm and with `now`.
    board: &'a Board,
    /// The claim calls that are open.
    offers: &'a [OpenOffer],
    /// Of each worker that one of them offers: its index.
    offered: Table<&'a WorkerName, usize>,
    now: Timestamp,
    /// What a job is called.
    name: &'a dyn Fn(JobId) -> String,
}

/// How a worker stands, whoever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Offered, and could take a job.
    Idle,
    Busy,
    /// No claim call offers it.
    Away,
    /// Offered, but taken out of work by somebody, or after exceptions in a row.
    Held,
}

impl<'a> Scene<'a> {
    pub fn new(
        farm: Farm<'a>,
        board: &'a Board,
        offers: &'a [OpenOffer],
        now: Timestamp,
        name: &'a dyn Fn(JobId) -> String,
    ) -> Self {
        let workers = |(at, offer): (usize, &'a OpenOffer)| offer.workers.iter().map(move |(worker, _)| (worker, at));
        let offered = offers.iter().enumerate().flat_map(workers).collect();
        Self { farm, board, offers, offered, now, name }
    }

    /// The offer that the worker is in.
    fn offer_of(&self, worker: &WorkerName) -> Option<&'a OpenOffer> {
        self.offered.get(worker).map(|at| &self.offers[*at])
    }

    fn standing(&self, worker: &WorkerName) -> Standing {
        if self.farm.jobs.claim_of(worker).is_some() {
            Standing::Busy
        } else if self.is_held(worker) {
            Standing::Held
        } else if self.offered.contains_key(worker) {
            Standing::Idle
        } else {
            Standing::Away
        }
    }

    fn is_held(&self, worker: &WorkerName) -> bool {
        self.farm.fleet.assigned(worker).is_some() || self.farm.jobs.health().quarantined_until(worker).is_some()
    }

    /// Who took the worker out of work, until when, and why.
    fn why_held(&self, worker: &WorkerName) -> Option<String> {
        if let Some(assigned) = self.farm.fleet.assigned(worker) {
            let reason = assigned.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            return Some(format!("{} by {} since {}{reason}", assigned.duty, assigned.author.as_str(), assigned.time));
        }
        let until = self.farm.jobs.health().quarantined_until(worker)?;
        let exceptions = self.farm.jobs.health().of(worker).exceptions;
        Some(format!("quarantined until {until} after {exceptions} exceptions in a row"))
    }

    fn what_runs(&self, running: &Running) -> String {
        let builder = self.farm.jobs.job(running.job).map_or("?", |job| job.spec.builder.as_str());
        format!("job {} of {builder} since {}", (self.name)(running.job), running.started_at)
    }
}
