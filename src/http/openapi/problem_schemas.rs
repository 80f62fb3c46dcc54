//! The shapes of errors, as the OpenAPI document describes them.
#![expect(dead_code, reason = "the types are there for their schemas, no value of them is ever made")]

use utoipa::{OpenApi, ToSchema};

use super::schemas::Name;

/// All of them, with what they refer to.
#[derive(OpenApi)]
#[openapi(components(schemas(Problem)))]
pub struct Schemas;

/// What went wrong, as of RFC 9457.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    r#type: String,
    title: String,
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Stable, unlike the texts.
    #[schema(pattern = "^[a-z_]+$")]
    code: String,
    /// What is wrong, and what to do.
    detail: String,
    /// Every rule that a refused write breaks.
    #[schema(nullable = false)]
    faults: Option<Vec<Fault>>,
    /// Everything that is wrong with a farm file, or with jobs.
    #[schema(nullable = false)]
    problems: Option<Vec<ProblemPart>>,
}

/// A rule of allocations that a write breaks.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Null for the rule about all builders together.
    #[schema(required)]
    builder: Option<String>,
    rule: Rule,
    #[schema(nullable = false)]
    machine: Option<String>,
    #[schema(nullable = false)]
    value: Option<FaultValue>,
}

/// The rules of allocations.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    BadName,
    EmptyList,
    DuplicateMachine,
    UnmatchedBuilder,
    UnknownMachine,
    WrongPool,
    TooManyBuilders,
    Isolation,
    Shrink,
}

/// The value that breaks a rule.
#[derive(ToSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum FaultValue {
    Text(String),
    Names(Vec<String>),
    Pools { pool: String, expected: String },
    Builders { builders: u64, max: u64 },
    Machines { most: u64, becomes: u64, max_shrink_percent: u64 },
}

/// One thing to mend.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum ProblemPart {
    FarmFile(FarmFileFault),
    Job(BadJob),
}

/// Why one job of a submission cannot be accepted.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BadJob {
    /// Its place in the submission, from 0.
    index: u64,
    builder: Name,
    /// The key that is wrong.
    key: String,
    message: String,
}

/// One thing to mend in a farm file.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FarmFileFault {
    /// File, line and column.
    #[schema(nullable = false)]
    place: Option<String>,
    /// The key.
    #[schema(nullable = false)]
    path: Option<String>,
    message: String,
}
