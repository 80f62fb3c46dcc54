//! `jacuzzi runs`: what ran where, how long, and how it ended, newest first.

mod export;

use std::io::Write;

use clap::{Args, Subcommand, value_parser};
use serde::Deserialize;

use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, print_table, printable, say};
use super::target::Target;
use crate::domain::Timestamp;
use crate::domain::dispatcher::RunResult;

/// List the runs that have ended, newest first, or export the whole history
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Runs {
    #[command(flatten)]
    list: List,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    Export(export::Export),
}

#[derive(Debug, Args)]
struct List {
    /// Only of this builder
    #[arg(long)]
    builder: Option<String>,

    /// Only on this worker
    #[arg(long)]
    worker: Option<String>,

    /// Only on workers that are in this pool now
    #[arg(long)]
    pool: Option<String>,

    /// Only those that ended like this: success, failure, exception, retry, cancelled, lost, requeued
    #[arg(long)]
    result: Option<String>,

    /// Only of this job
    #[arg(long)]
    job: Option<u64>,

    /// Only what ended at this time or later: Unix seconds, or such as 2015-06-09T12:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Only what ended before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..))]
    limit: u64,

    /// Only those behind this one, as the end of the list before says
    #[arg(long, value_name = "N")]
    before: Option<u64>,
}

/// `GET /v1/runs`
#[derive(Deserialize)]
struct Page {
    runs: Vec<Run>,
    next_before: Option<u64>,
}

#[derive(Deserialize)]
struct Run {
    job: String,
    builder: String,
    worker: Option<String>,
    attempt: u32,
    submitted_at: Timestamp,
    started_at: Option<Timestamp>,
    finished_at: Timestamp,
    result: RunResult,
    warm: bool,
    author: String,
    reason: Option<String>,
}

impl Runs {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.action {
            Some(Action::Export(export)) => export.run(globals, out),
            None => self.list.run(globals, out),
        }
    }
}

impl List {
    fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let Self { builder, worker, pool, result, job, since, until, limit, before } = self;
        let target = Target::path("/v1/runs").query("limit", limit).optional("before", before);
        let target = target.optional("builder", builder).optional("worker", worker).optional("pool", pool);
        let target = target.optional("result", result).optional("job", job);
        let answer = Client::new(globals).read(&target.optional("since", since).optional("until", until))?;
        if globals.output == Output::Json {
            return Ok(print_json(out, &answer)?);
        }
        let page: Page = decode(&answer)?;
        let headings =
            ["ENDED", "JOB", "BUILDER", "WORKER", "ATTEMPT", "WAITED", "RAN", "RESULT", "WARM", "AUTHOR", "REASON"];
        print_table(out, headings, page.runs.iter().map(row))?;
        if let Some(next) = page.next_before {
            say(format_args!("older ones: the same with --before {next}"));
        }
        Ok(())
    }
}

fn row(run: &Run) -> [String; 11] {
    let started_at = run.started_at.unwrap_or(run.finished_at);
    [
        run.finished_at.to_string(),
        run.job.clone(),
        printable(&run.builder),
        run.worker.as_deref().map(printable).unwrap_or_default(),
        run.attempt.to_string(),
        span(run.submitted_at, started_at),
        run.started_at.map(|start| span(start, run.finished_at)).unwrap_or_default(),
        run.result.to_string(),
        if run.warm { "warm".to_owned() } else { String::new() },
        printable(&run.author),
        printable(run.reason.as_deref().unwrap_or("")),
    ]
}

/// Whole seconds from one time to another.
fn span(from: Timestamp, to: Timestamp) -> String {
    format!("{} s", (to.unix_micros() - from.unix_micros()) / 1_000_000)
}
