//! `jacuzzi generations`: who changed the allocations, when and why, newest first.

use std::io::Write;

use clap::{Args, value_parser};

use super::answers::{History, HistoryEntry};
use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, print_table, printable, say};
use super::target::Target;

/// List the generations, newest first
#[derive(Debug, Args)]
pub(super) struct Generations {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..))]
    limit: u64,

    /// Only those before this generation
    #[arg(long, value_name = "GENERATION")]
    before: Option<u64>,
}

impl Generations {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let target = Target::path("/v1/allocations/history").query("limit", self.limit).optional("before", self.before);
        let answer = Client::new(globals).read(&target)?;
        if globals.output == Output::Json {
            return Ok(print_json(out, &answer)?);
        }
        let history: History = decode(&answer)?;
        let headings = ["GENERATION", "TIME", "ADDED", "REMOVED", "AUTHOR", "REASON"];
        print_table(out, headings, history.generations.iter().map(row))?;
        if let Some(next) = history.next_before {
            say(format_args!("older ones: jacuzzi generations --before {next}"));
        }
        Ok(())
    }
}

fn row(entry: &HistoryEntry) -> [String; 6] {
    [
        entry.generation.to_string(),
        entry.time.to_string(),
        format!("+{}", entry.added),
        format!("-{}", entry.removed),
        printable(&entry.author),
        printable(entry.reason.as_deref().unwrap_or("")),
    ]
}
