//! How workers are shown: many as rows, one with all that is known of it.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Deserialize;

use crate::cli::client::decode;
use crate::cli::globals::Output;
use crate::cli::print::{join, print_json, print_table, printable, say};
use crate::domain::{BuilderName, PoolName, Timestamp, WorkerName};

/// `GET /v1/workers`
#[derive(Deserialize)]
struct Page {
    workers: Vec<Shown>,
    next_after: Option<WorkerName>,
}

/// `GET /v1/workers/<name>`
#[derive(Deserialize)]
pub(super) struct Shown {
    pub name: WorkerName,
    pool: PoolName,
    class: String,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    state: String,
    reason: Option<String>,
    author: Option<String>,
    since: Option<Timestamp>,
    /// The end of a quarantine that it is in by itself.
    until: Option<Timestamp>,
    running: Option<Run>,
    /// `file` or `api`.
    from: String,
    builders: Vec<BuilderName>,
}

#[derive(Deserialize)]
struct Run {
    job: String,
    started_at: Timestamp,
}

impl Shown {
    fn attributes(&self) -> String {
        let pairs: Vec<_> = self.attributes.iter().map(|(key, value)| format!("{key}={value}")).collect();
        printable(&pairs.join(", "))
    }

    /// Why it is in its state.
    fn reason(&self) -> String {
        printable(self.reason.as_deref().unwrap_or(""))
    }
}

/// One row a worker.
pub(super) fn page(answer: &[u8], output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    if output == Output::Json {
        return Ok(print_json(out, answer)?);
    }
    let page: Page = decode(answer)?;
    let row = |worker: &Shown| {
        [
            worker.name.to_string(),
            worker.pool.to_string(),
            printable(&worker.class),
            printable(&worker.state),
            worker.builders.len().to_string(),
            worker.attributes(),
            worker.reason(),
        ]
    };
    let headings = ["NAME", "POOL", "CLASS", "STATE", "BUILDERS", "ATTRIBUTES", "REASON"];
    print_table(out, headings, page.workers.iter().map(row))?;
    if let Some(next) = page.next_after {
        say(format_args!("more: the same with --after {:?}", next.as_str()));
    }
    Ok(())
}

/// One row a fact.
pub(super) fn all_of(answer: &[u8], output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    if output == Output::Json {
        return Ok(print_json(out, answer)?);
    }
    let worker: Shown = decode(answer)?;
    let facts = [
        ("pool", worker.pool.to_string()),
        ("class", printable(&worker.class)),
        ("attributes", worker.attributes()),
        ("state", printable(&worker.state)),
        ("reason", worker.reason()),
        ("set by", printable(worker.author.as_deref().unwrap_or(""))),
        ("since", worker.since.map(|since| since.to_string()).unwrap_or_default()),
        ("until", worker.until.map(|until| until.to_string()).unwrap_or_default()),
        ("job", worker.running.as_ref().map(|run| printable(&run.job)).unwrap_or_default()),
        ("started", worker.running.as_ref().map(|run| run.started_at.to_string()).unwrap_or_default()),
        ("made by", if worker.from == "file" { "the farm file".to_owned() } else { printable(&worker.from) }),
        ("builders", join(&worker.builders)),
    ];
    let rows = facts.into_iter().filter(|(_, value)| !value.is_empty());
    Ok(print_table(out, ["WORKER", worker.name.as_str()], rows.map(|(fact, value)| [fact.to_owned(), value]))?)
}
