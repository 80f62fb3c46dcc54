//! The shapes of the run history's bodies, as the OpenAPI document describes them.
#![expect(dead_code, reason = "the types are there for their schemas, no value of them is ever made")]

use utoipa::{OpenApi, ToSchema};

use super::job_schemas::Id;
use super::schemas::{Name, Timestamp};

/// All of them, with what they refer to.
#[derive(OpenApi)]
#[openapi(components(schemas(RunPage)))]
pub struct Schemas;

/// One page of the run history.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunPage {
    /// Newest end first.
    runs: Vec<Run>,
    /// `before` of the next page; null on the last.
    #[schema(required)]
    next_before: Option<u64>,
}

/// A run that has ended, or a job that was cancelled while it waited.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Of the journal's record of its end.
    seq: u64,
    job: Id,
    /// Null, like worker and start, for a job that waited.
    #[schema(required)]
    claim: Option<Id>,
    builder: Name,
    #[schema(required)]
    worker: Option<Name>,
    #[schema(required)]
    branch: Option<String>,
    #[schema(required)]
    project: Option<String>,
    #[schema(required)]
    push: Option<String>,
    /// From 1; 0 for a job that waited.
    attempt: u32,
    submitted_at: Timestamp,
    #[schema(required)]
    started_at: Option<Timestamp>,
    finished_at: Timestamp,
    result: RunResult,
    /// The worker had succeeded with this builder before, not long ago.
    warm: bool,
    /// Who said that it has ended.
    author: String,
    #[schema(required)]
    reason: Option<String>,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunResult {
    Success,
    Failure,
    Exception,
    Retry,
    Cancelled,
    Lost,
    Requeued,
}
