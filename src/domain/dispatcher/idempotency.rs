//! Keys under which a call may be repeated: for a day they lead to what the first one did.

use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::domain::numbered::Numbered;
use crate::domain::time::Timestamp;

/// How long a key is known, at least.
pub const KNOWN_FOR: Duration = Duration::from_secs(24 * 3_600);

/// For each new key so many old ones are forgotten at most, so that none of them waits for a day's worth.
const FORGOTTEN_AT_ONCE: usize = 4;

/// Parts of the index: a decision waits while one of them grows, never for all of it.
const PARTS: usize = 256;

/// What was done under each key of the last day.
#[derive(Debug, Clone)]
pub struct Keys<K, T> {
    /// In the order in which they will be forgotten.
    noted: Numbered<Noted<K, T>>,
    /// The number of each key.
    index: Vec<HashTable<u64>>,
    oldest: u64,
    next: u64,
}

#[derive(Debug, Clone)]
struct Noted<K, T> {
    key: K,
    done: T,
    since: Timestamp,
}

impl<K, T> Default for Keys<K, T> {
    fn default() -> Self {
        Self { noted: Numbered::default(), index: vec![HashTable::new(); PARTS], oldest: 0, next: 0 }
    }
}

impl<K: Hash + Eq, T> Keys<K, T> {
    pub fn get(&self, key: &K) -> Option<&T> {
        let hash = hash(key);
        let number = *self.index[part(hash)].find(hash, |number| self.noted(*number).key == *key)?;
        Some(&self.noted(number).done)
    }

    /// All keys with the time of each, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Timestamp, &K, &T)> {
        self.noted.iter().map(|(_, noted)| (noted.since, &noted.key, &noted.done))
    }

    /// Notes a new key, and forgets some that are older than a day.
    pub(super) fn note(&mut self, key: K, done: T, now: Timestamp) {
        self.forget_before(now.before(KNOWN_FOR));
        if self.get(&key).is_some() {
            return;
        }
        let (hash, number) = (hash(&key), self.next);
        self.noted.insert(number, Noted { key, done, since: now });
        self.next += 1;
        let noted = &self.noted;
        let rehash = |number: &u64| self::hash(&noted.get(*number).expect("what is indexed is noted").key);
        self.index[part(hash)].insert_unique(hash, number, rehash);
    }

    fn forget_before(&mut self, time: Timestamp) {
        for _ in 0..FORGOTTEN_AT_ONCE {
            let Some(old) = self.noted.get(self.oldest).filter(|noted| noted.since < time) else { return };
            let hash = hash(&old.key);
            if let Ok(indexed) = self.index[part(hash)].find_entry(hash, |number| *number == self.oldest) {
                indexed.remove();
            }
            self.noted.remove(self.oldest);
            self.oldest += 1;
        }
    }

    fn noted(&self, number: u64) -> &Noted<K, T> {
        self.noted.get(number).expect("what is indexed is noted")
    }
}

fn hash<K: Hash>(key: &K) -> u64 {
    FixedState::default().hash_one(key)
}

fn part(hash: u64) -> usize {
    // Bits that the parts themselves do not look at.
    (hash >> 32) as usize % PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_leads_to_what_was_done_first_and_is_forgotten_after_a_day() {
        let at = Timestamp::from_unix_seconds;
        let day = 24 * 3_600;
        let mut keys = Keys::default();
        for (second, key) in ["a", "b", "a", "c", "d", "e"].into_iter().enumerate() {
            keys.note(key, second, at(second as i64));
        }
        assert_eq!(keys.get(&"a"), Some(&0));
        assert_eq!(keys.iter().map(|(_, key, _)| *key).collect::<Vec<_>>(), ["a", "b", "c", "d", "e"]);
        keys.note("f", 6, at(day));
        assert_eq!(keys.get(&"a"), Some(&0), "a day is not over");
        keys.note("g", 7, at(2 * day));
        assert_eq!(["a", "b", "c", "d", "e"].map(|key| keys.get(&key)), [None, None, None, None, Some(&5)]);
        keys.note("a", 8, at(2 * day));
        assert_eq!((keys.get(&"a"), keys.get(&"e")), (Some(&8), None));
    }
}
