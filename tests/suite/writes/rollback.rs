//! Back to an earlier generation, dry runs, and what stands in the history of every write.

use serde_json::{Value, json};

use super::desk::{FARM, desk, desk_with, first};

#[test]
fn a_rollback_is_a_new_generation_equal_to_the_old() {
    let boxes = desk();
    boxes.write("PATCH", "/v1/allocations", &json!({"set": {"Mac b": ["mac1"]}, "unset": ["Linux central b"]}));
    boxes.write("PUT", "/v1/builders/Mac%20central", &json!({"machines": ["mac5", "mac4"]}));
    let response = boxes.ask("POST", "/v1/allocations/rollback/", &[], "{\"generation\":1,\"reason\":\"as it was\"}");
    let delta = json!({"generation": 4, "since": 3, "set": {"Linux central b": ["lin00"], "Mac central": ["mac0"]},
        "unset": ["Mac b"]});
    assert_eq!((response.status, response.json()), (200, delta));
    assert_eq!(boxes.read("/v1/allocations")["builders"], first());
    let entry = &boxes.read("/v1/allocations/history?limit=1")["generations"][0];
    assert_eq!((&entry["reason"], &entry["author"]), (&json!("as it was"), &json!("operator")));
    let entry = &boxes.look("/v1/audit?limit=1")["entries"][0];
    assert_eq!((&entry["action"], &entry["reason"]), (&json!("allocations.rollback"), &json!("as it was")));
    assert!(entry["detail"].as_str().unwrap().contains("back to generation 1"), "{entry}");
    // To the generation in force, and to the empty one.
    boxes.write("POST", "/v1/allocations/rollback", &json!({"generation": 4}));
    boxes.write("POST", "/v1/allocations/rollback", &json!({"generation": 0}));
    assert_eq!(boxes.read("/v1/allocations")["builders"], json!({}));
}

#[test]
fn a_rollback_is_held_against_the_rules_of_today() {
    let boxes = desk_with(&format!("{FARM}\nkeep_generations = 4\n"), |start| start);
    boxes.write("PATCH", "/v1/allocations", &json!({"unset": ["Linux central b"]}));
    boxes.home.write_farm(&format!("{}\nkeep_generations = 4\n", FARM.replace("machine = 2", "machine = 1")));
    assert_eq!(boxes.ask("POST", "/v1/farm/reload", &[], "").status, 200);
    let fault = json!([{"builder": "Linux central b", "rule": "too_many_builders", "machine": "lin00",
        "value": {"builders": 2, "max": 1}}]);
    boxes.broken("POST", "/v1/allocations/rollback", &json!({"generation": 1}), &fault);
    boxes.broken("POST", "/v1/allocations/rollback?force=true", &json!({"generation": 1}), &fault);
    for generation in [3, 99, u64::MAX] {
        let body = json!({"generation": generation}).to_string();
        boxes.refused("POST", "/v1/allocations/rollback", &body, (410, "generation_not_kept"));
    }
    for _ in 0..3 {
        boxes.write("PATCH", "/v1/allocations", &json!({}));
    }
    let gone = boxes.refused("POST", "/v1/allocations/rollback", "{\"generation\":1}", (410, "generation_not_kept"));
    assert!(gone["detail"].as_str().unwrap().contains("oldest is 2"), "{gone}");
}

#[test]
fn a_dry_run_answers_what_the_write_would_and_changes_nothing() {
    let boxes = desk();
    let writes: [(&str, &str, Value); 6] = [
        ("PUT", "/v1/allocations", json!({"builders": {"Mac a": ["mac2", "mac1"], "Mac central": ["mac0"]}})),
        ("PATCH", "/v1/allocations", json!({"set": {"Mac b": ["mac3"]}, "unset": ["Mac a", "never there"]})),
        ("PATCH", "/v1/allocations", json!({})),
        ("PUT", "/v1/builders/Linux%20x", json!({"machines": ["lin09"], "reason": "é"})),
        ("DELETE", "/v1/builders?name=Mac%20central", Value::Null),
        ("POST", "/v1/allocations/rollback", json!({"generation": 1})),
    ];
    for (at, (method, target, body)) in writes.iter().enumerate() {
        let mark = if target.contains('?') { '&' } else { '?' };
        let before = boxes.known();
        let dry = boxes.ask(method, &format!("{target}{mark}dry_run=true"), &[], &body.to_string());
        assert_eq!(boxes.known(), before);
        let generation = (at + 1).to_string();
        assert_eq!(dry.header("x-jacuzzi-generation"), Some(generation.as_str()), "what is in force");
        let wet = boxes.ask(method, target, &[], &body.to_string());
        assert_eq!((dry.status, wet.status, dry.json()), (200, 200, wet.json()), "{method} {target}");
        assert_eq!((&wet.json()["since"], &wet.json()["generation"]), (&json!(at + 1), &json!(at + 2)));
    }
}

#[test]
fn every_accepted_write_is_a_generation_with_an_author_and_a_reason() {
    let boxes = desk();
    let master = boxes.ask("POST", "/v1/tokens", &[], r#"{"name":"ops é","role":"operator","reason":"night shift"}"#);
    let token = super::desk::bearer(master.json()["token"].as_str().unwrap());
    let writes = [
        ("PUT", "/v1/allocations", json!({"builders": first(), "reason": "nothing new"})),
        ("PATCH", "/v1/allocations", json!({"reason": null})),
        ("PATCH", "/v1/allocations", json!({"set": {"Mac central": ["mac0"]}, "reason": ""})),
        ("PUT", "/v1/builders/Mac%20central", json!({"machines": ["mac0"], "reason": "line\nbreak"})),
        ("POST", "/v1/allocations/rollback", json!({"generation": 1, "reason": "r"})),
    ];
    for (at, (method, target, body)) in writes.iter().enumerate() {
        let response = boxes.server.request(method, target, &[&token], body.to_string().as_bytes());
        let delta = json!({"generation": at + 2, "since": at + 1, "set": {}, "unset": []});
        assert_eq!((response.status, response.json()), (200, delta), "{method} {target}");
        let entry = &boxes.read("/v1/allocations/history?limit=1")["generations"][0];
        assert_eq!((&entry["generation"], &entry["author"]), (&json!(at + 2), &json!("ops é")));
        assert_eq!((&entry["reason"], &entry["added"], &entry["removed"]), (&body["reason"], &json!(0), &json!(0)));
        let entry = &boxes.look("/v1/audit?limit=1")["entries"][0];
        assert_eq!((&entry["author"], &entry["reason"]), (&json!("ops é"), &body["reason"]), "{entry}");
    }
    boxes.write("DELETE", "/v1/builders/Mac%20central?reason=no%20more+macs%26", &Value::Null);
    let entry = &boxes.read("/v1/allocations/history?limit=1")["generations"][0];
    assert_eq!((&entry["reason"], &entry["removed"]), (&json!("no more+macs&"), &json!(1)));
}
