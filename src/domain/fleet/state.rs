//! The fleet in force: the definition, opened up for look-ups.

use std::collections::BTreeMap;

use fancy_regex::Regex;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::Event;
use super::definition::{BuilderRule, Definition, WorkerClass};
use crate::domain::names::{BuilderName, PoolName, WorkerName};

/// What is known of one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    pub pool: PoolName,
    pub class: WorkerClass,
    pub attributes: BTreeMap<String, String>,
}

/// The workers by name (in file order) and the builder rules, compiled.
///
/// It is stored as its definition alone; the rest follows from that.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Definition", into = "Definition")]
pub struct Fleet {
    definition: Definition,
    workers: IndexMap<WorkerName, Worker>,
    rules: Vec<Regex>,
}

impl Fleet {
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    pub fn worker(&self, name: &WorkerName) -> Option<&Worker> {
        self.workers.get(name)
    }

    pub fn workers(&self) -> impl ExactSizeIterator<Item = (&WorkerName, &Worker)> {
        self.workers.iter()
    }

    /// The first rule that matches the name. A name on which a rule's pattern
    /// runs away (the engine has a step limit) does not match that rule.
    pub fn rule(&self, builder: &BuilderName) -> Option<&BuilderRule> {
        let at = self.rules.iter().position(|rule| rule.is_match(builder.as_str()).unwrap_or(false))?;
        Some(&self.definition.builders[at])
    }

    /// The isolation group of a builder; `None` when the farm isolates nothing.
    pub fn isolation_group<'a>(&'a self, builder: &'a BuilderName) -> Option<&'a str> {
        let groups = self.definition.allocations.isolation_groups.as_ref()?;
        let listed = groups.iter().find(|group| builder.as_str().contains(group.as_str()));
        Some(listed.map_or(builder.as_str(), String::as_str))
    }

    pub(in crate::domain) fn apply(&mut self, event: &Event) {
        match event {
            Event::Defined { definition, author: _ } => *self = Self::from(definition.as_ref().clone()),
        }
    }
}

impl From<Definition> for Fleet {
    fn from(definition: Definition) -> Self {
        let mut workers = IndexMap::new();
        for pool in &definition.pools {
            for name in pool.workers.iter().flat_map(|range| range.names()) {
                let worker = Worker { pool: pool.name.clone(), class: pool.class, attributes: BTreeMap::new() };
                workers.insert(name, worker);
            }
        }
        for entry in &definition.workers {
            let pool_class = definition.pools.iter().find(|pool| pool.name == entry.pool).map(|pool| pool.class);
            let class = entry.class.or(pool_class).unwrap_or(WorkerClass::Inhouse);
            for name in entry.name.names() {
                let worker = Worker { pool: entry.pool.clone(), class, attributes: entry.attributes.clone() };
                workers.insert(name, worker);
            }
        }
        let rules = definition
            .builders
            .iter()
            .map(|rule| Regex::new(&rule.pattern).expect("a definition is checked before it is journalled"))
            .collect();
        Self { definition, workers, rules }
    }
}

impl From<Fleet> for Definition {
    fn from(fleet: Fleet) -> Definition {
        fleet.definition
    }
}
