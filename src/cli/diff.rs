//! `jacuzzi diff`: what changed between two generations, by builder.

use std::io::Write;

use clap::Args;

use super::answers::Delta;
use super::client::{Client, Target, decode};
use super::globals::{Globals, Output};
use super::print::{join, print_json, print_table, say};
use crate::domain::allocator::Builders;
use crate::domain::{BuilderName, WorkerName};

/// Show what changed between two generations, by builder
///
/// The first column: + has an allocation now, - has none any more, ~ has another one.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// The generation to compare with; TO may be the older one
    from: u64,
    /// [default: the generation in force]
    to: Option<u64>,
}

impl Diff {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        let since = |from: u64| Target::path("/v1/allocations").query("since", from);
        let target = since(self.from);
        let answer = client.read(&self.to.map_or(target.clone(), |to| target.query("until", to)))?;
        if globals.output == Output::Json {
            return Ok(print_json(out, &answer)?);
        }
        let forward: Delta = decode(&answer)?;
        // A delta holds whole new lists; the way back holds the old ones.
        let to = self.to.unwrap_or(forward.generation.0);
        let back: Delta = decode(&client.read(&since(to).query("until", self.from))?)?;
        let rows = changes(&forward, &back.set);
        if rows.is_empty() {
            say(format_args!("nothing changed from generation {} to {to}", self.from));
        }
        Ok(print_table(out, ["", "BUILDER", "ADDED", "REMOVED"], rows)?)
    }
}

/// One row a builder, sorted. `before`: the old lists of the builders that had one.
fn changes(forward: &Delta, before: &Builders) -> Vec<[String; 4]> {
    let mut names: Vec<&BuilderName> = forward.set.keys().chain(&forward.unset).collect();
    names.sort();
    let row = |builder: &BuilderName| {
        let (was, becomes) = (before.get(builder), forward.set.get(builder));
        let mark = match (was, becomes) {
            (None, _) => "+",
            (_, None) => "-",
            _ => "~",
        };
        [mark.to_owned(), builder.to_string(), only_in(becomes, was), only_in(was, becomes)]
    };
    names.into_iter().map(row).collect()
}

/// The machines of the first list that the second has not; both are sorted.
fn only_in(list: Option<&Vec<WorkerName>>, other: Option<&Vec<WorkerName>>) -> String {
    let in_other = |machine: &&WorkerName| other.is_some_and(|other| other.binary_search(machine).is_ok());
    join(list.into_iter().flatten().filter(|machine| !in_other(machine)))
}
