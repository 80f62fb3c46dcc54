//! What turns one state of the allocations into another, and how it is shown.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::print::{join, print_table};
use crate::domain::allocator::Builders;
use crate::domain::{BuilderName, WorkerName};

/// A step from one state to another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Difference {
    /// Builders whose list is new, with the whole list.
    pub set: Builders,
    /// Builders that have no list any more.
    pub unset: Vec<BuilderName>,
}

impl Difference {
    /// From `before`, as the server publishes it, to `after`, as somebody wrote it.
    pub(super) fn between(before: &Builders, after: &Builders) -> Self {
        let mut set = Builders::new();
        for (builder, list) in after {
            let mut list = list.clone();
            list.sort();
            list.dedup();
            if before.get(builder) != Some(&list) {
                set.insert(builder.clone(), list);
            }
        }
        let unset = before.keys().filter(|builder| !after.contains_key(*builder)).cloned().collect();
        Self { set, unset }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.unset.is_empty()
    }

    /// How many builders it is about.
    pub(super) fn len(&self) -> usize {
        self.set.len() + self.unset.len()
    }

    pub(super) fn apply_to(self, builders: &mut Builders) {
        builders.retain(|builder, _| !self.unset.contains(builder));
        builders.extend(self.set);
    }

    /// One row a builder, with the machines that came and went; `before` holds
    /// at least the old lists of the builders that it is about.
    pub(super) fn print(&self, before: &Builders, out: &mut dyn Write) -> io::Result<()> {
        print_table(out, ["", "BUILDER", "ADDED", "REMOVED"], self.rows(before))
    }

    fn rows(&self, before: &Builders) -> Vec<[String; 4]> {
        let mut names: Vec<&BuilderName> = self.set.keys().chain(&self.unset).collect();
        names.sort();
        let row = |builder: &BuilderName| {
            let (was, becomes) = (before.get(builder), self.set.get(builder));
            let mark = match (was, becomes) {
                (None, _) => "+",
                (_, None) => "-",
                _ => "~",
            };
            [mark.to_owned(), builder.to_string(), only_in(becomes, was), only_in(was, becomes)]
        };
        names.into_iter().map(row).collect()
    }
}

/// The machines of the first list that the second has not; both are sorted.
fn only_in(list: Option<&Vec<WorkerName>>, other: Option<&Vec<WorkerName>>) -> String {
    let in_other = |machine: &&WorkerName| other.is_some_and(|other| other.binary_search(machine).is_ok());
    join(list.into_iter().flatten().filter(|machine| !in_other(machine)))
}
