//! The rules that every generation is held against: a bad input never becomes one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::state::Allocations;
use super::write::Difference;
use crate::domain::fleet::Fleet;
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// How many of the builders that a machine is wrongly shared with are named: the
/// faults of a write stay in proportion to it, however many share one machine.
const SHARERS_NAMED: usize = 10;

/// Losing so many machines is never a shrink: small farms could not change otherwise.
const SHRINK_ALWAYS_ALLOWED: u64 = 10;

/// A rule of allocations. The names are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A name is 1 to 128 characters without controls.
    BadName,
    /// An allocation has at least one machine.
    EmptyList,
    /// A machine is listed once.
    DuplicateMachine,
    /// A builder has a rule in the farm file.
    UnmatchedBuilder,
    /// A machine is a worker of the farm.
    UnknownMachine,
    /// A machine is in the builder's pool.
    WrongPool,
    /// A machine has at most `max_builders_per_machine` builders.
    TooManyBuilders,
    /// A machine's builders are of one isolation group.
    Isolation,
    /// All allocated machines together never shrink by more than `max_shrink_percent`.
    Shrink,
}

/// One broken rule: by which builder, on which machine, with which value.
///
/// Names are plain text here, since a fault may be about what is no name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// `None` for the one rule about all builders together.
    pub builder: Option<String>,
    pub rule: Rule,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<FaultValue>,
}

/// The value that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FaultValue {
    Text(String),
    /// Builders, or the first of them.
    Names(Vec<String>),
    Pools {
        pool: String,
        expected: String,
    },
    Builders {
        builders: u64,
        max: u64,
    },
    Machines {
        most: u64,
        becomes: u64,
        max_shrink_percent: u64,
    },
}

impl Fault {
    fn of(builder: &BuilderName, rule: Rule) -> Self {
        Self { builder: Some(builder.to_string()), rule, machine: None, value: None }
    }

    fn on(builder: &BuilderName, rule: Rule, machine: &WorkerName) -> Self {
        Self { machine: Some(machine.to_string()), ..Self::of(builder, rule) }
    }

    fn with(self, value: FaultValue) -> Self {
        Self { value: Some(value), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(builder) = &self.builder {
            write!(f, "builder {builder:?}: ")?;
        }
        if let Some(machine) = &self.machine {
            write!(f, "machine {machine:?} ")?;
        }
        f.write_str(match self.rule {
            Rule::BadName => "is not a name",
            Rule::EmptyList => "an allocation has at least one machine (delete it to give the builder none)",
            Rule::DuplicateMachine => "is listed twice",
            Rule::UnmatchedBuilder => "no rule of the farm file matches this name",
            Rule::UnknownMachine => "is not a worker of this farm",
            Rule::WrongPool => "is in the wrong pool",
            Rule::TooManyBuilders => "has too many builders",
            Rule::Isolation => "is shared with builders of another isolation group",
            Rule::Shrink => "the allocated machines shrink too much at once (force=true allows it)",
        })?;
        match &self.value {
            None => Ok(()),
            Some(FaultValue::Text(text)) => write!(f, ": {text}"),
            Some(FaultValue::Names(names)) => write!(f, ": {}", names.join(", ")),
            Some(FaultValue::Pools { pool, expected }) => write!(f, ": {pool:?}, the builder's is {expected:?}"),
            Some(FaultValue::Builders { builders, max }) => write!(f, ": {builders}, at most {max}"),
            Some(FaultValue::Machines { most, becomes, max_shrink_percent }) => {
                write!(f, ": from {most} to {becomes}, at most {max_shrink_percent} % in an hour")
            }
        }
    }
}

/// Every rule that the difference breaks, for the builders it names; by builder, then in the order of [`Rule`].
pub(super) fn judge(
    fleet: &Fleet,
    now: &Allocations,
    difference: &Difference,
    at: Timestamp,
    force: bool,
) -> Vec<Fault> {
    let after = After::of(fleet, now, difference);
    let mut faults = Vec::new();
    for (builder, workers) in &difference.set {
        judge_builder(fleet, &after, builder, workers, &mut faults);
    }
    if !force {
        faults.extend(judge_shrink(fleet, now, after.allocated, at));
    }
    faults
}

fn judge_builder(fleet: &Fleet, after: &After, builder: &BuilderName, workers: &[WorkerName], faults: &mut Vec<Fault>) {
    if workers.is_empty() {
        faults.push(Fault::of(builder, Rule::EmptyList));
    }
    let mut sorted: Vec<_> = workers.iter().collect();
    sorted.sort();
    let doubled = sorted.windows(2).filter(|pair| pair[0] == pair[1]);
    faults.extend(doubled.map(|pair| Fault::on(builder, Rule::DuplicateMachine, pair[0])));
    sorted.dedup();

    let rule = fleet.rule(builder);
    if rule.is_none() {
        faults.push(Fault::of(builder, Rule::UnmatchedBuilder));
    }
    for machine in sorted {
        match (fleet.worker(machine), rule) {
            (None, _) => faults.push(Fault::on(builder, Rule::UnknownMachine, machine)),
            (Some(worker), Some(rule)) if worker.pool != rule.pool => {
                let value = FaultValue::Pools { pool: worker.pool.to_string(), expected: rule.pool.to_string() };
                faults.push(Fault::on(builder, Rule::WrongPool, machine).with(value));
            }
            (Some(_), _) => {}
        }
        let sharers = &after.sharers[machine];
        let max = fleet.definition().allocations.max_builders_per_machine;
        if sharers.count > max {
            let value = FaultValue::Builders { builders: sharers.count, max };
            faults.push(Fault::on(builder, Rule::TooManyBuilders, machine).with(value));
        }
        let group = fleet.isolation_group(builder);
        let others = sharers.by_group.iter().filter(|(other, _)| **other != group).flat_map(|(_, builders)| builders);
        let others: Vec<String> = others.take(SHARERS_NAMED).map(ToString::to_string).collect();
        if !others.is_empty() {
            faults.push(Fault::on(builder, Rule::Isolation, machine).with(FaultValue::Names(others)));
        }
    }
}

/// The workers whose builders a difference touches, as they would be after it.
struct After<'a> {
    sharers: BTreeMap<&'a WorkerName, Sharers<'a>>,
    /// Distinct allocated workers of the whole farm.
    allocated: u64,
}

