//! A job: one pending request to run a builder, and what its master said of it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::fleet::JobClass;
use crate::domain::names::BuilderName;
use crate::domain::time::Timestamp;

/// The most jobs of one submission.
pub const MAX_JOBS_PER_CALL: usize = 10_000;

/// The most jobs that may wait at once.
pub const MAX_PENDING_JOBS: usize = 4_000_000;

/// The longest payload of a job, in bytes of JSON.
pub const MAX_PAYLOAD_BYTES: usize = 16 * 1024;

/// The longest branch, project, push, session or idempotency key, in bytes.
pub const MAX_TEXT_BYTES: usize = 512;

/// The most input sets that a job may name.
pub const MAX_INPUT_SETS: usize = 1_000;

/// A priority is between minus and plus this.
pub const MAX_PRIORITY: i64 = 1_000_000_000;

/// The number of a job, counted up from 1 and never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u64);

impl JobId {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A job as it was accepted: nothing of it changes until it ends.
///
/// Shared between the journal's events, both states and all answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    pub builder: BuilderName,
    #[serde(default, skip_serializing_if = "is_default")]
    pub class: JobClass,
    /// Smaller is more important.
    pub priority: i64,
    /// Its age counts from here, however often it starts.
    pub submitted_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub inputs: Box<[Arc<str>]>,
    /// There is a payload, which is kept beside the journal.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_payload: bool,
}

/// A job as it is submitted; what is left out is filled in from the farm file.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    pub builder: BuilderName,
    /// `None`: that of its builder's rule.
    pub class: Option<JobClass>,
    /// `None`: that of its branch, or else the farm's default.
    pub priority: Option<i64>,
    /// `None`, or a time in the future: now.
    pub submitted_at: Option<Timestamp>,
    pub branch: Option<Arc<str>>,
    pub project: Option<Arc<str>>,
    pub push: Option<Arc<str>>,
    /// A second job with this key, within a day, is the first one.
    pub idempotency_key: Option<Arc<str>>,
    pub inputs: Vec<Arc<str>>,
    /// JSON text.
    pub payload: Option<Arc<str>>,
}

impl NewJob {
    /// A job of this builder that says nothing else of itself.
    pub fn of(builder: BuilderName) -> Self {
        Self {
            builder,
            class: None,
            priority: None,
            submitted_at: None,
            branch: None,
            project: None,
            push: None,
            idempotency_key: None,
            inputs: Vec::new(),
            payload: None,
        }
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
