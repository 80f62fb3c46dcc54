//! `jacuzzi explain`: why a job waits and what would start it now, why a worker is idle, where a builder stands.

use std::fmt::{self, Display};
use std::io::Write;

use clap::{Args, Subcommand};
use serde::Deserialize;

use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, printable};
use super::target::Target;
use crate::domain::{BuilderName, Timestamp, WorkerName};

/// Explain why a job waits, why a worker is idle, or where a builder stands
#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Its place, who goes first, what every worker does instead, and the smallest change that would start it now
    Job { id: u64 },
    /// What it does, and why none of the jobs that wait runs on it
    Worker {
        #[arg(value_parser = WorkerName::parse)]
        name: WorkerName,
    },
    /// Whose workers it has, what waits for them, and why its next job does not start
    Builder {
        #[arg(value_parser = BuilderName::parse)]
        name: BuilderName,
    },
}

impl Explain {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let target = match &self.what {
            What::Job { id } => Target::path("/v1/jobs").component(&id.to_string()).component("explain"),
            What::Worker { name } => Target::path("/v1/explain").query("worker", name),
            What::Builder { name } => Target::path("/v1/explain").query("builder", name),
        };
        let answer = Client::new(globals).read(&target)?;
        if globals.output == Output::Json {
            return Ok(print_json(out, &answer)?);
        }
        match self.what {
            What::Job { .. } => write!(out, "{}", decode::<Job>(&answer)?)?,
            What::Worker { .. } => write!(out, "{}", decode::<Worker>(&answer)?)?,
            What::Builder { .. } => write!(out, "{}", decode::<Builder>(&answer)?)?,
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Job {
    job: String,
    state: String,
    builder: Option<String>,
    reason: String,
    place: Option<u64>,
    ahead: Option<Ahead>,
    #[serde(default)]
    workers: Vec<Group>,
    start: Option<Estimate>,
    change: Option<Change>,
}

#[derive(Deserialize)]
struct Ahead {
    count: u64,
    jobs: Vec<String>,
}

#[derive(Deserialize)]
struct Group {
    reason: String,
    count: u64,
    workers: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    name: String,
    detail: Option<String>,
}

#[derive(Deserialize)]
struct Estimate {
    at: Timestamp,
    because: String,
}

#[derive(Deserialize)]
struct Change {
    reads: String,
    starts_on: Option<String>,
}

#[derive(Deserialize)]
struct Worker {
    worker: String,
    pool: String,
    class: String,
    state: String,
    reason: String,
    builders: Vec<String>,
    next: Option<String>,
    waiting: Vec<Waiting>,
}

#[derive(Deserialize)]
struct Waiting {
    reason: String,
    jobs: u64,
    builders: Vec<String>,
}

#[derive(Deserialize)]
struct Builder {
    builder: String,
    pool: String,
    rule: String,
    allocation: Option<Vec<String>>,
    reason: String,
    mean_run: Option<f64>,
    next: Option<Job>,
}

/// Foreign texts in one line, and how many there are beyond them.
fn listed<'a>(texts: impl IntoIterator<Item = &'a String>, all: u64) -> String {
    let texts: Vec<_> = texts.into_iter().map(|text| printable(text)).collect();
    match all.saturating_sub(texts.len() as u64) {
        0 => texts.join(", "),
        more => format!("{} and {more} more", texts.join(", ")),
    }
}

impl Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.builder.as_deref().map(|builder| format!(" of {}", printable(builder))).unwrap_or_default();
        writeln!(f, "job {}{of} is {}: {}", printable(&self.job), printable(&self.state), printable(&self.reason))?;
        if let (Some(place), Some(Ahead { count, jobs })) = (self.place, &self.ahead) {
            let first = if *count == 0 { String::new() } else { format!(": {}", listed(jobs, *count)) };
            writeln!(f, "place: {place} of those with the same worker set; {count} go first{first}")?;
        }
        for Group { reason, count, workers } in &self.workers {
            let named: Vec<_> = workers.iter().map(Member::to_string).collect();
            writeln!(f, "workers: {count} {}: {}", printable(reason), listed(&named, *count))?;
        }
        if let Some(Estimate { at, because }) = &self.start {
            writeln!(f, "start: expected at {at}, since {}", printable(because))?;
        }
        match &self.change {
            Some(Change { reads, starts_on }) => {
                let on = starts_on.as_deref().map(|worker| format!(" (on {})", printable(worker))).unwrap_or_default();
                writeln!(f, "would start it now: {}{on}", printable(reads))
            }
            None if self.state == "pending" => {
                writeln!(f, "would start it now: nothing small; more than ten workers or changes are missing")
            }
            None => Ok(()),
        }
    }
}

impl Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => write!(f, "{} ({detail})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (worker, state, reason) = (printable(&self.worker), printable(&self.state), printable(&self.reason));
        writeln!(f, "worker {worker} ({}, pool {}) is {state}: {reason}", self.class, printable(&self.pool))?;
        if !self.builders.is_empty() {
            writeln!(f, "dedicated to: {}", listed(&self.builders, 0))?;
        }
        if let Some(next) = &self.next {
            writeln!(f, "next: job {}, the most important one that could run on it", printable(next))?;
        }
        for Waiting { reason, jobs, builders } in &self.waiting {
            writeln!(f, "waiting: {jobs} jobs: {}: {}", printable(reason), listed(builders, 0))?;
        }
        Ok(())
    }
}

impl Display for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "builder {}: {}", printable(&self.builder), printable(&self.reason))?;
        writeln!(f, "rule: {} (pool {})", printable(&self.rule), printable(&self.pool))?;
        match &self.allocation {
            Some(workers) => writeln!(f, "its own workers: {}", listed(workers, 0))?,
            None => writeln!(f, "its own workers: none; it uses those of the pool that no builder has")?,
        }
        if let Some(seconds) = self.mean_run {
            writeln!(f, "runs: {seconds:.0} s on average")?;
        }
        self.next.as_ref().map_or(Ok(()), |next| write!(f, "{next}"))
    }
}
