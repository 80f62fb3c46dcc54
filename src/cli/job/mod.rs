//! `jacuzzi job`: submit a job, look at it, cancel it, and put running jobs back.

pub(super) mod show;

use std::io::Write;

use anyhow::Context;
use clap::{ArgGroup, Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, print_lines, print_table, printable, say};
use super::target::Target;
use crate::domain::{BuilderName, PoolName, Timestamp, WorkerName};

/// Submit jobs, look at them, cancel them, put them back
#[derive(Debug, Args)]
pub(super) struct Job {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Submit a job, and print its id
    Submit(Submit),
    /// Show all that is known of a job
    Show { id: u64 },
    /// Cancel a job, and its run if it has one
    Cancel {
        id: u64,
        /// Why, for the audit log
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Change nothing: only show the job
        #[arg(long)]
        dry_run: bool,
    },
    /// Put running jobs back, with their age: those that fit all that is given
    Requeue(Requeue),
}

/// As in `POST /v1/jobs`
#[derive(Debug, Args, Serialize)]
struct Submit {
    #[arg(value_parser = BuilderName::parse)]
    builder: BuilderName,

    /// Smaller is more important [default: that of the branch, or of the farm]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i64>,

    /// What is compared before any priority [default: as the builder's rule says]
    #[arg(long, value_parser = ["release", "normal", "idle"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,

    /// Since when it waits: Unix seconds or RFC 3339 [default: now]
    #[arg(long, value_name = "TIME", value_parser = Timestamp::parse)]
    #[serde(skip_serializing_if = "Option::is_none")]
    submitted_at: Option<Timestamp>,

    /// The branch that it is of
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,

    /// A second job with this key, within a day, is the first one
    #[arg(long, value_name = "KEY")]
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,

    /// JSON for whoever runs it
    #[arg(long, value_name = "JSON", value_parser = json)]
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Box<RawValue>>,
}

/// As in `POST /v1/jobs/requeue`
#[derive(Debug, Args, Serialize)]
#[command(group = ArgGroup::new("which").required(true).multiple(true).args(["builder", "pool", "worker", "jobs", "all"]))]
struct Requeue {
    /// Only those of this builder
    #[arg(long, value_parser = BuilderName::parse)]
    #[serde(skip_serializing_if = "Option::is_none")]
    builder: Option<BuilderName>,

    /// Only those on workers of this pool
    #[arg(long, value_parser = PoolName::parse)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pool: Option<PoolName>,

    /// Only that on this worker
    #[arg(long, value_parser = WorkerName::parse)]
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<WorkerName>,

    /// Only this job; can be given several times
    #[arg(long = "job", value_name = "ID")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    jobs: Vec<String>,

    /// All jobs that run
    #[arg(long, conflicts_with_all = ["builder", "pool", "worker", "jobs"])]
    all: bool,

    /// Why, for the audit log
    #[arg(long, value_name = "TEXT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,

    /// Change nothing: only show which jobs would be put back
    #[arg(long)]
    #[serde(skip)]
    dry_run: bool,
}

fn json(text: &str) -> serde_json::Result<Box<RawValue>> {
    serde_json::from_str(text)
}

impl Job {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        match self.action {
            Action::Submit(submit) => submit.run(&client, globals, out),
            Action::Show { id } => show::all_of(&client.read(&job(id))?, globals.output, out),
            Action::Cancel { id, reason: _, dry_run: true } => {
                show::all_of(&client.read(&job(id))?, globals.output, out)?;
                say(format_args!("job {id} would be cancelled; nothing is changed (dry run)"));
                Ok(())
            }
            Action::Cancel { id, reason, dry_run: false } => {
                client.delete(&job(id).optional("reason", reason))?;
                say(format_args!("job {id} is cancelled"));
                Ok(())
            }
            Action::Requeue(requeue) => requeue.run(&client, globals, out),
        }
    }
}

fn job(id: u64) -> Target {
    Target::path("/v1/jobs").component(&id.to_string())
}

impl Submit {
    fn run(&self, client: &Client, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        #[derive(Deserialize)]
        struct Answer {
            jobs: Vec<Accepted>,
        }
        #[derive(Deserialize)]
        struct Accepted {
            id: String,
            #[serde(default)]
            known: bool,
            #[serde(default)]
            clamped: bool,
        }
        let answer = client.post_json(&Target::path("/v1/jobs"), self, None)?;
        let Answer { jobs } = decode(&answer)?;
        let accepted = jobs.first().context("the server accepted no job")?;
        if accepted.known {
            say("it was submitted before with this key; nothing is changed");
        }
        if accepted.clamped {
            say("its time lies in the future; it waits from now on");
        }
        match globals.output {
            Output::Json => Ok(print_json(out, &answer)?),
            Output::Table => Ok(print_lines(out, &[printable(&accepted.id)])?),
        }
    }
}

impl Requeue {
    fn run(&self, client: &Client, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        #[derive(Deserialize)]
        struct Answer {
            jobs: Vec<PutBack>,
        }
        #[derive(Deserialize)]
        struct PutBack {
            id: String,
            builder: BuilderName,
            worker: WorkerName,
        }
        let target = Target::path("/v1/jobs/requeue").query("dry_run", self.dry_run);
        let answer = client.post_json(&target, self, None)?;
        let Answer { jobs } = decode(&answer)?;
        let count = jobs.len();
        match self.dry_run {
            true => say(format_args!("{count} job(s) would be put back; nothing is changed (dry run)")),
            false => say(format_args!("{count} job(s) wait again")),
        }
        if globals.output == Output::Json {
            return Ok(print_json(out, &answer)?);
        }
        let row = |job: &PutBack| [printable(&job.id), job.builder.to_string(), job.worker.to_string()];
        Ok(print_table(out, ["JOB", "BUILDER", "WORKER"], jobs.iter().map(row))?)
    }
}
