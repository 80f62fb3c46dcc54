//! The resolved farm file: what a farm is, as journalled, and every fault that such a definition can have.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::options::Options;
use super::range::WorkerRange;
use crate::domain::names::{BuilderName, PoolName, WorkerName};

/// The most workers that a definition may name.
pub const MAX_WORKERS: u64 = 1_000_000;

/// How many rules are named to somebody whose builder matches none.
const CLOSEST_RULES: usize = 3;

/// The most generations that can be kept.
const MAX_KEPT_GENERATIONS: u64 = 1_000_000;

/// A span of time in seconds, as farm files give it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub f64);

/// What a farm is. Its key names and their order are those of the farm file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    pub name: String,
    /// Priority of a job that has none, nor a branch with one; smaller is more important.
    pub default_priority: i64,
    /// So many seconds of waiting outweigh one priority step; 0 is strict priority.
    pub ageing_seconds_per_priority: Seconds,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_share_by: Option<FairShare>,
    #[serde(flatten)]
    pub options: Options,
    pub pools: Vec<Pool>,
    pub workers: Vec<WorkerEntry>,
    pub branches: Vec<Branch>,
    pub builders: Vec<BuilderRule>,
    pub allocations: AllocationLimits,
}

/// Between whom workers are shared out fairly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FairShare {
    /// Among jobs of equal class and priority, the project with the fewest running jobs goes first, then age.
    Project,
}

/// The workers of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    pub name: PoolName,
    pub workers: Vec<WorkerRange>,
    pub class: WorkerClass,
    #[serde(flatten)]
    pub options: Options,
}

/// Workers that differ from the rest of their pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerEntry {
    pub name: WorkerRange,
    pub pool: PoolName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<WorkerClass>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

/// What kind of machine a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerClass {
    Inhouse,
    Spot,
    Ondemand,
}

impl fmt::Display for WorkerClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inhouse => "inhouse",
            Self::Spot => "spot",
            Self::Ondemand => "ondemand",
        })
    }
}

/// A branch whose jobs have a priority of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub name: String,
    pub priority: i64,
}

/// Which pool a builder belongs to, by its name; the first rule that matches decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuilderRule {
    /// A regular expression, searched for anywhere in the name; look-around allowed.
    #[serde(rename = "match")]
    pub pattern: String,
    pub pool: PoolName,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requires: BTreeMap<String, String>,
    pub class: JobClass,
    #[serde(flatten)]
    pub options: Options,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cadence: Option<String>,
}

/// How a job stands against all others, before anything else is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobClass {
    Release,
    #[default]
    Normal,
    Idle,
}

/// The rules that every write of allocations is judged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationLimits {
    /// At least 1.
    pub max_builders_per_machine: u64,
    /// 0 to 100.
    pub max_shrink_percent: u64,
    /// A builder's group is the first of these that its name holds, else its
    /// own name. `None` is no isolation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation_groups: Option<Vec<String>>,
    /// How many generations can be read, rolled back to and asked deltas from.
    pub keep_generations: u64,
}

impl Default for AllocationLimits {
    fn default() -> Self {
        Self { max_builders_per_machine: 2, max_shrink_percent: 30, isolation_groups: None, keep_generations: 10_000 }
    }
}

/// The farm before any file was read: nobody works there.
impl Default for Definition {
    fn default() -> Self {
        Self {
            name: String::new(),
            default_priority: 5,
            ageing_seconds_per_priority: Seconds(0.0),
            fair_share_by: None,
            options: Options::default(),
            pools: Vec::new(),
            workers: Vec::new(),
            branches: Vec::new(),
            builders: Vec::new(),
            allocations: AllocationLimits::default(),
        }
    }
}

