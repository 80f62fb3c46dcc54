//! Keys under which a call may be repeated: for a day they lead to what the first one did.

use std::collections::VecDeque;
use std::hash::Hash;
use std::time::Duration;

use crate::domain::table::Spread;
use crate::domain::time::Timestamp;

/// How long a key is known, at least.
pub const KNOWN_FOR: Duration = Duration::from_secs(24 * 3_600);

/// For each new key so many old ones are forgotten at most, so that none of them waits for a day's worth.
const FORGOTTEN_AT_ONCE: usize = 4;

/// What was done under each key of the last day.
#[derive(Debug, Clone)]
pub struct Keys<K, T> {
    done: Spread<K, T>,
    /// In the order in which they will be forgotten.
    since: VecDeque<(Timestamp, K)>,
}

impl<K, T> Default for Keys<K, T> {
    fn default() -> Self {
        Self { done: Spread::default(), since: VecDeque::new() }
    }
}

impl<K: Hash + Eq + Clone, T> Keys<K, T> {
    pub fn get(&self, key: &K) -> Option<&T> {
        self.done.get(key)
    }

    /// All keys with the time of each, the oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Timestamp, &K, &T)> {
        self.since.iter().map(|(since, key)| (*since, key, self.done.get(key).expect("a key that is not forgotten")))
    }

    /// Notes a new key, and forgets some that are older than a day.
    pub(super) fn note(&mut self, key: K, done: T, now: Timestamp) {
        for _ in 0..FORGOTTEN_AT_ONCE {
            if let Some((_, old)) = self.since.pop_front_if(|(since, _)| *since < now.before(KNOWN_FOR)) {
                self.done.remove(&old);
            }
        }
        if self.done.insert(key.clone(), done).is_none() {
            self.since.push_back((now, key));
        }
    }
}
