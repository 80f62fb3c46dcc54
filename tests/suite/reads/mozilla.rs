//! Mozilla's real history: 5,050 changes, each of which must be read back as it was published.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::boxes::Boxes;
use super::events::Events;
use super::model::State;

const HISTORY: &str = "tests/data/mozilla-jacuzzis-2014-2016.jsonl";
const FARM: &str = "config/mozilla.toml";

const CHANGES: u64 = 5050;

/// A day that went wrong, in Unix seconds.
pub const USAGE_MESSAGE_COMMITTED: std::ops::Range<i64> = 1_401_840_000..1_401_926_400; // 2014-06-04
pub const EMPTY_QUERY: std::ops::Range<i64> = 1_433_808_000..1_433_894_400; // 2015-06-09

pub fn lines() -> Vec<Value> {
    let text = fs::read_to_string(HISTORY).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The states after each line, beginning with the empty one; replayed by the plainest means.
pub fn states(lines: &[Value]) -> Vec<State> {
    let mut states = vec![State::default()];
    for line in lines {
        let mut state = states.last().unwrap().clone();
        state.replay(line);
        states.push(state);
    }
    states
}

/// The farm as it ships, with its history where it is, or without.
pub fn mozilla(import: bool) -> Boxes {
    let shipped = "import = \"../tests/data/mozilla-jacuzzis-2014-2016.jsonl\"";
    let farm = fs::read_to_string(FARM).unwrap();
    assert!(farm.contains(shipped));
    let line = if import { format!("import = {}", json!(crate::suite::in_checkout(HISTORY))) } else { String::new() };
    Boxes::with(&farm.replace(shipped, &line), |start| start.env("JACUZZI__LIMITS__READS_PER_SECOND", "1000000"))
}

#[test]
fn every_delta_turns_its_blob_into_the_next() {
    let lines = lines();
    let states = states(&lines);
    let boxes = mozilla(true);
    let epoch = boxes.epoch();
    let (first, last) = (&states[0], &states[states.len() - 1]);
    assert_eq!(boxes.read("/v1/allocations"), last.blob(&epoch, CHANGES));

    let mut events = Events::open(&boxes.server, "/v1/allocations/events", &["Last-Event-ID: 0"]);
    let mut connection = boxes.server.connect();
    let mut read = |since: u64, query: &str| {
        let response =
            connection.request("GET", &format!("/v1/allocations?since={since}{query}"), &["Host: localhost"]);
        assert_eq!(response.status, 200, "{since}{query}: {response:?}");
        response.json()
    };
    for (since, pair) in states.windows(2).enumerate() {
        let next = since + 1;
        let mut delta = read(since as u64, &format!("&until={next}"));
        assert_eq!((&delta["since"], &delta["generation"]), (&json!(since), &json!(next)));
        let mut state = pair[0].clone();
        state.apply(&delta);
        assert_eq!(state, pair[1], "{since} to {next}");

        delta["epoch"] = json!(epoch);
        assert_eq!(events.next(), (next as u64, delta), "event {next}");

        // From here to the newest at once, from nothing to here, and all the way back.
        if since % 50 == 0 {
            for (from, query, to) in [
                (&pair[0], String::new(), last),
                (first, format!("&until={next}"), &pair[1]),
                (last, format!("&until={since}"), &pair[0]),
            ] {
                let start = states.iter().position(|state| std::ptr::eq(state, from)).unwrap();
                let mut state = from.clone();
                state.apply(&read(start as u64, &query));
                assert_eq!(&state, to, "{start}{query}");
            }
        }
    }
}

#[test]
fn the_history_is_as_long_as_its_file_and_has_its_times() {
    let lines = lines();
    let states = states(&lines);
    let boxes = mozilla(true);
    let (mut entries, mut before) = (Vec::new(), String::new());
    loop {
        let page = boxes.read(&format!("/v1/allocations/history?limit=1000{before}"));
        entries.extend(page["generations"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next_before"].as_u64() else { break };
        before = format!("&before={next}");
    }
    assert_eq!((entries.len() as u64, lines.len() as u64), (CHANGES, CHANGES));
    let assignments = |state: &State| -> BTreeSet<(String, String)> {
        let pairs = state.builders.iter();
        pairs.flat_map(|(builder, list)| list.iter().map(|machine| (builder.clone(), machine.clone()))).collect()
    };
    for (at, (entry, line)) in entries.iter().rev().zip(&lines).enumerate() {
        let (old, new) = (assignments(&states[at]), assignments(&states[at + 1]));
        assert_eq!((&entry["generation"], &entry["time"]), (&json!(at + 1), &line["time"]));
        let sizes = (new.difference(&old).count(), old.difference(&new).count());
        assert_eq!((&entry["added"], &entry["removed"]), (&json!(sizes.0), &json!(sizes.1)), "{entry}");
        assert_eq!(entry["author"], json!("import"));
    }
}

fn import(boxes: &Boxes, query: &str) -> crate::suite::wire::Response {
    let history = fs::read_to_string(HISTORY).unwrap();
    boxes.try_write("POST", &format!("/v1/allocations/import{query}"), &history)
}

#[test]
fn every_broken_rule_is_reported() {
    let lines = lines();
    let boxes = mozilla(false);
    let response = import(&boxes, "?reason=for%20the%20record");
    assert_eq!(response.status, 200, "{response:?}");
    let report = response.json();
    assert_eq!((&report["first"], &report["last"], &report["imported"]), (&json!(1), &json!(CHANGES), &json!(CHANGES)));

    let broken = report["broken"].as_array().unwrap();
    let of_rule = |rule: &str| -> Vec<&Value> { broken.iter().filter(|fault| fault["rule"] == *rule).collect() };
    let mut empty: Vec<(i64, usize, String)> = of_rule("empty_list")
        .iter()
        .map(|fault| {
            let number = |key: &str| fault[key].as_i64().unwrap_or_else(|| panic!("{key}: {fault}"));
            (number("time"), usize::try_from(number("line")).unwrap(), fault["builder"].as_str().unwrap().to_owned())
        })
        .collect();
    empty.sort();
    let in_file = |(at, line): (usize, &Value)| -> Vec<(i64, usize, String)> {
        let lists = line["set"].as_object().unwrap().iter();
        let empty = lists.filter(|(_, machines)| machines.as_array().unwrap().is_empty());
        empty.map(|(builder, _)| (line["time"].as_i64().unwrap(), at + 1, builder.clone())).collect()
    };
    let mut expected: Vec<_> = lines.iter().enumerate().flat_map(in_file).collect();
    expected.sort();
    assert_eq!(empty, expected);
    let accident: BTreeSet<_> = empty.iter().filter(|fault| USAGE_MESSAGE_COMMITTED.contains(&fault.0)).collect();
    assert_eq!(accident.len(), 29);

    let shrinks = of_rule("shrink");
    let accident = shrinks.iter().find(|fault| EMPTY_QUERY.contains(&fault["time"].as_i64().unwrap()));
    let accident = accident.unwrap_or_else(|| panic!("no shrink on 2015-06-09: {shrinks:?}"));
    assert_eq!((&accident["builder"], &accident["value"]["max_shrink_percent"]), (&Value::Null, &json!(30)));
    assert_eq!((&accident["value"]["most"], &accident["value"]["becomes"]), (&json!(190), &json!(61)));

    let newest = &boxes.read("/v1/allocations/history?limit=1")["generations"][0];
    assert_eq!(newest["reason"], json!("for the record"));
}

#[test]
fn a_strict_import_changes_nothing() {
    let boxes = mozilla(false);
    let response = import(&boxes, "?strict=true");
    let problem = response.json();
    assert_eq!((response.status, &problem["code"]), (422, &json!("strict_import")), "{problem}");
    let blob = boxes.read("/v1/allocations");
    assert_eq!((&blob["generation"], &blob["builders"]), (&json!(0), &json!({})));
    assert_eq!(boxes.read("/v1/allocations/history")["generations"], json!([]));

    let report = import(&boxes, "").json();
    let first = &report["broken"][0];
    let (line, rule) = (&first["line"], &first["rule"]);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(&format!("line {line} ")), "{detail}; the first is {first}");
    assert!(problem["faults"].as_array().unwrap().iter().any(|fault| fault["rule"] == *rule), "{problem}");
}
