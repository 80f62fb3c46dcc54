//! Advice to masters that assign by themselves: the dispatcher's own decision, which changes nothing.

use serde_json::{Value, json};

use super::floor::floor;
use crate::suite::reads::boxes::Boxes;
use crate::suite::writes::desk::assert_problem;

fn advice(floor: &Boxes, body: &Value) -> Value {
    let response = floor.ask("POST", "/v1/prioritize", &[], &body.to_string());
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

#[test]
fn a_master_is_told_what_a_claim_call_would_have_got() {
    let floor = floor();
    floor.ask("PATCH", "/v1/allocations", &[], r#"{"set": {"linux own": ["w1"]}}"#);
    let before = floor.known();
    let told = advice(
        &floor,
        &json!({
            "idle": ["w1", "w2", "m1"],
            "pending": [
                {"builder": "linux late", "priority": 4, "submitted_at": 2000},
                {"builder": "linux early", "priority": 4, "submitted_at": 1000},
                {"builder": "linux own", "priority": 9}, {"builder": "linux own", "priority": 2},
                {"builder": "mac a"}, {"builder": "mac b", "class": "idle"},
            ],
        }),
    );
    let expected = json!({
        "order": ["mac a", "linux own", "linux early", "linux late", "mac b"],
        "assign": [
            {"builder": "mac a", "worker": "m1"}, {"builder": "linux own", "worker": "w1"},
            {"builder": "linux early", "worker": "w2"},
        ],
        "held": [
            {"builder": "linux late", "reason": "the one idle worker of the pool that no builder has goes to a more important job"},
            {"builder": "linux own", "reason": "the one idle worker of its allocation goes to a more important job"},
            {"builder": "mac b", "reason": "the one idle worker of the pool that no builder has goes to a more important job"},
        ],
        "ignored": [],
    });
    assert_eq!(told, expected);
    assert_eq!(floor.known(), before, "nothing is changed");
}

#[test]
fn what_cannot_run_is_held_with_its_reason_and_never_given_to_others() {
    let floor = floor();
    floor.ask("PATCH", "/v1/allocations", &[], r#"{"set": {"linux own": ["w1"]}}"#);
    floor.ask("POST", "/v1/pools/mac/pause", &[], r#"{"reason": "no licences"}"#);
    floor.ask("POST", "/v1/workers/w3/drain", &[], r#"{"reason": "disk"}"#);
    floor.submit_one("linux a");
    let claim = floor.claim_one("w4");
    let told = advice(
        &floor,
        &json!({
            "idle": ["w2", "w3", "w4", "m1", "solaris"],
            "pending": [{"builder": "linux own"}, {"builder": "mac a"}, {"builder": "beos x"}],
        }),
    );
    assert_eq!(told["assign"], json!([]));
    let reason = |list: &str, key: &str, name: &str| {
        let entries = told[list].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry[key] == name).unwrap_or_else(|| panic!("{name}: {told}"));
        entry["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason("held", "builder", "linux own"), "the one worker of its allocation is not idle");
    let paused = reason("held", "builder", "mac a");
    assert!(paused.starts_with("pool mac is paused by ") && paused.ends_with(": no licences"), "{paused}");
    assert!(reason("held", "builder", "beos x").starts_with("no builder rule of the farm file matches it"));
    assert!(reason("ignored", "worker", "w3").starts_with("draining by "));
    assert_eq!(reason("ignored", "worker", "w4"), format!("it runs job {}", claim["job"]["id"].as_str().unwrap()));
    assert_eq!(reason("ignored", "worker", "solaris"), "no such worker is in the farm");
}

#[test]
fn too_much_and_what_is_malformed_is_refused() {
    let floor = floor();
    let refused = |body: &Value, status, code| {
        assert_problem(&floor.ask("POST", "/v1/prioritize", &[], &body.to_string()), status, code, "prioritize");
    };
    refused(&json!({"idle": []}), 400, "malformed");
    refused(&json!({"idle": [], "pending": [{"builder": "a", "why": 1}]}), 400, "malformed");
    refused(&json!({"idle": [], "pending": vec![json!({"builder": "linux a"}); 10_001]}), 413, "too_many_jobs");
    assert_eq!(advice(&floor, &json!({"idle": [], "pending": []}))["order"], json!([]));
}
