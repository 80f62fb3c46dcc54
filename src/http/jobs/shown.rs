//! How a job is shown: what its master said of it, and what has become of it.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::domain::dispatcher::{ClaimId, Job, JobId, JobSpec, Jobs, Running};
use crate::domain::fleet::JobClass;
use crate::domain::{BuilderName, Timestamp, WorkerName};
use crate::http::ids::as_text;

/// A job as it was accepted, as keys among others.
pub struct Spec(pub Arc<JobSpec>);

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<'a> {
            builder: &'a BuilderName,
            class: JobClass,
            priority: i64,
            submitted_at: Timestamp,
            #[serde(skip_serializing_if = "Option::is_none")]
            branch: &'a Option<Arc<str>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            project: &'a Option<Arc<str>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            push: &'a Option<Arc<str>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            idempotency_key: &'a Option<Arc<str>>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            inputs: &'a [Arc<str>],
        }
        let JobSpec {
            builder,
            class,
            priority,
            submitted_at,
            branch,
            project,
            push,
            idempotency_key,
            inputs,
            has_payload: _,
        } = self.0.as_ref();
        let (class, priority, submitted_at) = (*class, *priority, *submitted_at);
        Keys { builder, class, priority, submitted_at, branch, project, push, idempotency_key, inputs }.serialize(to)
    }
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
    Running,
}

/// A job that has not ended.
#[derive(Serialize)]
pub struct Shown {
    #[serde(serialize_with = "as_text")]
    pub id: JobId,
    pub state: State,
    #[serde(flatten)]
    pub spec: Spec,
    /// How often it has started.
    attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<ShownRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Box<RawValue>>,
}

/// A run that goes on; its token is its holder's alone.
#[derive(Serialize)]
pub struct ShownRun {
    #[serde(serialize_with = "as_text")]
    claim: ClaimId,
    #[serde(serialize_with = "as_text")]
    job: JobId,
    worker: WorkerName,
    session: Arc<str>,
    attempt: u32,
    started_at: Timestamp,
}

impl State {
    pub fn of(job: &Job) -> Self {
        if job.claim.is_some() { Self::Running } else { Self::Pending }
    }
}

impl Shown {
    pub fn of(jobs: &Jobs, id: JobId, job: &Job) -> Self {
        let run = |claim| jobs.claim(claim).map(|running| ShownRun::of(claim, running));
        Self {
            id,
            state: State::of(job),
            spec: Spec(job.spec.clone()),
            attempts: job.attempts,
            running: job.claim.and_then(run),
            payload: None,
        }
    }
}

impl ShownRun {
    pub fn of(claim: ClaimId, running: &Running) -> Self {
        Self {
            claim,
            job: running.job,
            worker: running.worker.clone(),
            session: running.session.clone(),
            attempt: running.attempt,
            started_at: running.started_at,
        }
    }
}
