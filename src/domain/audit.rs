//! Who did what to what, and why: an event in the words of the audit log.

use serde::Serialize;

use super::allocator::{self, GenerationMade, Origin};
use super::author::Author;
use super::event::Event;
use super::fleet::{self, Duty};
use super::{access, names};

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

fn shown(names: &[&names::BuilderName]) -> String {
    let listed: Vec<_> = names.iter().take(NAMES_SHOWN).map(ToString::to_string).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}
