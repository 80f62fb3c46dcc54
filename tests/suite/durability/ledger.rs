//! What must be there: every write that was acknowledged, exactly as it was asked for, and nothing that nobody asked for.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::load::{Heard, Said};
use super::model::Model;
use crate::suite::server::{Home, Server};
use crate::suite::wire::Connection;

/// Follows the writers' own words, in the order that the server's audit log gives them.
#[derive(Default)]
pub struct Ledger {
    model: Model,
    /// The last entry of the audit log that was seen.
    seq: u64,
    /// Writes that no entry was found for yet, by reason.
    open: BTreeMap<String, Said>,
    /// Lawful refusals since the last check, in their writers' order.
    refused: Vec<Said>,
    /// The number of the last write that was made, by writer.
    newest: BTreeMap<String, u64>,
    /// How many of each kind were made.
    made: BTreeMap<&'static str, u64>,
    /// Of the tokens that stood at the last check, or were added since.
    secrets: Vec<Secret>,
}

/// What was given out once, and for which token.
struct Secret {
    text: String,
    name: String,
    added_at: Value,
}

/// A server that is asked with the operator's token, over one connection.
struct Reader {
    connection: Connection,
    token: String,
}

impl Ledger {
    pub fn generation(&self) -> u64 {
        self.model.generation()
    }

    /// For people: how many writes of which kinds were held against what was said.
    pub fn summary(&self) -> String {
        let made: Vec<_> = self.made.iter().map(|(action, count)| format!("{count} {action}")).collect();
        made.join(", ")
    }

    /// Takes down what was said and heard. What was refused for good must never show up.
    pub fn note(&mut self, said: impl IntoIterator<Item = Said>) {
        let (refused, open): (Vec<_>, Vec<_>) = said.into_iter().partition(Said::is_refused_lawfully);
        self.refused.extend(refused);
        for said in open {
            let twice = self.open.insert(said.intent.reason.clone(), said);
            assert!(twice.is_none(), "reasons are unique: {twice:?}");
        }
    }

    /// Holds everything since the last check against what was said; panics over the
    /// first write that is missing, twice, in the wrong place, or not exactly what was asked for.
    ///
    /// A write whose answer never came may have been made or not, but not in part.
    pub fn check(&mut self, home: &Home, server: &Server) {
        let mut reader = Reader { connection: server.connect(), token: home.operator_token() };
        let blob = reader.get("/v1/allocations");
        let last = blob["generation"].as_u64().unwrap();
        assert!(last >= self.generation(), "generation {} was seen, now {last} is in force", self.generation());
        let reasons = self.reasons(&mut reader, last);
        for entry in self.entries(&mut reader) {
            self.seq += 1;
            assert_eq!(entry["seq"], self.seq, "the audit log has every record: {entry}");
            match entry["reason"].as_str() {
                Some(reason) => self.take(&mut reader, &entry, reason, &reasons),
                None => self.take_first_start(&entry),
            }
        }
        self.check_refused(|_, _| true);
        let lost: Vec<_> = self.open.values().filter(|said| matches!(said.heard, Heard::Made(_))).collect();
        assert!(lost.is_empty(), "acknowledged, but lost: {lost:#?}");
        assert_eq!(self.generation(), last, "the audit log has every generation");
        assert_eq!(blob["builders"], self.model.builders(), "the blob is the sum of all generations");
        let workers = reader.get("/v1/workers?limit=1000");
        for (shown, expected) in workers["workers"].as_array().unwrap().iter().zip(self.model.workers()) {
            assert_eq!(shown, &expected);
        }
        assert_eq!(workers["workers"].as_array().unwrap().len(), self.model.workers().len());
        assert_eq!(reader.get("/v1/tokens"), json!({"tokens": self.model.tokens()}));
        self.try_tokens(server);
    }

    /// From now on a write that is still without an answer must never show up.
    pub fn settle(&mut self) {
        self.open.clear();
        self.newest.clear();
    }

