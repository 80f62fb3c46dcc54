//! The fleet in force: the definition, opened up for look-ups, and the workers that came by the API.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use fancy_regex::Regex;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Event;
use super::definition::{BuilderRule, Definition, Problem, WorkerClass};
use super::pause::{Pause, Pauses};
use crate::domain::author::Author;
use crate::domain::names::{BuilderName, PoolName, WorkerName};
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

/// What else is known of a worker. Many have the same, and share it.
pub type Attributes = Arc<BTreeMap<String, String>>;

/// What is known of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    pub pool: PoolName,
    pub class: WorkerClass,
    #[serde(default, skip_serializing_if = "has_none")]
    pub attributes: Attributes,
}

/// Whether a worker is to be given jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duty {
    #[default]
    Active,
    /// Ends the job that it has, and gets no other.
    Draining,
    /// Not to be trusted for now.
    Quarantined,
}

impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::Draining => "draining",
            Self::Quarantined => "quarantined",
        })
    }
}

/// A duty that somebody set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assigned {
    pub duty: Duty,
    pub author: Author,
    pub reason: Option<String>,
    pub time: Timestamp,
}

/// The workers by name (those of the farm file first, in its order) and the
/// builder rules, compiled.
///
/// Stored as what cannot be worked out again.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct Fleet {
    definition: Definition,
    /// Made by the API; they stay when the farm file changes, save where it names the same worker.
    by_api: IndexMap<WorkerName, Worker>,
    /// Of workers that are not simply active.
    duties: BTreeMap<WorkerName, Assigned>,
    pauses: Pauses,
    workers: Table<WorkerName, Worker>,
    rules: Vec<Regex>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    definition: Definition,
    by_api: IndexMap<WorkerName, Worker>,
    duties: BTreeMap<WorkerName, Assigned>,
    #[serde(default, skip_serializing_if = "Pauses::is_empty")]
    pauses: Pauses,
}

