//! `jacuzzi runs export`: the run history as a file, for whatever reads CSV or JSON lines.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::adapters::whole_file;
use crate::cli::client::Client;
use crate::cli::globals::Globals;
use crate::cli::print::say;
use crate::cli::target::Target;

/// Export the run history, oldest first, as CSV or JSON lines
///
/// The columns are job, claim, builder, worker, branch, project, push, attempt, submitted_at,
/// started_at, finished_at, result and warm; times are in Unix seconds. A job that was cancelled
/// while it waited has neither claim nor worker nor start, and the attempt 0.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The file to make, whole or not at all; - is stdout
    #[arg(default_value = "-", value_name = "FILE")]
    to: PathBuf,

    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,

    /// Only what ended at this time or later: Unix seconds, or such as 2015-06-09T12:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Only what ended before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Csv,
    Jsonl,
}

impl Export {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let format = match self.format {
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
        };
        let target = Target::path("/v1/runs/export").query("format", format);
        let target = target.optional("since", self.since).optional("until", self.until);
        let client = Client::new(globals);
        if self.to == Path::new("-") {
            return client.download(&target, out);
        }
        let shown = self.to.display();
        let written = whole_file::replace_with(&self.to, |file| client.download(&target, file));
        written.with_context(|| format!("cannot export to {shown}"))?;
        say(format_args!("exported the run history to {shown}"));
        Ok(())
    }
}
