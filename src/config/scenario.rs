//! Scenario files: a farm file as JSON, and what happens to that farm.

use std::time::Duration;

use serde_json::Value as Json;

use super::farm_file::{FarmFile, JOB_CLASSES};
use super::fault::{Faults, Place};
use super::json;
use super::node::{Entry, Node, Value};
use super::reader::{self, Table};
use super::values::{Read, choice, integer, parsed, seconds, text, whole};
use crate::domain::allocator::Builders;
use crate::domain::dispatcher::{NewJob, RunResult};
use crate::domain::{BuilderName, Timestamp, WorkerName};
use crate::sim::scenario::{Happening, Past, Scenario};

const RESULTS: [(&str, RunResult); 5] = [
    ("success", RunResult::Success),
    ("failure", RunResult::Failure),
    ("exception", RunResult::Exception),
    ("retry", RunResult::Retry),
    ("cancelled", RunResult::Cancelled),
];

/// What can happen, each a key of its own.
const HAPPENINGS: [&str; 9] = ["submit", "idle", "claim", "allocate", "finish", "remove", "lost", "drain", "cancel"];

/// Reads a scenario from JSON text; all faults are found at once.
pub fn read_scenario(source: &str) -> Result<Scenario, Faults> {
    let mut root: Json = serde_json::from_str(source)
        .map_err(|error| Faults::one(Place::Named("#".into()), format!("not JSON: {error}")))?;
    let mut faults = Faults::default();
    let definition = match FarmFile::from_json(&named(root["farm"].take())) {
        Ok(file) => Some(file.definition),
        Err(of_farm) => {
            faults.extend_below("#/farm", of_farm);
            None
        }
    };
    let scenario = reader::read(&json::parse(&root), String::new(), &mut faults, |root| {
        root.optional("farm", |_| Ok(()));
        Scenario {
            definition: definition.unwrap_or_default(),
            allocations: root.optional("allocations", lists).unwrap_or_default(),
            history: root.tables("history", past),
            events: in_order(root.tables("events", event)),
            explain: root.list("explain", text, str::to_owned).unwrap_or_default(),
            until: root.required("until", time, |_| Timestamp::default()),
        }
    });
    faults.unless_any(scenario)
}

/// A scenario's farm needs no name.
fn named(mut farm: Json) -> Json {
    if let Some(tables) = farm.as_object_mut() {
        let table = tables.entry("farm").or_insert_with(|| Json::Object(serde_json::Map::new()));
        if let Some(table) = table.as_object_mut() {
            table.entry("name").or_insert_with(|| "scenario".into());
        }
    }
    farm
}

fn in_order(events: Vec<(Timestamp, Option<Happening>)>) -> Vec<(Timestamp, Happening)> {
    let mut events: Vec<_> = events.into_iter().filter_map(|(at, event)| Some((at, event?))).collect();
    events.sort_by_key(|(at, _)| *at);
    events
}

fn event(event: &mut Table) -> (Timestamp, Option<Happening>) {
    let at = event.required("at", time, |_| Timestamp::default());
    let found = [
        event.optional_table("submit", submit),
        workers(event, "idle").map(Happening::Idle),
        event.optional_table("claim", claim),
        event.optional("allocate", lists).map(Happening::Allocate),
        event.optional_table("finish", finish),
        workers(event, "remove").map(Happening::Remove),
        workers(event, "lost").map(Happening::Lost),
        workers(event, "drain").map(Happening::Drain),
        event.list("cancel", text, str::to_owned).map(Happening::Cancel),
    ];
    let mut happenings = found.into_iter().flatten();
    let happening = happenings.next();
    let others = happenings.count();
    if happening.is_none() || others > 0 {
        event.fault(format!("exactly one thing happens: {}", HAPPENINGS.join(", ")));
    }
    (at, happening)
}

fn workers(event: &mut Table, key: &'static str) -> Option<Vec<WorkerName>> {
    event.list(key, parsed(WorkerName::parse), stand_in_worker)
}

fn stand_in_worker(path: &str) -> WorkerName {
    WorkerName::parse(path).expect("the path of a key is a name")
}

fn stand_in_builder(path: &str) -> BuilderName {
    BuilderName::parse(path).expect("the path of a key is a name")
}

fn submit(submit: &mut Table) -> Happening {
    let name = submit.required("id", text, str::to_owned);
    let builder = submit.required("builder", parsed(BuilderName::parse), stand_in_builder);
    let job = NewJob {
        class: submit.optional("class", choice("job class", &JOB_CLASSES)),
        priority: submit.optional("priority", integer),
        submitted_at: submit.optional("submitted_at", time),
        branch: submit.optional("branch", text).map(Into::into),
        project: submit.optional("project", text).map(Into::into),
        push: submit.optional("push", text).map(Into::into),
        ..NewJob::of(builder)
    };
    let service = submit.optional("service", span);
    Happening::Submit { name, job: Box::new(job), service }
}

fn claim(claim: &mut Table) -> Happening {
    Happening::Claim {
        workers: workers(claim, "workers").unwrap_or_default(),
        max: claim.optional("max", whole).map(|max| usize::try_from(max).unwrap_or(usize::MAX)),
        wait: claim.optional("wait", span),
    }
}

fn finish(finish: &mut Table) -> Happening {
    Happening::Finish {
        worker: finish.required("worker", parsed(WorkerName::parse), stand_in_worker),
        result: finish.optional("result", choice("result", &RESULTS)).unwrap_or(RunResult::Success),
    }
}

fn past(past: &mut Table) -> Past {
    Past {
        builder: past.required("builder", parsed(BuilderName::parse), stand_in_builder),
        worker: past.required("worker", parsed(WorkerName::parse), stand_in_worker),
        finished_at: past.required("finished_at", time, |_| Timestamp::default()),
        result: past.optional("result", choice("result", &RESULTS)).unwrap_or(RunResult::Success),
    }
}

/// Seconds from the scenario's beginning, before or after it.
fn time(node: &Node) -> Read<Timestamp> {
    let seconds = seconds(node)?;
    Timestamp::from_unix_seconds_f64(seconds).map_err(|error| error.to_string())
}

fn span(node: &Node) -> Read<Duration> {
    let seconds = seconds(node)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("a number of seconds from 0 up, not {seconds}"))
}

/// Builder → workers.
fn lists(node: &Node) -> Read<Builders> {
    let Value::Table(entries) = &node.value else {
        return Err(format!("a table of builders with their workers, not {}", node.value));
    };
    entries.iter().map(|(builder, Entry { node, .. })| list(builder, node)).collect()
}

fn list(builder: &str, node: &Node) -> Read<(BuilderName, Vec<WorkerName>)> {
    let name = BuilderName::parse(builder).map_err(|error| format!("{builder:?}: {error}"))?;
    let Value::Array(items) = &node.value else {
        return Err(format!("{builder:?} has a list of workers, not {}", node.value));
    };
    let workers = items.iter().map(parsed(WorkerName::parse)).collect::<Read<_>>();
    Ok((name, workers.map_err(|message| format!("a worker of {builder:?}: {message}"))?))
}