impl Fleet {
    /// These workers under this definition, to try things on; no name is matched with its rules.
    pub(in crate::domain) fn sketch(
        definition: Definition,
        workers: Table<WorkerName, Worker>,
        duties: BTreeMap<WorkerName, Assigned>,
        pauses: Pauses,
    ) -> Self {
        Self { definition, duties, pauses, workers, ..Self::default() }
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    pub fn worker(&self, name: &WorkerName) -> Option<&Worker> {
        self.workers.get(name)
    }

    pub fn workers(&self) -> impl ExactSizeIterator<Item = (&WorkerName, &Worker)> {
        self.workers.iter()
    }

    /// The worker stands in the farm file.
    pub fn is_in_file(&self, name: &WorkerName) -> bool {
        self.workers.contains_key(name) && !self.by_api.contains_key(name)
    }

    /// The duty that somebody set for a worker; `None` for one that is simply active.
    pub fn assigned(&self, name: &WorkerName) -> Option<&Assigned> {
        self.duties.get(name)
    }

    pub fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    /// The first rule that matches the name. A name on which a rule's pattern
    /// runs away (the engine has a step limit) does not match that rule.
    pub fn rule(&self, builder: &BuilderName) -> Option<&BuilderRule> {
        Some(&self.definition.builders[self.rule_index(builder)?])
    }

    /// The same, as an index into the definition's rules.
    pub(in crate::domain) fn rule_index(&self, builder: &BuilderName) -> Option<usize> {
        self.rules.iter().position(|rule| rule.is_match(builder.as_str()).unwrap_or(false))
    }

    /// The isolation group of a builder; `None` when the farm isolates nothing.
    pub fn isolation_group<'a>(&'a self, builder: &'a BuilderName) -> Option<&'a str> {
        let groups = self.definition.allocations.isolation_groups.as_ref()?;
        let listed = groups.iter().find(|group| builder.as_str().contains(group.as_str()));
        Some(listed.map_or(builder.as_str(), String::as_str))
    }

    /// A pool that workers made by the API are in cannot go, unless the file names them itself.
    pub(super) fn stranded_by(&self, definition: &Definition) -> Vec<Problem> {
        let in_file = workers_in(definition);
        let has_pool = |worker: &Worker| definition.pools.iter().any(|pool| pool.name == worker.pool);
        let stranded = self.by_api.iter().filter(|(name, worker)| !has_pool(worker) && !in_file.contains_key(*name));
        let problem = |(name, worker): (&WorkerName, &Worker)| {
            let message = format!("pool {:?} is gone, but worker {name:?}, made by the API, is in it", worker.pool);
            Problem { path: "pools".into(), message }
        };
        stranded.map(problem).collect()
    }

    /// This fleet with another farm file in force.
    pub fn redefined(&self, definition: Definition) -> Self {
        let (by_api, duties, pauses) = (self.by_api.clone(), self.duties.clone(), self.pauses.clone());
        Self::from(Saved { definition, by_api, duties, pauses })
    }

    pub(in crate::domain) fn apply(&mut self, event: &Event) {
        match event {
            Event::Defined { definition, author: _ } => *self = self.redefined(definition.as_ref().clone()),
            Event::WorkerPut { name, worker, author: _, reason: _ } => {
                self.by_api.insert(name.clone(), worker.clone());
                self.workers.insert(name.clone(), worker.clone());
            }
            Event::WorkerRemoved { name, author: _, reason: _ } => {
                self.by_api.shift_remove(name);
                self.workers.shift_remove(name);
                self.duties.remove(name);
            }
            Event::DutySet { name, duty: Duty::Active, .. } => drop(self.duties.remove(name)),
            Event::DutySet { name, duty, author, reason, time } => {
                let assigned = Assigned { duty: *duty, author: author.clone(), reason: reason.clone(), time: *time };
                self.duties.insert(name.clone(), assigned);
            }
            Event::Paused { what, author, reason, time } => {
                let pause = Pause { author: author.clone(), reason: reason.clone(), since: *time };
                self.pauses.pause(what, pause);
            }
            Event::Resumed { what, author: _, reason: _ } => self.pauses.resume(what),
        }
    }
}

fn has_none(attributes: &Attributes) -> bool {
    attributes.is_empty()
}

/// The workers that a definition names.
fn workers_in(definition: &Definition) -> Table<WorkerName, Worker> {
    let mut workers = Table::default();
    let none = Attributes::default();
    for pool in &definition.pools {
        for name in pool.workers.iter().flat_map(|range| range.names()) {
            let worker = Worker { pool: pool.name.clone(), class: pool.class, attributes: none.clone() };
            workers.insert(name, worker);
        }
    }
    for entry in &definition.workers {
        let pool_class = definition.pools.iter().find(|pool| pool.name == entry.pool).map(|pool| pool.class);
        let class = entry.class.or(pool_class).unwrap_or(WorkerClass::Inhouse);
        let attributes = Arc::new(entry.attributes.clone());
        for name in entry.name.names() {
            let worker = Worker { pool: entry.pool.clone(), class, attributes: attributes.clone() };
            workers.insert(name, worker);
        }
    }
    workers
}

impl From<Saved> for Fleet {
    fn from(saved: Saved) -> Self {
        let Saved { definition, mut by_api, mut duties, mut pauses } = saved;
        let mut workers = workers_in(&definition);
        by_api.retain(|name, _| !workers.contains_key(name));
        workers.extend(by_api.iter().map(|(name, worker)| (name.clone(), worker.clone())));
        duties.retain(|name, _| workers.contains_key(name));
        pauses.pools.retain(|name, _| definition.pools.iter().any(|pool| pool.name == *name));
        let rules = definition
            .builders
            .iter()
            .map(|rule| Regex::new(&rule.pattern).expect("a definition is checked before it is journalled"))
            .collect();
        Self { definition, by_api, duties, pauses, workers, rules }
    }
}

impl From<Fleet> for Saved {
    fn from(fleet: Fleet) -> Self {
        Self { definition: fleet.definition, by_api: fleet.by_api, duties: fleet.duties, pauses: fleet.pauses }
    }
}

/// A fleet of this definition alone.
impl From<Definition> for Fleet {
    fn from(definition: Definition) -> Self {
        Self::default().redefined(definition)
    }
}
