//! Bodies of writes: form is checked here (400), names and rules are faults of the write (422).

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::domain::allocator::{Builders, Fault, FaultValue, Generation, Rule, Write};
use crate::domain::{BadName, BuilderName, WorkerName};
use crate::http::problem::Problem;
use crate::http::strict::Unique;

/// `PUT /v1/allocations`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaceBody {
    builders: RawLists,
    reason: Option<String>,
}

/// `PATCH /v1/allocations`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchBody {
    #[serde(default)]
    set: RawLists,
    #[serde(default)]
    unset: Vec<String>,
    reason: Option<String>,
}

/// `PUT /v1/builders/<name>`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuilderBody {
    machines: Vec<String>,
    reason: Option<String>,
}

/// `POST /v1/allocations/rollback`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollbackBody {
    generation: Generation,
    reason: Option<String>,
}

/// Builders with their machines, as text.
type RawLists = Unique<Vec<String>>;

/// A write in the domain's terms, with the names that are none.
pub struct Parsed {
    pub write: Write,
    pub reason: Option<String>,
    pub bad_names: Vec<Fault>,
}

fn malformed(detail: String) -> Problem {
    Problem::bad_request("malformed", detail)
}

impl ReplaceBody {
    pub fn parse(self) -> Result<Parsed, Problem> {
        let mut bad_names = Vec::new();
        let set = names(self.builders, &mut bad_names)?;
        Ok(Parsed { write: Write::Replace(set), reason: self.reason, bad_names })
    }
}

impl PatchBody {
    pub fn parse(self) -> Result<Parsed, Problem> {
        let mut seen = BTreeSet::new();
        for text in &self.unset {
            if self.set.0.contains_key(text) {
                return Err(malformed(format!("builder {text:?} is in `set` and in `unset`")));
            }
            if !seen.insert(text) {
                return Err(malformed(format!("builder {text:?} is in `unset` twice")));
            }
        }
        let mut bad_names = Vec::new();
        let set = names(self.set, &mut bad_names)?;
        let unset = self.unset.iter().filter_map(|text| builder_name(text, &mut bad_names)).collect();
        Ok(Parsed { write: Write::Patch { set, unset }, reason: self.reason, bad_names })
    }
}

impl BuilderBody {
    /// `builder`: the bytes that the path means.
    pub fn parse(self, builder: &[u8]) -> Result<Parsed, Problem> {
        let mut bad_names = Vec::new();
        let shown = String::from_utf8_lossy(builder);
        let machines = machine_names(&shown, &self.machines, &mut bad_names)?;
        let set = match BuilderName::parse_bytes(builder) {
            Ok(builder) => Builders::from([(builder, machines)]),
            Err(error) => {
                bad_names.push(bad_name(&shown, None, &error));
                Builders::new()
            }
        };
        Ok(Parsed { write: Write::Patch { set, unset: BTreeSet::new() }, reason: self.reason, bad_names })
    }
}

impl RollbackBody {
    pub fn parse(self) -> Parsed {
        Parsed { write: Write::Rollback(self.generation), reason: self.reason, bad_names: Vec::new() }
    }
}

fn names(lists: RawLists, bad_names: &mut Vec<Fault>) -> Result<Builders, Problem> {
    let mut builders = Builders::new();
    for (text, machines) in lists.0 {
        let machines = machine_names(&text, &machines, bad_names)?;
        if let Some(builder) = builder_name(&text, bad_names) {
            builders.insert(builder, machines);
        }
    }
    Ok(builders)
}

fn machine_names(builder: &str, texts: &[String], bad_names: &mut Vec<Fault>) -> Result<Vec<WorkerName>, Problem> {
    let mut names = Vec::with_capacity(texts.len());
    let mut seen = BTreeSet::new();
    for text in texts {
        if !seen.insert(text) {
            return Err(malformed(format!("machine {text:?} is listed twice for builder {builder:?}")));
        }
        match WorkerName::parse(text) {
            Ok(name) => names.push(name),
            Err(error) => bad_names.push(bad_name(builder, Some(text), &error)),
        }
    }
    Ok(names)
}

fn builder_name(text: &str, bad_names: &mut Vec<Fault>) -> Option<BuilderName> {
    BuilderName::parse(text).map_err(|error| bad_names.push(bad_name(text, None, &error))).ok()
}

fn bad_name(builder: &str, machine: Option<&str>, error: &BadName) -> Fault {
    Fault {
        builder: Some(builder.to_owned()),
        rule: Rule::BadName,
        machine: machine.map(str::to_owned),
        value: Some(FaultValue::Text(error.to_string())),
    }
}
