//! Hash tables that are quick, and the same in every run: their order is that of insertions and removals alone.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use indexmap::IndexMap;

/// A table whose hashes are no secret: what names and numbers come in is up to those who hold a token.
pub type Table<K, V> = IndexMap<K, V, FixedState>;

const PARTS: usize = 256;

/// A very large table in parts, so that no insertion ever has to move more
/// than one of them: a decision must not wait while a million jobs move house.
#[derive(Debug, Clone)]
pub struct Spread<K, V> {
    parts: Vec<Table<K, V>>,
    length: usize,
}

impl<K, V> Default for Spread<K, V> {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| Table::default()).collect(), length: 0 }
    }
}

impl<K: Hash + Eq, V> Spread<K, V> {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.parts[part(key)].get(key)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.parts[part(key)].get_mut(key)
    }

    /// Answers with what was there under the key.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let was = self.parts[part(&key)].insert(key, value);
        self.length += usize::from(was.is_none());
        was
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let was = self.parts[part(key)].swap_remove(key);
        self.length -= usize::from(was.is_some());
        was
    }

    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.parts.iter().flatten()
    }
}

fn part<K: Hash>(key: &K) -> usize {
    // Bits that the parts themselves do not look at.
    (FixedState::default().hash_one(key) >> 32) as usize % PARTS
}
