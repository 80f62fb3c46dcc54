//! What must be there: every generation that was acknowledged, exactly as it was asked for, and nothing that nobody asked for.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::load::{Heard, Intent, Said};
use crate::suite::server::Server;
use crate::suite::wire::Connection;

/// A model of the allocations that follows from the writers' own words, in the order that the server gave them.
#[derive(Default)]
pub struct Ledger {
    generation: u64,
    builders: BTreeMap<String, Vec<String>>,
    /// Writes that no generation was found for yet, by reason.
    open: BTreeMap<String, Said>,
}

impl Ledger {
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Takes down what was said and heard.
    pub fn note(&mut self, said: impl IntoIterator<Item = Said>) {
        for said in said {
            let twice = self.open.insert(said.intent.reason.clone(), said);
            assert!(twice.is_none(), "reasons are unique: {twice:?}");
        }
    }

    /// Holds every generation since the last check against what was said; panics over
    /// the first that is missing, twice, in the wrong place, or not exactly what was asked for.
    ///
    /// A write whose answer never came may have been made or not, but not in part.
    pub fn check(&mut self, server: &Server) {
        let mut connection = server.connect();
        let blob = get(&mut connection, "/v1/allocations");
        let last = blob["generation"].as_u64().unwrap();
        assert!(last >= self.generation, "generation {} was seen, now {last} is in force", self.generation);
        let reasons = self.reasons(&mut connection, last);
        for generation in self.generation + 1..=last {
            let delta = get(&mut connection, &format!("/v1/allocations?since={}&until={generation}", generation - 1));
            let said = self.open.remove(&reasons[&generation]);
            let said = said.unwrap_or_else(|| panic!("generation {generation} is of nobody, or twice: {delta}"));
            let expected = self.apply(&said.intent);
            assert_eq!(delta["set"], expected["set"], "generation {generation}: {said:?}");
            assert_eq!(delta["unset"], expected["unset"], "generation {generation}: {said:?}");
            if let Heard::Made(made) = &said.heard {
                assert_eq!(made, &delta, "what was acknowledged is what is kept");
            }
        }
        self.generation = last;
        let lost: Vec<_> = self.open.values().filter(|said| matches!(said.heard, Heard::Made(_))).collect();
        assert!(lost.is_empty(), "acknowledged, but lost: {lost:#?}");
        assert_eq!(blob["builders"], json!(self.builders), "the blob is the sum of all generations");
    }

    /// From now on a write that is still without an answer must never show up.
    pub fn settle(&mut self) {
        self.open.clear();
    }

    /// Reason by generation, of all since the last check.
    fn reasons(&self, connection: &mut Connection, last: u64) -> BTreeMap<u64, String> {
        let mut reasons = BTreeMap::new();
        let mut before = last + 1;
        while before > self.generation + 1 {
            let page = get(connection, &format!("/v1/allocations/history?limit=1000&before={before}"));
            for entry in page["generations"].as_array().unwrap() {
                before = entry["generation"].as_u64().unwrap();
                assert_eq!(entry["author"], "operator");
                reasons.insert(before, entry["reason"].as_str().unwrap().to_owned());
            }
        }
        reasons
    }

    /// The delta that an intent comes down to here: what changes nothing is left out.
    fn apply(&mut self, intent: &Intent) -> Value {
        let mut set = intent.set.clone();
        set.retain(|builder, machines| self.builders.get(builder) != Some(machines));
        let unset: Vec<_> = intent.unset.iter().filter(|builder| self.builders.contains_key(*builder)).collect();
        let delta = json!({"set": set, "unset": unset});
        for builder in &intent.unset {
            self.builders.remove(builder);
        }
        self.builders.extend(set);
        delta
    }
}

fn get(connection: &mut Connection, target: &str) -> Value {
    let response = connection.request("GET", target, &["Host: localhost"]);
    assert_eq!(response.status, 200, "{target}: {response:?}");
    response.json()
}