/// A fault of a definition, with the path of the key that has it (`pools[0].workers[2]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub path: String,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Definition {
    /// Every fault there is, in file order; empty when the farm can be run.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut report = |path: String, message: String| found.push(Problem { path, message });
        self.check_order(&mut report);
        self.check_options(&mut report);
        self.check_pools(&mut report);
        self.check_workers(&mut report);
        self.check_branches(&mut report);
        self.check_builders(&mut report);
        self.check_allocations(&mut report);
        found
    }

    /// The priority of a job that gives none: that of its branch, or of the
    /// longest branch that its builder's name holds, or else the default.
    pub fn priority_of(&self, branch: Option<&str>, builder: &BuilderName) -> i64 {
        let given = branch.and_then(|branch| self.branches.iter().find(|listed| listed.name == branch));
        let held = || {
            let held = self.branches.iter().filter(|listed| builder.as_str().contains(listed.name.as_str()));
            held.max_by_key(|listed| listed.name.len())
        };
        given.or_else(held).map_or(self.default_priority, |branch| branch.priority)
    }

    /// The patterns that look most like a name which none of them matches, for
    /// a message; at most three, the closest first.
    pub fn closest_rules(&self, builder: &BuilderName) -> Vec<&str> {
        let likeness = |rule: &BuilderRule| strsim::normalized_damerau_levenshtein(builder.as_str(), &rule.pattern);
        let mut rules: Vec<_> = self.builders.iter().map(|rule| (likeness(rule), rule.pattern.as_str())).collect();
        rules.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        rules.into_iter().take(CLOSEST_RULES).map(|(_, pattern)| pattern).collect()
    }

    /// Why a builder is not known, with the rules that may have been meant.
    pub fn unmatched(&self, builder: &BuilderName) -> String {
        let closest = self.closest_rules(builder);
        let listed: Vec<_> = closest.iter().map(|pattern| format!("{pattern:?}")).collect();
        match listed.as_slice() {
            [] => "the farm file has no builder rules".to_owned(),
            _ => format!("no builder rule of the farm file matches it; the closest are {}", listed.join(", ")),
        }
    }

    fn has_pool(&self, name: &PoolName) -> bool {
        self.pools.iter().any(|pool| pool.name == *name)
    }

    fn unknown_pool(&self, name: &PoolName) -> String {
        let known: Vec<_> = self.pools.iter().map(|pool| pool.name.as_str()).collect();
        format!("there is no pool {name:?} (the pools are: {})", known.join(", "))
    }

    /// What is said of a builder whose rule is the one with this index.
    pub fn options_of(&self, rule: usize) -> Options {
        let rule = &self.builders[rule];
        rule.options.or(&self.options_in(&rule.pool))
    }

    /// What is said of a pool, and of its workers.
    pub fn options_in(&self, pool: &PoolName) -> Options {
        match self.pools.iter().find(|listed| listed.name == *pool) {
            Some(pool) => pool.options.or(&self.options),
            None => self.options.clone(),
        }
    }

    fn check_order(&self, report: &mut impl FnMut(String, String)) {
        let ageing = self.ageing_seconds_per_priority;
        if let Some(message) = ageing.problem() {
            report("farm.ageing_seconds_per_priority".into(), message);
        }
        if self.fair_share_by.is_some() && ageing.0 > 0.0 {
            let message = "together with ageing_seconds_per_priority it gives no order: leave one of them out";
            report("farm.fair_share_by".into(), message.into());
        }
    }

    fn check_options(&self, report: &mut impl FnMut(String, String)) {
        let pools = self.pools.iter().enumerate().map(|(at, pool)| (format!("pools[{at}]"), &pool.options));
        let rules = self.builders.iter().enumerate().map(|(at, rule)| (format!("builders[{at}]"), &rule.options));
        for (place, options) in [("farm".to_owned(), &self.options)].into_iter().chain(pools).chain(rules) {
            for (key, message) in options.problems() {
                report(format!("{place}.{key}"), message);
            }
        }
        for (at, rule) in self.builders.iter().enumerate() {
            let options = self.options_of(at);
            if options.inhouse_wait.is_some() && options.prefer.is_none() {
                let message =
                    format!("jobs of {:?} wait for the first preferred class, but nothing says `prefer`", rule.pattern);
                report(self.place_of_inhouse_wait(at), message);
            }
        }
    }

    /// Where the rule's `inhouse_wait` stands.
    fn place_of_inhouse_wait(&self, at: usize) -> String {
        let rule = &self.builders[at];
        let in_pool = |pool: &Pool| pool.name == rule.pool && pool.options.inhouse_wait.is_some();
        if rule.options.inhouse_wait.is_some() {
            format!("builders[{at}].inhouse_wait")
        } else if let Some(pool) = self.pools.iter().position(in_pool) {
            format!("pools[{pool}].inhouse_wait")
        } else {
            "farm.inhouse_wait".into()
        }
    }

    fn check_pools(&self, report: &mut impl FnMut(String, String)) {
        let mut names = BTreeSet::new();
        for (at, pool) in self.pools.iter().enumerate() {
            if !names.insert(&pool.name) {
                report(format!("pools[{at}].name"), format!("a second pool {:?}", pool.name));
            }
        }
    }

    fn check_workers(&self, report: &mut impl FnMut(String, String)) {
        let listed = self.pools.iter().flat_map(|pool| &pool.workers);
        let total = listed.chain(self.workers.iter().map(|entry| &entry.name)).map(WorkerRange::count).sum::<u64>();
        if total > MAX_WORKERS {
            report("pools".into(), format!("{total} workers are named, at most {MAX_WORKERS} can be"));
            return;
        }
        let mut pool_of: BTreeMap<WorkerName, &PoolName> = BTreeMap::new();
        for (at, pool) in self.pools.iter().enumerate() {
            for (index, range) in pool.workers.iter().enumerate() {
                if let Some((worker, other)) =
                    range.names().find_map(|worker| pool_of.insert(worker.clone(), &pool.name).map(|was| (worker, was)))
                {
                    report(
                        format!("pools[{at}].workers[{index}]"),
                        format!("worker {worker:?} is named a second time (first in pool {other:?})"),
                    );
                }
            }
        }
        let mut entered = BTreeSet::new();
        for (at, entry) in self.workers.iter().enumerate() {
            if !self.has_pool(&entry.pool) {
                report(format!("workers[{at}].pool"), self.unknown_pool(&entry.pool));
                continue;
            }
            for worker in entry.name.names() {
                if let Some(other) = pool_of.get(&worker).filter(|other| **other != &entry.pool) {
                    let message = format!("worker {worker:?} is listed in pool {other:?}, not in {:?}", entry.pool);
                    report(format!("workers[{at}].pool"), message);
                    break;
                }
                if !entered.insert(worker.clone()) {
                    report(format!("workers[{at}].name"), format!("a second entry for worker {worker:?}"));
                    break;
                }
            }
        }
    }

    fn check_branches(&self, report: &mut impl FnMut(String, String)) {
        let mut names = BTreeSet::new();
        for (at, branch) in self.branches.iter().enumerate() {
            if branch.name.is_empty() {
                report(format!("branches[{at}].name"), "a branch's name is never empty".into());
            } else if !names.insert(&branch.name) {
                report(format!("branches[{at}].name"), format!("a second branch {:?}", branch.name));
            }
        }
    }

    fn check_builders(&self, report: &mut impl FnMut(String, String)) {
        for (at, rule) in self.builders.iter().enumerate() {
            if let Err(error) = fancy_regex::Regex::new(&rule.pattern) {
                report(
                    format!("builders[{at}].match"),
                    format!("{:?} is not a regular expression: {error}", rule.pattern),
                );
            }
            if !self.has_pool(&rule.pool) {
                report(format!("builders[{at}].pool"), self.unknown_pool(&rule.pool));
            }
        }
    }

    fn check_allocations(&self, report: &mut impl FnMut(String, String)) {
        let limits = &self.allocations;
        if limits.max_builders_per_machine == 0 {
            report(
                "allocations.max_builders_per_machine".into(),
                "at least 1, or no machine could have a builder".into(),
            );
        }
        if limits.max_shrink_percent > 100 {
            let message = format!("a percentage from 0 to 100, not {}", limits.max_shrink_percent);
            report("allocations.max_shrink_percent".into(), message);
        }
        if !(1..=MAX_KEPT_GENERATIONS).contains(&limits.keep_generations) {
            let message = format!("from 1 to {MAX_KEPT_GENERATIONS}, not {}", limits.keep_generations);
            report("allocations.keep_generations".into(), message);
        }
        let mut seen = BTreeSet::new();
        for (at, group) in limits.isolation_groups.iter().flatten().enumerate() {
            let path = format!("allocations.isolation_groups[{at}]");
            if group.is_empty() {
                report(path, "an empty text is in every name, so all builders would be one group".into());
            } else if !seen.insert(group) {
                report(path, format!("{group:?} is listed a second time"));
            }
        }
    }
}

impl Seconds {
    /// What is wrong with it as a span of time, if anything is.
    pub(super) fn problem(self) -> Option<String> {
        let is_span = self.0.is_finite() && self.0 >= 0.0;
        (!is_span).then(|| format!("a number of seconds from 0 up, not {}", self.0))
    }
}

/// To the microsecond; what is no span is none at all, and what is too long is as long as can be.
impl From<Seconds> for Duration {
    fn from(Seconds(seconds): Seconds) -> Self {
        Duration::from_micros((seconds * 1e6).round() as u64)
    }
}
