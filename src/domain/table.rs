//! Hash tables that are quick, and the same in every run: their order is that of insertions and removals alone.

use foldhash::fast::FixedState;
use indexmap::IndexMap;

/// A table whose hashes are no secret: what names and numbers come in is up to those who hold a token.
pub type Table<K, V> = IndexMap<K, V, FixedState>;
