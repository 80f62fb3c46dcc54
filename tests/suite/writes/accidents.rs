//! The two real accidents on Mozilla's farm, as writes on the state that they met.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::desk::component;
use crate::suite::reads::boxes::Boxes;
use crate::suite::reads::model::{Lists, State, lists};
use crate::suite::reads::mozilla::{self, EMPTY_QUERY, USAGE_MESSAGE_COMMITTED, mozilla};

/// Mozilla's farm just before the first change of a day for which this holds, and what that change set.
fn before(day: &std::ops::Range<i64>, is_it: impl Fn(&Lists) -> bool) -> (Boxes, State, Lists) {
    let lines = mozilla::lines();
    let fits = |line: &Value| day.contains(&line["time"].as_i64().unwrap()) && is_it(&lists(&line["set"]));
    let at = lines.iter().position(fits).unwrap();
    let state = mozilla::states(&lines[..at]).pop().unwrap();
    let boxes = mozilla(false);
    let history: String = lines[..at].iter().map(|line| format!("{line}\n")).collect();
    let imported = boxes.try_write("POST", "/v1/allocations/import", &history);
    assert_eq!(imported.status, 200, "{imported:?}");
    let set = lists(&lines[at]["set"]);
    (boxes, state, set)
}

fn usage_message() -> (Boxes, State, Lists) {
    before(&USAGE_MESSAGE_COMMITTED, |set| set.values().any(Vec::is_empty))
}

fn empty_query() -> (Boxes, State, Lists) {
    before(&EMPTY_QUERY, |set| set.len() == 49)
}

fn assert_in_force(boxes: &Boxes, state: &State, generation: u64) {
    assert_eq!(boxes.read("/v1/allocations"), state.blob(&boxes.epoch(), generation));
}

fn generation(boxes: &Boxes) -> u64 {
    boxes.read("/v1/allocations")["generation"].as_u64().unwrap()
}

#[test]
fn a_usage_message_for_data_is_refused_with_every_fault() {
    let (boxes, state, set) = usage_message();
    let generation = generation(&boxes);
    assert_eq!((set.len(), set.values().filter(|machines| machines.is_empty()).count()), (29, 29));
    let mut all = state.builders.clone();
    all.extend(set.clone());
    for (method, body) in [("PATCH", json!({"set": set})), ("PUT", json!({"builders": all}))] {
        for target in ["/v1/allocations", "/v1/allocations?force=true", "/v1/allocations?dry_run=true"] {
            let problem = boxes.refused(method, target, &body.to_string(), (422, "rules_broken"));
            let faults = problem["faults"].as_array().unwrap();
            let empty = faults.iter().filter(|fault| fault["rule"] == "empty_list");
            let empty: BTreeSet<_> = empty.map(|fault| fault["builder"].as_str().unwrap()).collect();
            assert_eq!(empty, set.keys().map(String::as_str).collect(), "{method} {target}");
        }
    }
    for builder in set.keys() {
        let target = format!("/v1/builders/{}?force=true", component(builder));
        let response = boxes.try_write("PUT", &target, "{\"machines\":[]}");
        assert_eq!(response.status, 422, "{builder}: {response:?}");
    }
    assert_in_force(&boxes, &state, generation);
}

#[test]
fn an_empty_query_for_sizes_is_refused_in_one_write() {
    let (boxes, state, set) = empty_query();
    let in_force = generation(&boxes);
    assert!(set.values().all(|machines| machines.len() == 1));
    let faults = json!([{"builder": null, "rule": "shrink",
        "value": {"most": 190, "becomes": 61, "max_shrink_percent": 30}}]);
    let body = json!({"set": set, "reason": "resize"});
    boxes.broken("PATCH", "/v1/allocations", &body, &faults);
    boxes.broken("PATCH", "/v1/allocations?dry_run=true", &body, &faults);
    assert_in_force(&boxes, &state, in_force);

    // Force lifts this rule and no other.
    let mut worse = set.clone();
    worse.insert("no such builder".into(), vec!["bld-linux64-spot-001".into()]);
    let problem =
        boxes.refused("PATCH", "/v1/allocations?force=true", &json!({"set": worse}).to_string(), (422, "rules_broken"));
    assert!(problem["faults"].as_array().unwrap().iter().any(|fault| fault["rule"] == "unmatched_builder"));
    assert!(problem["faults"].as_array().unwrap().iter().all(|fault| fault["rule"] != "shrink"), "{problem}");
    let forced = boxes.write("PATCH", "/v1/allocations?force=true", &body);
    let mut after = state;
    after.builders.extend(set);
    assert_eq!((forced, after.machines().len()), (in_force + 1, 61));
    assert_in_force(&boxes, &after, forced);
    let entry = &boxes.look("/v1/audit?limit=1")["entries"][0];
    assert!(entry["detail"].as_str().unwrap().contains("forced"), "{entry}");
}

#[test]
fn an_empty_query_for_sizes_is_refused_in_49_small_writes() {
    let (boxes, mut state, set) = empty_query();
    let mut in_force = generation(&boxes);
    let (mut accepted, mut refused) = (0, 0);
    for (builder, machines) in &set {
        let mut after = state.clone();
        after.builders.insert(builder.clone(), machines.clone());
        let (before, becomes) = (state.machines().len(), after.machines().len());
        let is_fine = becomes >= before || 190 - becomes <= 57;
        let target = format!("/v1/builders/{}", component(builder));
        let response = boxes.try_write("PUT", &target, &json!({"machines": machines}).to_string());
        if is_fine {
            assert_eq!(response.status, 200, "{before} to {becomes}: {response:?}");
            (state, in_force, accepted) = (after, in_force + 1, accepted + 1);
        } else {
            let faults = json!([{"builder": null, "rule": "shrink",
                "value": {"most": 190, "becomes": becomes, "max_shrink_percent": 30}}]);
            assert_eq!((response.status, &response.json()["faults"]), (422, &faults), "{before} to {becomes}");
            refused += 1;
        }
        assert_in_force(&boxes, &state, in_force);
    }
    assert!(accepted > 5 && refused > 5, "{accepted} accepted, {refused} refused");
    assert!(state.machines().len() >= 133, "{}", state.machines().len());
    // What was refused once is refused again, until somebody takes it upon him.
    let all = json!({"set": set});
    assert_eq!(boxes.try_write("PATCH", "/v1/allocations", &all.to_string()).status, 422);
    boxes.write("PATCH", "/v1/allocations?force=true", &all);
    assert_eq!(boxes.read("/v1/allocated/all")["machines"].as_array().unwrap().len(), 61);
}
