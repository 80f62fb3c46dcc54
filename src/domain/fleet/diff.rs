//! What a new farm definition would change, line by line, for a person to read before it is put in force.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::definition::Definition;
use super::options::Options;
use super::state::Fleet;

/// How many names a line spells out before it counts.
const NAMES_SHOWN: usize = 5;

/// One difference between two definitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The key, or the kind of thing, that changes (`allocations.max_shrink_percent`, `workers`).
    pub what: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<String>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.was, &self.becomes) {
            (Some(was), Some(becomes)) => write!(f, "~ {}: {was} -> {becomes}", self.what),
            (Some(was), None) => write!(f, "- {}: {was}", self.what),
            (None, Some(becomes)) => write!(f, "+ {}: {becomes}", self.what),
            (None, None) => write!(f, "~ {}", self.what),
        }
    }
}

/// All differences that matter: how workers are written down, and the order of
/// anything but builder rules, does not.
pub fn diff(old: &Fleet, new: &Fleet) -> Vec<Change> {
    let mut changes = Vec::new();
    let (before, after) = (old.definition(), new.definition());
    value(&mut changes, "farm.name", &before.name, &after.name);
    value(&mut changes, "farm.default_priority", &before.default_priority, &after.default_priority);
    value(
        &mut changes,
        "farm.ageing_seconds_per_priority",
        &before.ageing_seconds_per_priority.0,
        &after.ageing_seconds_per_priority.0,
    );
    value(&mut changes, "farm.fair_share_by", &before.fair_share_by, &after.fair_share_by);
    options(&mut changes, "farm", &before.options, &after.options);
    pools(&mut changes, before, after);
    workers(&mut changes, old, new);
    value(&mut changes, "branches", &named(&before.branches), &named(&after.branches));
    builders(&mut changes, before, after);
    let (before, after) = (&before.allocations, &after.allocations);
    value(
        &mut changes,
        "allocations.max_builders_per_machine",
        &before.max_builders_per_machine,
        &after.max_builders_per_machine,
    );
    value(&mut changes, "allocations.max_shrink_percent", &before.max_shrink_percent, &after.max_shrink_percent);
    value(&mut changes, "allocations.isolation_groups", &before.isolation_groups, &after.isolation_groups);
    value(&mut changes, "allocations.keep_generations", &before.keep_generations, &after.keep_generations);
    changes
}

fn value<T: PartialEq + Debug>(changes: &mut Vec<Change>, what: &str, before: &T, after: &T) {
    if before != after {
        changes.push(Change {
            what: what.into(),
            was: Some(format!("{before:?}")),
            becomes: Some(format!("{after:?}")),
        });
    }
}

fn named(branches: &[super::Branch]) -> BTreeMap<&str, i64> {
    branches.iter().map(|branch| (branch.name.as_str(), branch.priority)).collect()
}

fn options(changes: &mut Vec<Change>, place: &str, before: &Options, after: &Options) {
    let (before, after) = (stated(before), stated(after));
    for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
        let shown = |options: &Map<String, Value>| options.get(key).map(Value::to_string);
        let (was, becomes) = (shown(&before), shown(&after));
        if was != becomes {
            changes.push(Change { what: format!("{place}.{key}"), was, becomes });
        }
    }
}

/// The options that a place names, under their keys.
fn stated(options: &Options) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(stated)) => stated,
        Ok(_) | Err(_) => Map::new(),
    }
}

fn pools(changes: &mut Vec<Change>, before: &Definition, after: &Definition) {
    for pool in &before.pools {
        match after.pools.iter().find(|other| other.name == pool.name) {
            None => changes.push(Change { what: "pools".into(), was: Some(pool.name.to_string()), becomes: None }),
            Some(other) => {
                value(changes, &format!("pools.{}.class", pool.name), &pool.class, &other.class);
                options(changes, &format!("pools.{}", pool.name), &pool.options, &other.options);
            }
        }
    }
    for pool in &after.pools {
        if !before.pools.iter().any(|other| other.name == pool.name) {
            changes.push(Change { what: "pools".into(), was: None, becomes: Some(pool.name.to_string()) });
        }
    }
}

fn workers(changes: &mut Vec<Change>, old: &Fleet, new: &Fleet) {
    let gone: Vec<_> = old.workers().map(|(name, _)| name).filter(|name| new.worker(name).is_none()).collect();
    let come: Vec<_> = new.workers().map(|(name, _)| name).filter(|name| old.worker(name).is_none()).collect();
    if !gone.is_empty() {
        changes.push(Change { what: "workers".into(), was: Some(counted(&gone)), becomes: None });
    }
    if !come.is_empty() {
        changes.push(Change { what: "workers".into(), was: None, becomes: Some(counted(&come)) });
    }
    for (name, was) in old.workers() {
        if let Some(becomes) = new.worker(name) {
            value(changes, &format!("workers.{name}.pool"), &was.pool, &becomes.pool);
            value(changes, &format!("workers.{name}.class"), &was.class, &becomes.class);
            value(changes, &format!("workers.{name}.attributes"), &was.attributes, &becomes.attributes);
        }
    }
}

/// Rules have no name, only a place, and their order decides: the differing
/// middle of the two lists is what changed.
fn builders(changes: &mut Vec<Change>, before: &Definition, after: &Definition) {
    let (before, after) = (&before.builders, &after.builders);
    let same_head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let shorter = before.len().min(after.len()) - same_head;
    let same_tail = before.iter().rev().zip(after.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let rule = |at: usize, rule: &super::BuilderRule| (format!("builders[{at}]"), describe(rule));
    for (at, was) in before.iter().enumerate().take(before.len() - same_tail).skip(same_head) {
        let (what, was) = rule(at, was);
        changes.push(Change { what, was: Some(was), becomes: None });
    }
    for (at, becomes) in after.iter().enumerate().take(after.len() - same_tail).skip(same_head) {
        let (what, becomes) = rule(at, becomes);
        changes.push(Change { what, was: None, becomes: Some(becomes) });
    }
}

fn describe(rule: &super::BuilderRule) -> String {
    let mut text = format!("{:?} -> {}", rule.pattern, rule.pool);
    if !rule.requires.is_empty() {
        text += &format!(", requires {:?}", rule.requires);
    }
    if rule.class != super::JobClass::default() {
        text += &format!(", class {:?}", rule.class);
    }
    for (key, value) in stated(&rule.options) {
        text += &format!(", {key} {value}");
    }
    if let Some(cadence) = &rule.cadence {
        text += &format!(", cadence {cadence}");
    }
    text
}

fn counted<T: fmt::Display>(names: &[T]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES_SHOWN).map(ToString::to_string).collect();
    match names.len().checked_sub(NAMES_SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{}, and {more} more ({} in all)", shown.join(", "), names.len()),
    }
}
