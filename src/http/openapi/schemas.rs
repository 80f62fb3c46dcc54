//! The shapes of all bodies, as the OpenAPI document describes them.
//!
//! They are types of their own, exact and closed, so that the check of the
//! running server against them notices any key that comes or goes.
#![expect(dead_code, reason = "the types are there for their schemas, no value of them is ever made")]

use std::collections::{BTreeMap, BTreeSet};

use utoipa::{OpenApi, ToSchema};

use super::job_schemas::RunningJob;
use super::problem_schemas::{FaultValue, Rule};

/// All of them, with what they refer to.
#[derive(OpenApi)]
#[openapi(components(schemas(
    BuilderList,
    MachineList,
    MachinesOfBuilder,
    BuildersOfMachine,
    Blob,
    Delta,
    History,
    Replacement,
    Patch,
    Allocation,
    Rollback,
    Imported,
    Reloaded,
    Worker,
    WorkerPage,
    NewWorker,
    Why,
    Named,
    NewToken,
    AddedToken,
    TokenList,
    AuditPage,
)))]
pub struct Schemas;

/// A builder's or a machine's name: Unicode without control characters.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 128, pattern = r"^[^\u0000-\u001f\u007f-\u009f]+$")]
pub struct Name(String);

/// The number of a published state of all allocations; 0 is the empty one before the first.
#[derive(ToSchema)]
#[schema(format = "uint64", minimum = 0, maximum = 18_446_744_073_709_551_615_u64)]
pub struct Generation(u64);

/// Unix seconds, with a fraction where there is one.
#[derive(ToSchema)]
pub struct Timestamp(f64);

/// Why a write is made, for the history.
#[derive(ToSchema)]
#[schema(max_length = 1000)]
pub struct Reason(String);

/// All builders that have an allocation.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BuilderList {
    /// Sorted.
    builders: BTreeSet<Name>,
}

/// All machines that are in an allocation.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineList {
    /// Sorted.
    machines: BTreeSet<Name>,
}

/// The machines that are dedicated to a builder.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MachinesOfBuilder {
    /// Sorted, never empty.
    #[schema(min_items = 1)]
    machines: BTreeSet<Name>,
}

/// The builders that a machine is dedicated to.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildersOfMachine {
    /// Sorted, never empty.
    #[schema(min_items = 1)]
    builders: BTreeSet<Name>,
}

/// Every view of one generation.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Blob {
    /// The id of the data folder; generations of another epoch are other generations.
    epoch: String,
    generation: Generation,
    /// Each builder's machines.
    builders: BTreeMap<Name, BTreeSet<Name>>,
    /// Each machine's builders.
    machines: BTreeMap<Name, BTreeSet<Name>>,
}

/// What turns generation `since` into `generation`.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Delta {
    generation: Generation,
    since: Generation,
    /// Builders whose list is new, with the whole list.
    set: BTreeMap<Name, BTreeSet<Name>>,
    /// Builders that have no allocation any more.
    unset: BTreeSet<Name>,
}

/// One page of generations.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// Newest first.
    generations: Vec<HistoryEntry>,
    /// `before` of the next page; null on the last.
    #[schema(required)]
    next_before: Option<Generation>,
}

/// How a generation came to be.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryEntry {
    generation: Generation,
    time: Timestamp,
    author: String,
    #[schema(required)]
    reason: Option<String>,
    /// Assignments of a machine to a builder that are new.
    added: u64,
    /// Assignments of a machine to a builder that are gone.
    removed: u64,
}

/// All allocations, instead of those in force.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "builders": {"Android armv7 API 9 mozilla-inbound build": ["bld-linux64-spot-024", "bld-linux64-spot-301"]},
    "reason": "a new start",
}))]
pub struct Replacement {
    builders: BTreeMap<Name, BTreeSet<Name>>,
    reason: Option<Reason>,
}

/// Some allocations; the others stay as they are.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "set": {"Thunderbird comm-aurora linux l10n nightly": ["bld-linux64-spot-094", "bld-linux64-spot-1033"]},
    "unset": ["Thunderbird comm-central linux l10n nightly"],
}))]
pub struct Patch {
    /// Builders with their new lists.
    #[schema(required = false)]
    set: BTreeMap<Name, BTreeSet<Name>>,
    /// Builders that shall have no allocation; none of them may be in `set`.
    #[schema(required = false)]
    unset: BTreeSet<Name>,
    reason: Option<Reason>,
}

