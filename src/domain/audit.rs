//! Who did what to what, and why: an event in the words of the audit log.

use std::collections::BTreeSet;

use serde::Serialize;

use super::allocator::{self, GenerationMade, Origin};
use super::author::Author;
use super::event::Event;
use super::fleet::{self, Duty, Pausable};
use super::{access, dispatcher, names};

/// How many names a line spells out before it counts.
const NAMES_SHOWN: usize = 5;

/// One line of the audit log; when it was is in the journal's record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    pub author: Author,
    /// A stable word (`allocations.write`, `token.revoke`).
    pub action: &'static str,
    /// What it was done to.
    pub target: String,
    pub reason: Option<String>,
    /// For people.
    pub detail: String,
}

impl Event {
    /// The event as a line of the audit log.
    pub fn audit(&self) -> AuditEntry {
        match self {
            Self::Fleet(event) => fleet_entry(event),
            Self::Allocator(allocator::Event::GenerationMade(made)) => generation_entry(made),
            Self::Access(event) => access_entry(event),
            Self::Dispatcher(event) => dispatcher_entry(event),
        }
    }
}

fn generation_entry(made: &GenerationMade) -> AuditEntry {
    let (action, mut detail) = match made.origin {
        Origin::Write => ("allocations.write", String::new()),
        Origin::Rollback(to) => ("allocations.rollback", format!("back to generation {to}; ")),
        Origin::Import => ("allocations.import", String::new()),
    };
    let set: Vec<_> = made.set.keys().collect();
    let unset: Vec<_> = made.unset.iter().collect();
    if !set.is_empty() {
        detail += &format!("set {}; ", shown(&set));
    }
    if !unset.is_empty() {
        detail += &format!("unset {}; ", shown(&unset));
    }
    if set.is_empty() && unset.is_empty() {
        detail += "changed nothing; ";
    }
    if made.forced {
        detail += "forced; ";
    }
    if !made.broken.is_empty() {
        detail += &format!("breaks {} rule(s); ", made.broken.len());
    }
    AuditEntry {
        author: made.author.clone(),
        action,
        target: format!("generation {}", made.generation),
        reason: made.reason.clone(),
        detail: detail.trim_end_matches("; ").to_owned(),
    }
}

fn fleet_entry(event: &fleet::Event) -> AuditEntry {
    match event {
        fleet::Event::Defined { definition, author } => AuditEntry {
            author: author.clone(),
            action: "farm.define",
            target: format!("farm {:?}", definition.name),
            reason: None,
            detail: format!("{} pools, {} builder rules", definition.pools.len(), definition.builders.len()),
        },
        fleet::Event::WorkerPut { name, worker, author, reason } => {
            let detail = format!("in pool {}, {:?}, attributes {:?}", worker.pool, worker.class, worker.attributes);
            worker_entry("worker.put", name, author, reason, detail)
        }
        fleet::Event::WorkerRemoved { name, author, reason } => {
            worker_entry("worker.remove", name, author, reason, String::new())
        }
        fleet::Event::DutySet { name, duty, author, reason, time: _ } => {
            let action = match duty {
                Duty::Active => "worker.release",
                Duty::Draining => "worker.drain",
                Duty::Quarantined => "worker.quarantine",
            };
            worker_entry(action, name, author, reason, String::new())
        }
        fleet::Event::Paused { what, author, reason, time: _ } => {
            let action = match what {
                Pausable::Pool(_) => "pool.pause",
                Pausable::Builder(_) => "builder.pause",
            };
            pause_entry(action, what, author, reason)
        }
        fleet::Event::Resumed { what, author, reason } => {
            let action = match what {
                Pausable::Pool(_) => "pool.resume",
                Pausable::Builder(_) => "builder.resume",
            };
            pause_entry(action, what, author, reason)
        }
    }
}

fn pause_entry(action: &'static str, what: &Pausable, author: &Author, reason: &Option<String>) -> AuditEntry {
    AuditEntry {
        author: author.clone(),
        action,
        target: what.to_string(),
        reason: reason.clone(),
        detail: String::new(),
    }
}

fn worker_entry(
    action: &'static str,
    name: &names::WorkerName,
    author: &Author,
    reason: &Option<String>,
    detail: String,
) -> AuditEntry {
    AuditEntry { author: author.clone(), action, target: format!("worker {name}"), reason: reason.clone(), detail }
}

fn access_entry(event: &access::Event) -> AuditEntry {
    let (action, name, author, reason, detail) = match event {
        access::Event::TokenAdded { name, role, hash: _, author, reason, time: _ } => {
            ("token.add", name, author, reason, format!("role {role}"))
        }
        access::Event::TokenRevoked { name, author, reason } => ("token.revoke", name, author, reason, String::new()),
    };
    AuditEntry { author: author.clone(), action, target: format!("token {name}"), reason: reason.clone(), detail }
}

fn dispatcher_entry(event: &dispatcher::Event) -> AuditEntry {
    let by = |author: &Author, action, target, reason: &Option<String>, detail| AuditEntry {
        author: author.clone(),
        action,
        target,
        reason: reason.clone(),
        detail,
    };
    let itself = Author::new("dispatcher");
    match event {
        dispatcher::Event::Submitted { jobs, author, time: _ } => {
            let target = match jobs.as_slice() {
                [only] => format!("job {}", only.id),
                [first, .., last] => format!("jobs {} to {}", first.id, last.id),
                [] => "no job".to_owned(),
            };
            let builders: BTreeSet<_> = jobs.iter().map(|submitted| &submitted.job.builder).collect();
            by(author, "job.submit", target, &None, shown(&builders.into_iter().collect::<Vec<_>>()))
        }
        dispatcher::Event::Cancelled { job, author, reason, time: _ } => {
            by(author, "job.cancel", format!("job {job}"), reason, String::new())
        }
        dispatcher::Event::Claimed { session, claims, author, .. } => {
            let claimed = claims.iter().take(NAMES_SHOWN);
            let mut detail: Vec<_> = claimed.map(|claim| format!("job {} on {}", claim.job, claim.worker)).collect();
            if claims.len() > NAMES_SHOWN {
                detail.push(format!("{} more", claims.len() - NAMES_SHOWN));
            }
            by(author, "job.claim", format!("session {session:?}"), &None, detail.join(", "))
        }
        dispatcher::Event::RunEnded(run) => {
            let detail = format!("job {} attempt {} on {}: {}", run.job, run.attempt, run.worker, run.result);
            by(&run.author, "run.end", format!("claim {}", run.claim), &run.reason, detail)
        }
        dispatcher::Event::Remembered { successes } => {
            by(&itself, "runs.remember", format!("{} runs", successes.len()), &None, String::new())
        }
        dispatcher::Event::Quarantined { worker, record } => {
            let until = record.until.map_or(String::new(), |until| format!(", until {until}"));
            let detail = format!("{} exceptions in a row{until}", record.exceptions);
            by(&itself, "worker.quarantine", format!("worker {worker}"), &None, detail)
        }
        dispatcher::Event::Released { worker, time: _ } => {
            by(&itself, "worker.release", format!("worker {worker}"), &None, "its quarantine is over".into())
        }
    }
}

fn shown(names: &[&names::BuilderName]) -> String {
    let listed: Vec<_> = names.iter().take(NAMES_SHOWN).map(ToString::to_string).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}
