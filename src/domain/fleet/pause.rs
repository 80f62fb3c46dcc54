//! Pools and builders of which nothing starts until somebody lets them go on.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::author::Author;
use crate::domain::names::{BuilderName, PoolName};
use crate::domain::time::Timestamp;

/// The most builders that can be paused at once; who pauses more means a pool.
pub const MAX_PAUSED_BUILDERS: usize = 10_000;

/// What can be paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pausable {
    /// All builders that the pool runs.
    Pool(PoolName),
    Builder(BuilderName),
}

impl fmt::Display for Pausable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(name) => write!(f, "pool {name}"),
            Self::Builder(name) => write!(f, "builder {name}"),
        }
    }
}

/// Who paused something, when and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    pub author: Author,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub since: Timestamp,
}

/// All that is paused.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pauses {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<PoolName, Pause>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub builders: BTreeMap<BuilderName, Pause>,
}

impl Pauses {
    pub fn is_empty(&self) -> bool {
        self.pools.is_empty() && self.builders.is_empty()
    }

    pub fn get(&self, what: &Pausable) -> Option<&Pause> {
        match what {
            Pausable::Pool(name) => self.pools.get(name),
            Pausable::Builder(name) => self.builders.get(name),
        }
    }

    /// Why nothing of a builder starts, which this pool runs; what is said of the builder itself comes first.
    pub fn of(&self, builder: &BuilderName, pool: &PoolName) -> Option<(Pausable, &Pause)> {
        let of_builder = || Some((Pausable::Builder(builder.clone()), self.builders.get(builder)?));
        let of_pool = || Some((Pausable::Pool(pool.clone()), self.pools.get(pool)?));
        if self.is_empty() { None } else { of_builder().or_else(of_pool) }
    }

    pub(super) fn pause(&mut self, what: &Pausable, pause: Pause) {
        match what {
            Pausable::Pool(name) => drop(self.pools.insert(name.clone(), pause)),
            Pausable::Builder(name) => drop(self.builders.insert(name.clone(), pause)),
        }
    }

    pub(super) fn resume(&mut self, what: &Pausable) {
        match what {
            Pausable::Pool(name) => drop(self.pools.remove(name)),
            Pausable::Builder(name) => drop(self.builders.remove(name)),
        }
    }
}