/// One builder's machines.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"machines": ["bld-linux64-spot-024", "bld-linux64-spot-301"], "reason": "faster builds"}))]
pub struct Allocation {
    #[schema(min_items = 1)]
    machines: BTreeSet<Name>,
    reason: Option<Reason>,
}

/// The generation whose allocations shall be in force again.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"generation": 5049, "reason": "as it was yesterday"}))]
pub struct Rollback {
    generation: Generation,
    reason: Option<Reason>,
}

/// What an import made.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// Null when there was nothing to import.
    #[schema(required)]
    first: Option<Generation>,
    /// The generation in force now.
    last: Generation,
    /// How many generations were made.
    imported: u64,
    /// Every rule that the history breaks; it was imported all the same.
    broken: Vec<Broken>,
}

/// A rule that an imported line breaks.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Broken {
    /// From 1.
    line: u64,
    time: Timestamp,
    #[schema(required)]
    builder: Option<String>,
    rule: Rule,
    #[schema(nullable = false)]
    machine: Option<String>,
    #[schema(nullable = false)]
    value: Option<FaultValue>,
}

/// What a reload of the farm file changed, or would change.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reloaded {
    changed: bool,
    changes: Vec<Change>,
    /// Allocated machines that are no longer workers of the farm.
    lost: BTreeSet<Name>,
}

/// One difference between two farm files.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The key, or the kind of thing, that changes.
    what: String,
    #[schema(nullable = false)]
    was: Option<String>,
    #[schema(nullable = false)]
    becomes: Option<String>,
}

/// A machine of the fleet.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    name: Name,
    pool: Name,
    class: WorkerClass,
    attributes: BTreeMap<String, String>,
    state: WorkerState,
    /// Who set the state, if it is not simply active.
    #[schema(nullable = false)]
    author: Option<String>,
    reason: Option<String>,
    /// When the state was set.
    #[schema(nullable = false)]
    since: Option<Timestamp>,
    /// The end of a quarantine that follows from exceptions in a row.
    #[schema(nullable = false)]
    until: Option<Timestamp>,
    #[schema(nullable = false)]
    running: Option<RunningJob>,
    /// Where it comes from.
    from: WorkerSource,
    /// That it is dedicated to.
    builders: BTreeSet<Name>,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkerClass {
    Inhouse,
    Spot,
    Ondemand,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkerState {
    Active,
    Draining,
    Quarantined,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkerSource {
    File,
    Api,
}

/// One page of the fleet, by name.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerPage {
    workers: Vec<Worker>,
    /// `after` of the next page; null on the last.
    #[schema(required)]
    next_after: Option<Name>,
}

/// A worker to be made or changed.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"pool": "bld-linux64", "class": "spot", "reason": "a new machine"}))]
pub struct NewWorker {
    pool: Name,
    class: Option<WorkerClass>,
    #[schema(required = false)]
    attributes: BTreeMap<String, String>,
    reason: Option<Reason>,
}

/// Why something is done.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    reason: Option<Reason>,
}

/// What is gone.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Named {
    name: Name,
}

/// A token to be made.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "master-3", "role": "master"}))]
pub struct NewToken {
    name: Name,
    role: Role,
    reason: Option<Reason>,
}

#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Worker,
    Master,
    Operator,
}

/// The only time that a token is shown.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddedToken {
    name: Name,
    role: Role,
    token: String,
}

/// All tokens, without their secrets.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenList {
    tokens: Vec<ListedToken>,
}

#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedToken {
    name: Name,
    role: Role,
    added_by: String,
    added_at: Timestamp,
}

/// One page of the audit log.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditPage {
    /// Newest first.
    entries: Vec<AuditLine>,
    /// `before` of the next page; null on the last.
    #[schema(required)]
    next_before: Option<u64>,
}

/// Who did what to what, when and why.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditLine {
    /// Of the journal's record.
    seq: u64,
    time: Timestamp,
    author: String,
    /// Stable, unlike the texts.
    #[schema(pattern = "^[a-z]+\\.[a-z]+$")]
    action: String,
    target: String,
    #[schema(required)]
    reason: Option<String>,
    detail: String,
}
