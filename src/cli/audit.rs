//! `jacuzzi audit`: every change that was made: who, when, what and why, newest first.

use std::io::Write;

use clap::{Args, value_parser};
use serde::Deserialize;

use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, print_table, printable, say};
use super::target::Target;
use crate::domain::Timestamp;

/// List who changed what, newest first
#[derive(Debug, Args)]
pub(super) struct Audit {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..))]
    limit: u64,

    /// Only those before this entry
    #[arg(long, value_name = "ENTRY")]
    before: Option<u64>,
}

/// `GET /v1/audit`
#[derive(Deserialize)]
struct Page {
    entries: Vec<Entry>,
    next_before: Option<u64>,
}

#[derive(Deserialize)]
struct Entry {
    seq: u64,
    time: Timestamp,
    author: String,
    /// Such as `worker.drain`.
    action: String,
    target: String,
    reason: Option<String>,
    detail: String,
}

impl Audit {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let target = Target::path("/v1/audit").query("limit", self.limit).optional("before", self.before);
        let answer = Client::new(globals).read_with_token(&target)?;
        if globals.output == Output::Json {
            return Ok(print_json(out, &answer)?);
        }
        let page: Page = decode(&answer)?;
        let headings = ["ENTRY", "TIME", "AUTHOR", "ACTION", "TARGET", "DETAIL", "REASON"];
        print_table(out, headings, page.entries.iter().map(row))?;
        if let Some(next) = page.next_before {
            say(format_args!("older ones: jacuzzi audit --before {next}"));
        }
        Ok(())
    }
}

fn row(entry: &Entry) -> [String; 7] {
    [
        entry.seq.to_string(),
        entry.time.to_string(),
        printable(&entry.author),
        printable(&entry.action),
        printable(&entry.target),
        printable(&entry.detail),
        printable(entry.reason.as_deref().unwrap_or("")),
    ]
}
