//! `jacuzzi journal`: check and read the journal of a data folder, also while its server runs.

use std::io::Write;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::value::RawValue;

use super::globals::Globals;
use super::print::say;
use crate::adapters::data_folder::journal_path;
use crate::adapters::sqlite::SqliteJournal;
use crate::domain::{Event, Farm, Timestamp};
use crate::engine::decode;
use crate::ports::{Fault, Journal as _, Record};

/// Check or read the journal of a data folder (--data-dir), also while its server runs
#[derive(Debug, Args)]
pub(super) struct Journal {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read every record, check its checksum, and replay it
    Verify,
    /// Print the last records as JSON lines
    Tail {
        /// How many
        #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
        lines: usize,
    },
    /// Print all records as JSON lines
    Export {
        /// Only those behind this one
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        after: u64,
    },
}

/// A record as a line.
#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    time: Timestamp,
    body: &'a RawValue,
}

impl Journal {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut journal = open(globals)?;
        match self.action {
            Action::Verify => verify(&mut journal),
            Action::Tail { lines } => {
                let before = journal.last_seq()?.saturating_sub(lines as u64);
                journal.replay(before, &mut |record| print(out, &record))
            }
            Action::Export { after } => journal.replay(after, &mut |record| print(out, &record)),
        }
    }
}

/// The journal of a data folder, to be read.
pub(super) fn open(globals: &Globals) -> Result<SqliteJournal, Fault> {
    SqliteJournal::open_to_read(&journal_path(&globals.data_folder()))
}

/// Reads all of it the way that a start without a snapshot would.
fn verify(journal: &mut SqliteJournal) -> anyhow::Result<()> {
    let damage = journal.damage()?;
    if !damage.is_empty() {
        bail!(
            "SQLite finds the file damaged: {}. `jacuzzi restore` makes a new data folder of a backup",
            damage.join("; ")
        );
    }
    let (mut farm, mut count) = (Farm::default(), 0);
    journal.replay(0, &mut |record| {
        farm.apply(&decode::<Event>(&record)?);
        count += 1;
        Ok(())
    })?;
    let generation = farm.allocations.generation();
    say(format_args!("{count} records are sound; they lead to generation {generation}"));
    Ok(())
}

fn print(out: &mut dyn Write, record: &Record) -> Result<(), Fault> {
    let body = serde_json::from_str(&record.body).with_context(|| format!("record {} is not JSON", record.seq))?;
    serde_json::to_writer(&mut *out, &Line { seq: record.seq, time: record.time, body })?;
    Ok(writeln!(out)?)
}