/// The builders of one worker.
#[derive(Default)]
struct Sharers<'a> {
    count: u64,
    /// By isolation group; one group when the farm isolates nothing.
    by_group: BTreeMap<Option<&'a str>, BTreeSet<&'a BuilderName>>,
}

impl<'a> Sharers<'a> {
    fn add(&mut self, builder: &'a BuilderName, group: Option<&'a str>) {
        self.count += u64::from(self.by_group.entry(group).or_default().insert(builder));
    }
}

impl<'a> After<'a> {
    fn of(fleet: &'a Fleet, now: &'a Allocations, difference: &'a Difference) -> Self {
        let mut sharers = BTreeMap::new();
        let mut used_before = 0;
        for worker in difference.touched(now) {
            let before = now.builders_of(worker).unwrap_or(&[]);
            used_before += u64::from(!before.is_empty());
            let mut stay = Sharers::default();
            for builder in before.iter().filter(|builder| !difference.names(builder)) {
                stay.add(builder, fleet.isolation_group(builder));
            }
            sharers.insert(worker, stay);
        }
        for (builder, workers) in &difference.set {
            let group = fleet.isolation_group(builder);
            for worker in workers {
                sharers.entry(worker).or_default().add(builder, group);
            }
        }
        let used_after = sharers.values().filter(|sharers| sharers.count > 0).count() as u64;
        let allocated = now.workers().len() as u64 - used_before + used_after;
        Self { sharers, allocated }
    }
}

fn judge_shrink(fleet: &Fleet, now: &Allocations, becomes: u64, at: Timestamp) -> Option<Fault> {
    if becomes >= now.workers().len() as u64 {
        return None;
    }
    let max_shrink_percent = fleet.definition().allocations.max_shrink_percent;
    let most = now.most_workers_since_an_hour_before(at);
    let lost = most.saturating_sub(becomes);
    let too_much = lost * 100 > most * max_shrink_percent && lost > SHRINK_ALWAYS_ALLOWED;
    too_much.then_some(Fault {
        builder: None,
        rule: Rule::Shrink,
        machine: None,
        value: Some(FaultValue::Machines { most, becomes, max_shrink_percent }),
    })
}
