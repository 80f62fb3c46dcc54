//! A configuration as a tree of values that remember where they were written, whatever format they came in.

use std::fmt;

use indexmap::IndexMap;

use super::fault::Place;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Array(Vec<Node>),
    /// In the order of the file.
    Table(IndexMap<String, Entry>),
    /// What no key takes (a date, a null, a number beyond 64 bits), as it is called in a message.
    Other(String),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub key_place: Place,
    pub node: Node,
}

impl Node {
    /// The place of a key such as `pools[0].class`, or of the nearest thing around it that was written.
    pub(super) fn place_of(&self, path: &str) -> &Place {
        let mut node = self;
        for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
            let next = match &node.value {
                Value::Table(entries) => entries.get(step).map(|entry| &entry.node),
                Value::Array(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)),
                _ => None,
            };
            let Some(next) = next else { break };
            node = next;
        }
        &node.place
    }
}

/// As a message names it: short, so that a long list does not drown what is wrong with it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "the text {text:?}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Array(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Other(name) => f.write_str(name),
        }
    }
}
