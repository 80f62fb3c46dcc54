//! All jobs that have not ended, the claims that run, and what is remembered of those that ran before.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Event;
use super::health::Health;
use super::idempotency::Keys;
use super::job::{JobId, JobSpec};
use super::pace::Paces;
use super::run::{Claim, ClaimId, Granted, Next, Run, RunResult, Running};
use super::warm::Warm;
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::numbered::Numbered;
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

/// A session and the idempotency key of one of its claim calls.
pub(super) type ClaimKey = (Arc<str>, Arc<str>);

/// The dispatcher's part of the farm.
///
/// How it is stored is said in `saved`.
#[derive(Debug, Clone, Default)]
pub struct Jobs {
    pub(super) last_job: JobId,
    pub(super) last_claim: ClaimId,
    pub(super) jobs: Numbered<Job>,
    pub(super) claims: Numbered<Running>,
    pub(super) busy: Table<WorkerName, ClaimId>,
    pub(super) warm: Warm,
    pub(super) health: Health,
    pub(super) paces: Paces,
    pub(super) submissions: Keys<Arc<str>, JobId>,
    pub(super) claim_calls: Keys<ClaimKey, Arc<[Claim]>>,
}

/// A job that has not ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub spec: Arc<JobSpec>,
    /// How often it has started.
    pub attempts: u32,
    /// The claim under which it runs; a job without one waits.
    pub claim: Option<ClaimId>,
}

impl Jobs {
    /// No jobs at all, but what is remembered of workers, as far as it concerns these builders.
    pub(super) fn knowing(other: &Self, builders: &BTreeSet<BuilderName>) -> Self {
        Self { warm: other.warm.of(builders), health: other.health.clone(), ..Self::default() }
    }

    /// A job that waits or runs.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(id.0)
    }

    /// All jobs that wait or run, in the order in which they came.
    pub fn all(&self) -> impl Iterator<Item = (JobId, &Job)> {
        self.jobs.iter().map(|(id, job)| (JobId(id), job))
    }

    /// How many jobs wait.
    pub fn pending(&self) -> usize {
        self.jobs.len() - self.claims.len()
    }

    /// How many jobs run.
    pub fn running(&self) -> usize {
        self.claims.len()
    }

    /// The job was there, and is not any more.
    pub fn has_ended(&self, id: JobId) -> bool {
        (JobId(1)..=self.last_job).contains(&id) && self.jobs.get(id.0).is_none()
    }

    /// The job that was submitted last.
    pub fn last_job(&self) -> JobId {
        self.last_job
    }

    /// The claim that was made last.
    pub fn last_claim(&self) -> ClaimId {
        self.last_claim
    }

    pub fn claim(&self, id: ClaimId) -> Option<&Running> {
        self.claims.get(id.0)
    }

    /// All claims whose lease lives, in the order in which they were made.
    pub fn claims(&self) -> impl Iterator<Item = (ClaimId, &Running)> {
        self.claims.iter().map(|(id, running)| (ClaimId(id), running))
    }

    /// What the worker runs.
    pub fn claim_of(&self, worker: &WorkerName) -> Option<(ClaimId, &Running)> {
        let id = *self.busy.get(worker)?;
        Some((id, self.claims.get(id.0)?))
    }

    pub fn warm(&self) -> &Warm {
        &self.warm
    }

    pub fn health(&self) -> &Health {
        &self.health
    }

    pub fn paces(&self) -> &Paces {
        &self.paces
    }

    /// The job that was submitted under this key within the last day.
    pub fn submitted_under(&self, key: &Arc<str>) -> Option<JobId> {
        self.submissions.get(key).copied()
    }

    /// What the session's claim call with this key was given within the last day.
    pub fn claimed_under(&self, session: &Arc<str>, key: &Arc<str>) -> Option<&[Claim]> {
        self.claim_calls.get(&(session.clone(), key.clone())).map(AsRef::as_ref)
    }

    /// A claim as its holder is told, with a lease that began or was renewed at `since`.
    pub fn granted(&self, claim: &Claim, since: Timestamp) -> Granted {
        Granted {
            id: claim.id,
            token: claim.token,
            job: claim.job,
            spec: self.jobs.get(claim.job.0).map(|job| job.spec.clone()),
            worker: claim.worker.clone(),
            attempt: claim.attempt,
            lease_until: since.after(claim.lease),
        }
    }

    pub(in crate::domain) fn apply(&mut self, event: &Event) {
        match event {
            Event::Submitted { jobs, author: _, time } => {
                for submitted in jobs {
                    self.submit(submitted.id, &submitted.job, *time);
                }
            }
            Event::Cancelled { job, author: _, reason: _, time: _ } => drop(self.jobs.remove(job.0)),
            Event::Claimed { offer: _, session, idempotency_key, claims, author: _, time } => {
                for claim in claims {
                    self.start(claim, session, *time);
                }
                if let Some(key) = idempotency_key {
                    self.claim_calls.note((session.clone(), key.clone()), claims.as_slice().into(), *time);
                }
            }
            Event::RunEnded(run) => self.end(run),
            Event::Remembered { successes } => {
                for (builder, worker, at) in successes {
                    self.warm.succeeded(builder, worker, *at);
                }
            }
            Event::Quarantined { worker, record } => self.health.quarantine(worker, *record),
            Event::Released { worker, time: _ } => self.health.release(worker),
        }
    }

    /// An operator took the worker back into work, so its record is clean.
    pub(in crate::domain) fn trust(&mut self, worker: &WorkerName) {
        self.health.forget(worker);
    }

    fn submit(&mut self, id: JobId, spec: &Arc<JobSpec>, now: Timestamp) {
        self.jobs.insert(id.0, Job { spec: spec.clone(), attempts: 0, claim: None });
        self.last_job = id;
        if let Some(key) = &spec.idempotency_key {
            self.submissions.note(key.clone(), id, now);
        }
    }

    fn start(&mut self, claim: &Claim, session: &Arc<str>, now: Timestamp) {
        let running = Running {
            job: claim.job,
            worker: claim.worker.clone(),
            token: claim.token,
            session: session.clone(),
            attempt: claim.attempt,
            started_at: now,
            warm: claim.warm_since.is_some(),
            lease: claim.lease,
        };
        self.claims.insert(claim.id.0, running);
        self.busy.insert(claim.worker.clone(), claim.id);
        self.last_claim = claim.id;
        if let Some(job) = self.jobs.get_mut(claim.job.0) {
            job.attempts = claim.attempt;
            job.claim = Some(claim.id);
        }
    }

    fn end(&mut self, run: &Run) {
        self.claims.remove(run.claim.0);
        self.busy.swap_remove(&run.worker);
        self.health.ran(&run.worker, run.result);
        if run.result == RunResult::Success {
            self.warm.succeeded(&run.builder, &run.worker, run.ended_at);
        }
        if matches!(run.result, RunResult::Success | RunResult::Failure) {
            self.paces.ran(&run.builder, run.started_at, run.ended_at);
        }
        match run.next {
            Next::Waits => {
                if let Some(job) = self.jobs.get_mut(run.job.0) {
                    job.claim = None;
                }
            }
            Next::Ended | Next::GivenUp => drop(self.jobs.remove(run.job.0)),
        }
    }
}
