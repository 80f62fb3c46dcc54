//! Keys under which a call may be repeated: for a day they lead to what the first one did.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

/// How long a key is known.
pub const KNOWN_FOR: Duration = Duration::from_secs(24 * 3_600);

/// What was done under each key of the last day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(Timestamp, K, T)>", into = "Vec<(Timestamp, K, T)>")]
#[serde(bound(serialize = "K: Ord + Clone + Serialize, T: Clone + Serialize"))]
#[serde(bound(deserialize = "K: Ord + Clone + Deserialize<'de>, T: Deserialize<'de>"))]
pub struct Keys<K: Ord, T> {
    done: BTreeMap<K, T>,
    /// In the order in which they will be forgotten.
    since: VecDeque<(Timestamp, K)>,
}

impl<K: Ord, T> Default for Keys<K, T> {
    fn default() -> Self {
        Self { done: BTreeMap::new(), since: VecDeque::new() }
    }
}

impl<K: Ord + Clone, T> Keys<K, T> {
    pub fn get(&self, key: &K) -> Option<&T> {
        self.done.get(key)
    }

    /// Notes a new key, and forgets those that are older than a day.
    pub(super) fn note(&mut self, key: K, done: T, now: Timestamp) {
        while let Some((since, _)) = self.since.front()
            && *since < now.before(KNOWN_FOR)
            && let Some((_, old)) = self.since.pop_front()
        {
            self.done.remove(&old);
        }
        if self.done.insert(key.clone(), done).is_none() {
            self.since.push_back((now, key));
        }
    }
}

impl<K: Ord + Clone, T> From<Vec<(Timestamp, K, T)>> for Keys<K, T> {
    fn from(saved: Vec<(Timestamp, K, T)>) -> Self {
        let mut keys = Self::default();
        for (since, key, done) in saved {
            keys.since.push_back((since, key.clone()));
            keys.done.insert(key, done);
        }
        keys
    }
}

impl<K: Ord, T> From<Keys<K, T>> for Vec<(Timestamp, K, T)> {
    fn from(mut keys: Keys<K, T>) -> Self {
        let saved = keys.since.into_iter().filter_map(|(since, key)| {
            let done = keys.done.remove(&key)?;
            Some((since, key, done))
        });
        saved.collect()
    }
}