    /// A write that was made, by its entry in the audit log.
    fn take(&mut self, reader: &mut Reader, entry: &Value, reason: &str, reasons: &BTreeMap<u64, String>) {
        let said = self.open.remove(reason).unwrap_or_else(|| panic!("this is of nobody, or twice: {entry}"));
        let (writer, number) = said.intent.writer_and_number();
        self.check_refused(|other, earlier| other == writer && earlier < number);
        let before = self.newest.insert(writer.to_owned(), number);
        assert!(before.is_none_or(|before| before < number), "{reason} is out of its writer's order");
        let ask = &said.intent.ask;
        let delta = self.model.make(ask, reason, &entry["time"]);
        let generation = self.generation();
        let (action, target) = ask.in_the_audit_log(generation);
        *self.made.entry(action).or_default() += 1;
        let shown = (&entry["author"], &entry["action"], &entry["target"]);
        assert_eq!(shown, (&json!("operator"), &json!(action), &json!(target)), "{said:?}");
        let acknowledged = match &said.heard {
            Heard::Made(made) => Some(made),
            Heard::Refused { .. } | Heard::Nothing => None,
        };
        if let Some((set, unset)) = delta {
            let shown = reader.get(&format!("/v1/allocations?since={}&until={generation}", generation - 1));
            assert_eq!((&shown["set"], &shown["unset"]), (&set, &unset), "generation {generation}: {said:?}");
            assert_eq!(reasons[&generation], reason);
            assert!(acknowledged.is_none_or(|made| made == &shown), "{said:?} is not what is kept: {shown}");
        } else if let Some(made) = acknowledged {
            self.compare(&target, made, &entry["time"]);
        }
    }

    /// Nobody but the writer changes its workers and tokens, so what it was told of them
    /// must follow from what it did before.
    fn check_refused(&mut self, is_due: impl Fn(&str, u64) -> bool) {
        let model = &self.model;
        self.refused.retain(|said| {
            let (writer, number) = said.intent.writer_and_number();
            let due = is_due(writer, number);
            assert!(!due || model.may_refuse(&said.intent.ask), "refused without need: {said:?}");
            !due
        });
    }

    /// Of a worker or a token: what was acknowledged is what it has become.
    fn compare(&mut self, target: &str, made: &Value, time: &Value) {
        let (_, name) = target.split_once(' ').expect("a target is a kind and a name");
        assert_eq!(made["name"], name);
        if let Some(secret) = made["token"].as_str() {
            self.secrets.push(Secret { text: secret.to_owned(), name: name.to_owned(), added_at: time.clone() });
        }
        if made["state"].is_string() {
            let (mut worker, mut made) = (self.model.worker(name), made.clone());
            // A rollback by another writer may have come between the write and its answer.
            (worker["builders"], made["builders"]) = (Value::Null, Value::Null);
            assert_eq!(made, worker);
        }
    }

    /// What a server writes by itself into an empty journal.
    fn take_first_start(&mut self, entry: &Value) {
        match self.seq {
            1 => assert_eq!(entry["action"], "farm.define"),
            2 => {
                assert_eq!((&entry["action"], &entry["target"]), (&json!("token.add"), &json!("token operator")));
                self.model.add_token("operator", "operator", &entry["author"], &entry["time"]);
            }
            _ => panic!("this is of nobody: {entry}"),
        }
    }

    /// A token that stands is known (and too small a role for the audit log); one that was revoked is not.
    fn try_tokens(&mut self, server: &Server) {
        let mut connection = server.connect();
        self.secrets.retain(|Secret { text, name, added_at }| {
            let mut tokens = self.model.tokens().iter();
            let stands = tokens.any(|token| token["name"] == **name && token["added_at"] == *added_at);
            let bearer = format!("Authorization: Bearer {text}");
            let status = connection.request("GET", "/v1/audit?limit=1", &["Host: localhost", &bearer]).status;
            assert_eq!(status, if stands { 403 } else { 401 }, "{name}, added at {added_at}");
            stands
        });
    }

    /// Entries of the audit log since the last check, oldest first.
    fn entries(&self, reader: &mut Reader) -> Vec<Value> {
        let (mut entries, mut before) = (Vec::new(), String::new());
        loop {
            let page = reader.get(&format!("/v1/audit?limit=100{before}"));
            let listed = page["entries"].as_array().unwrap().iter();
            entries.extend(listed.take_while(|entry| entry["seq"].as_u64() > Some(self.seq)).cloned());
            match page["next_before"].as_u64() {
                Some(next) if next > self.seq + 1 => before = format!("&before={next}"),
                _ => break,
            }
        }
        entries.reverse();
        entries
    }

    /// Reason by generation, of all since the last check.
    fn reasons(&self, reader: &mut Reader, last: u64) -> BTreeMap<u64, String> {
        let mut reasons = BTreeMap::new();
        let mut before = last + 1;
        while before > self.generation() + 1 {
            let page = reader.get(&format!("/v1/allocations/history?limit=100&before={before}"));
            for entry in page["generations"].as_array().unwrap() {
                before = entry["generation"].as_u64().unwrap();
                assert_eq!(entry["author"], "operator");
                reasons.insert(before, entry["reason"].as_str().unwrap().to_owned());
            }
        }
        reasons
    }
}

impl Reader {
    fn get(&mut self, target: &str) -> Value {
        let bearer = format!("Authorization: Bearer {}", self.token);
        let response = self.connection.request("GET", target, &["Host: localhost", &bearer]);
        assert_eq!(response.status, 200, "{target}: {response:?}");
        response.json()
    }
}
