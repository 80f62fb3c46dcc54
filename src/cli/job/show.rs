//! How jobs are shown: many as rows, one with all that is known of it.

use std::io::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cli::client::decode;
use crate::cli::globals::Output;
use crate::cli::print::{print_json, print_table, printable, say};
use crate::domain::{BuilderName, Timestamp, WorkerName};

/// `GET /v1/jobs`
#[derive(Deserialize)]
struct Page {
    jobs: Vec<Shown>,
    next_after: Option<String>,
}

/// A job that has not ended.
#[derive(Deserialize)]
struct Shown {
    id: String,
    state: String,
    builder: BuilderName,
    class: String,
    priority: i64,
    submitted_at: Timestamp,
    branch: Option<String>,
    project: Option<String>,
    push: Option<String>,
    attempts: u32,
    running: Option<Run>,
    payload: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Run {
    claim: String,
    worker: WorkerName,
    session: String,
    started_at: Timestamp,
}

/// What is known of a job even when it has ended.
#[derive(Deserialize)]
struct Brief {
    id: String,
    state: String,
}

/// One row a job.
pub(in crate::cli) fn page(answer: &[u8], output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    if output == Output::Json {
        return Ok(print_json(out, answer)?);
    }
    let page: Page = decode(answer)?;
    let row = |job: &Shown| {
        [
            printable(&job.id),
            printable(&job.state),
            job.builder.to_string(),
            printable(&job.class),
            job.priority.to_string(),
            job.submitted_at.to_string(),
            job.attempts.to_string(),
            job.running.as_ref().map(|run| run.worker.to_string()).unwrap_or_default(),
        ]
    };
    let headings = ["JOB", "STATE", "BUILDER", "CLASS", "PRIORITY", "SUBMITTED", "ATTEMPTS", "WORKER"];
    print_table(out, headings, page.jobs.iter().map(row))?;
    if let Some(next) = page.next_after {
        say(format_args!("more: the same with --after {}", printable(&next)));
    }
    Ok(())
}

/// One row a fact.
pub(super) fn all_of(answer: &[u8], output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    if output == Output::Json {
        return Ok(print_json(out, answer)?);
    }
    let Brief { id, state } = decode(answer)?;
    let heading = ["JOB", &printable(&id)];
    if state == "ended" {
        return Ok(print_table(out, heading, [["state".to_owned(), state]])?);
    }
    let job: Shown = decode(answer)?;
    let text = |text: &Option<String>| printable(text.as_deref().unwrap_or(""));
    let run = |fact: &dyn Fn(&Run) -> String| job.running.as_ref().map(fact).unwrap_or_default();
    let facts = [
        ("state", printable(&job.state)),
        ("builder", job.builder.to_string()),
        ("class", printable(&job.class)),
        ("priority", job.priority.to_string()),
        ("submitted", job.submitted_at.to_string()),
        ("branch", text(&job.branch)),
        ("project", text(&job.project)),
        ("push", text(&job.push)),
        ("attempts", job.attempts.to_string()),
        ("worker", run(&|run| run.worker.to_string())),
        ("claim", run(&|run| printable(&run.claim))),
        ("session", run(&|run| printable(&run.session))),
        ("started", run(&|run| run.started_at.to_string())),
        ("payload", job.payload.as_ref().map(|json| printable(json.get())).unwrap_or_default()),
    ];
    let rows = facts.into_iter().filter(|(_, value)| !value.is_empty());
    Ok(print_table(out, heading, rows.map(|(fact, value)| [fact.to_owned(), value]))?)
}
