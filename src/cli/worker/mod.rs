//! `jacuzzi worker`: which workers there are, which may be given jobs, and workers that come and go without the farm file.

mod show;

use std::collections::BTreeMap;
use std::io::Write;

use clap::{Args, Subcommand, value_parser};
use serde::Serialize;

use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, say};
use super::target::Target;
use crate::domain::{PoolName, WorkerName};
use show::Shown;

/// See workers, make and remove them, take them out of work and back
#[derive(Debug, Args)]
pub(super) struct Worker {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List workers, by name
    List(List),
    /// Show all that is known of one worker
    Get {
        #[arg(value_parser = WorkerName::parse)]
        name: WorkerName,
    },
    /// Make a worker that the farm file does not name, or change it
    Put(Put),
    /// Remove a worker that was made by `put`
    Delete {
        #[command(flatten)]
        one: One,
        /// Change nothing: only show the worker
        #[arg(long)]
        dry_run: bool,
    },
    /// Let a worker end the job that it has, and give it no other
    Drain(One),
    /// Take a worker out of work, as one that is not to be trusted
    Quarantine(One),
    /// Give a worker jobs again
    Release(One),
}

#[derive(Debug, Args)]
struct One {
    #[arg(value_parser = WorkerName::parse)]
    name: WorkerName,

    /// Why, for the audit log and for whoever looks at the worker
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, Args)]
struct List {
    /// Only those of this pool
    #[arg(long, value_parser = PoolName::parse)]
    pool: Option<PoolName>,

    /// Only those in this state
    #[arg(long, value_parser = ["active", "draining", "quarantined"])]
    state: Option<String>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u64).range(1..=1000))]
    limit: u64,

    /// Only those behind this name
    #[arg(long, value_name = "NAME", value_parser = WorkerName::parse)]
    after: Option<WorkerName>,
}

#[derive(Debug, Args)]
struct Put {
    #[command(flatten)]
    one: One,

    /// The pool that it belongs to
    #[arg(long, value_parser = PoolName::parse)]
    pool: PoolName,

    /// What kind of machine it is [default: as the pool says]
    #[arg(long, value_parser = ["inhouse", "spot", "ondemand"])]
    class: Option<String>,

    /// What builders may require of a worker; can be given several times
    #[arg(long = "attribute", value_name = "KEY=VALUE", value_parser = parse_attribute)]
    attributes: Vec<(String, String)>,
}

fn parse_attribute(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("give an attribute as KEY=VALUE, such as trust=core"),
    }
}

/// The body of `PUT /v1/workers/<name>`
#[derive(Serialize)]
struct PutBody<'a> {
    pool: &'a PoolName,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The body of `POST /v1/workers/<name>/drain` and the like
#[derive(Serialize)]
struct DutyBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl Worker {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        match self.action {
            Action::List(list) => {
                let target = Target::path("/v1/workers")
                    .optional("pool", list.pool)
                    .optional("state", list.state)
                    .query("limit", list.limit)
                    .optional("after", list.after);
                show::page(&client.read(&target)?, globals.output, out)
            }
            Action::Get { name } => show::all_of(&client.read(&worker(&name))?, globals.output, out),
            Action::Put(put) => {
                let answer = put.send(&client)?;
                tell(&answer, "is as asked", globals, out)
            }
            Action::Delete { one, dry_run: true } => {
                show::all_of(&client.read(&worker(&one.name))?, globals.output, out)?;
                say(format_args!("worker {:?} would be removed; nothing is changed (dry run)", one.name));
                Ok(())
            }
            Action::Delete { one, dry_run: false } => {
                client.delete(&worker(&one.name).optional("reason", one.reason))?;
                say(format_args!("worker {:?} is removed", one.name));
                Ok(())
            }
            Action::Drain(one) => tell(&one.post(&client, "drain")?, "ends its job and gets no other", globals, out),
            Action::Quarantine(one) => tell(&one.post(&client, "quarantine")?, "is out of work", globals, out),
            Action::Release(one) => tell(&one.post(&client, "release")?, "is given jobs again", globals, out),
        }
    }
}

fn worker(name: &WorkerName) -> Target {
    Target::path("/v1/workers").component(name.as_str())
}

impl One {
    fn post(&self, client: &Client, what: &str) -> anyhow::Result<Vec<u8>> {
        let body = DutyBody { reason: self.reason.as_deref() };
        Ok(client.post_json(&worker(&self.name).component(what), &body, None)?)
    }
}

impl Put {
    fn send(self, client: &Client) -> anyhow::Result<Vec<u8>> {
        let (class, reason) = (self.class.as_deref(), self.one.reason.as_deref());
        let attributes = self.attributes.into_iter().collect();
        let body = PutBody { pool: &self.pool, class, attributes, reason };
        Ok(client.put_json(&worker(&self.one.name), &body, None)?)
    }
}

/// Says what has become of the worker in the answer.
fn tell(answer: &[u8], what: &str, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
    let shown: Shown = decode(answer)?;
    say(format_args!("worker {:?} {what}", shown.name));
    if globals.output == Output::Json {
        print_json(out, answer)?;
    }
    Ok(())
}
