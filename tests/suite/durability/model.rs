//! The farm as it must be: what follows from the writes that were made, by the simplest means.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::intent::{Ask, Builders};

/// Further back than a rollback goes while other writers overtake it.
const GENERATIONS_KEPT: u64 = 500;

const MACHINES: u64 = 80;

pub struct Model {
    generation: u64,
    builders: Builders,
    /// The builders of the last generations, this one too.
    history: BTreeMap<u64, Builders>,
    workers: BTreeMap<String, Worker>,
    /// Oldest first.
    tokens: Vec<Value>,
}

/// In the server's words.
#[derive(Clone)]
struct Worker {
    class: &'static str,
    attributes: Value,
    from: &'static str,
    /// State, reason and since when, of one that is not simply active.
    duty: Option<(&'static str, String, Value)>,
}

impl Default for Model {
    fn default() -> Self {
        let listed = Worker { class: "inhouse", attributes: json!({}), from: "file", duty: None };
        Self {
            generation: 0,
            builders: Builders::new(),
            history: BTreeMap::from([(0, Builders::new())]),
            workers: (0..MACHINES).map(|number| (format!("w-{number:02}"), listed.clone())).collect(),
            tokens: Vec::new(),
        }
    }
}

impl Model {
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn builders(&self) -> Value {
        json!(self.builders)
    }

    /// All workers, by name.
    pub fn workers(&self) -> impl ExactSizeIterator<Item = Value> {
        self.workers.keys().map(|name| self.worker(name))
    }

    pub fn tokens(&self) -> &[Value] {
        &self.tokens
    }

    /// One worker, as the server shows it; null if there is none.
    pub fn worker(&self, name: &str) -> Value {
        let Some(Worker { class, attributes, from, duty }) = self.workers.get(name) else { return Value::Null };
        let builders = self.builders.iter().filter(|(_, machines)| machines.iter().any(|machine| machine == name));
        let builders: Vec<_> = builders.map(|(builder, _)| builder).collect();
        let mut shown = json!({"name": name, "pool": "linux", "class": class, "attributes": attributes,
            "state": "active", "from": from, "builders": builders});
        if let Some((state, reason, since)) = duty {
            shown["state"] = json!(state);
            (shown["author"], shown["reason"], shown["since"]) = (json!("operator"), json!(reason), since.clone());
        }
        shown
    }

    /// The write was made at this time. Gives `set` and `unset` of the generation that it is, if it is one.
    pub fn make(&mut self, ask: &Ask, reason: &str, time: &Value) -> Option<(Value, Value)> {
        let mut builders = self.builders.clone();
        match ask {
            Ask::Patch { set, unset } => {
                builders.retain(|builder, _| !unset.contains(builder));
                builders.extend(set.clone());
            }
            Ask::PutBuilder { builder, machines } => drop(builders.insert(builder.clone(), machines.clone())),
            Ask::DeleteBuilder { builder } => {
                assert!(builders.remove(builder).is_some(), "{reason}: what had no list was deleted");
            }
            Ask::Rollback { generation } => builders = self.history[generation].clone(),
            of_the_rest => {
                self.make_other(of_the_rest, reason, time);
                return None;
            }
        }
        Some(self.publish(builders))
    }

    /// Whether a lawful refusal is due now; of a builder nobody can say, as rollbacks change those of all writers.
    pub fn may_refuse(&self, ask: &Ask) -> bool {
        let has_token = |name: &String| self.tokens.iter().any(|listed| listed["name"] == **name);
        match ask {
            Ask::DeleteBuilder { .. } => true,
            Ask::RemoveWorker { worker } | Ask::SetDuty { worker, .. } => !self.workers.contains_key(worker),
            Ask::AddToken { token } => has_token(token),
            Ask::RevokeToken { token } => !has_token(token),
            Ask::Patch { .. } | Ask::PutBuilder { .. } | Ask::Rollback { .. } | Ask::PutWorker { .. } => false,
        }
    }

    pub fn add_token(&mut self, name: &str, role: &str, author: &Value, time: &Value) {
        self.tokens.push(json!({"name": name, "role": role, "added_by": author, "added_at": time}));
    }

    fn make_other(&mut self, ask: &Ask, reason: &str, time: &Value) {
        match ask {
            Ask::PutWorker { worker, class } => {
                let duty = self.workers.get(worker).and_then(|worker| worker.duty.clone());
                let put = Worker { class, attributes: json!({"of": reason}), from: "api", duty };
                self.workers.insert(worker.clone(), put);
            }
            Ask::RemoveWorker { worker } => {
                assert!(self.workers.remove(worker).is_some(), "{reason}: a worker that was not there was removed");
            }
            Ask::SetDuty { worker, action } => {
                let state = match *action {
                    "drain" => Some("draining"),
                    "quarantine" => Some("quarantined"),
                    _ => None,
                };
                let worker = self.workers.get_mut(worker).unwrap_or_else(|| panic!("{reason}: there is no {worker}"));
                worker.duty = state.map(|state| (state, reason.to_owned(), time.clone()));
            }
            Ask::AddToken { token } => {
                assert!(self.tokens.iter().all(|listed| listed["name"] != **token), "{reason}: {token} is there twice");
                self.add_token(token, "worker", &json!("operator"), time);
            }
            Ask::RevokeToken { token } => {
                let before = self.tokens.len();
                self.tokens.retain(|listed| listed["name"] != **token);
                assert_eq!(self.tokens.len() + 1, before, "{reason}: a token that was not there was revoked");
            }
            Ask::Patch { .. } | Ask::PutBuilder { .. } | Ask::DeleteBuilder { .. } | Ask::Rollback { .. } => {
                unreachable!("these are generations")
            }
        }
    }

    /// The next generation, as a delta: what changes nothing is left out.
    fn publish(&mut self, builders: Builders) -> (Value, Value) {
        let set: BTreeMap<_, _> =
            builders.iter().filter(|(name, list)| self.builders.get(*name) != Some(list)).collect();
        let unset: Vec<_> = self.builders.keys().filter(|builder| !builders.contains_key(*builder)).collect();
        let delta = (json!(set), json!(unset));
        self.generation += 1;
        self.history.insert(self.generation, builders.clone());
        self.history.retain(|generation, _| generation + GENERATIONS_KEPT > self.generation);
        self.builders = builders;
        delta
    }
}
