//! An ordered map whose copies share what they have in common: a new generation costs what it changes.

use std::borrow::Borrow;
use std::sync::Arc;

/// Entries in one chunk at most; a full one is cut in two.
const CHUNK: usize = 128;

type Chunk<K, V> = Arc<Vec<(K, V)>>;

/// Sorted by key. A clone is cheap, and independent.
///
/// Two levels are enough: a hundred thousand entries are about a thousand
/// chunks, and a change copies one chunk and the list of chunks.
#[derive(Debug, Clone)]
pub struct OrderedMap<K, V> {
    /// None of them empty.
    chunks: Vec<Chunk<K, V>>,
    len: usize,
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<K: Ord + Clone, V: Clone> OrderedMap<K, V> {
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let chunk = &self.chunks[self.chunk_of(key)?];
        let at = chunk.binary_search_by(|(other, _)| other.borrow().cmp(key)).ok()?;
        Some(&chunk[at].1)
    }

    /// In the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.chunks.iter().flat_map(|chunk| chunk.iter().map(|(key, value)| (key, value)))
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn insert(&mut self, key: K, value: V) {
        let Some(at) = self.chunk_of(&key) else {
            // Before all others, or the very first.
            match self.chunks.first_mut() {
                Some(first) => Arc::make_mut(first).insert(0, (key, value)),
                None => self.chunks.push(Arc::new(vec![(key, value)])),
            }
            self.len += 1;
            return self.cut(0);
        };
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        match chunk.binary_search_by(|(other, _)| other.cmp(&key)) {
            Ok(found) => chunk[found].1 = value,
            Err(place) => {
                chunk.insert(place, (key, value));
                self.len += 1;
                self.cut(at);
            }
        }
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        let Some(at) = self.chunk_of(key) else { return };
        let Ok(found) = self.chunks[at].binary_search_by(|(other, _)| other.borrow().cmp(key)) else { return };
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        chunk.remove(found);
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
    }

    /// The only chunk that can hold the key; `None` when the key is before all of them.
    fn chunk_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.chunks.partition_point(|chunk| chunk[0].0.borrow() <= key).checked_sub(1)
    }

    fn cut(&mut self, at: usize) {
        if self.chunks[at].len() > CHUNK {
            let upper = Arc::make_mut(&mut self.chunks[at]).split_off(CHUNK / 2);
            self.chunks.insert(at + 1, Arc::new(upper));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map_and_its_copies_are_independent(
            changes in prop::collection::vec((0u16..600, prop::option::weighted(0.7, any::<u8>())), 0..2000),
        ) {
            let (mut model, mut map) = (BTreeMap::new(), OrderedMap::default());
            let mut copies = Vec::new();
            for (at, (key, value)) in changes.into_iter().enumerate() {
                match value {
                    Some(value) => {
                        model.insert(key, value);
                        map.insert(key, value);
                    }
                    None => {
                        model.remove(&key);
                        map.remove(&key);
                    }
                }
                prop_assert_eq!(map.get(&key), model.get(&key));
                if at % 400 == 0 {
                    copies.push((map.clone(), model.clone()));
                }
            }
            copies.push((map, model));
            for (map, model) in copies {
                prop_assert_eq!(map.len(), model.len());
                prop_assert!(map.iter().eq(model.iter()));
            }
        }
    }
}
