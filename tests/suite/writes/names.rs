//! Names of every kind in writes: what may be one is written by any spelling, what may not is refused.

use serde_json::{Value, json};

use super::desk::{component, desk_with};

const ANYTHING: &str = r#"
farm = { name = "names" }
pools = [{ name = "all", workers = ["a/b c+d", "w{0..9}"] }]
builders = [{ match = "", pool = "all" }]
"#;

#[test]
fn a_name_of_any_kind_is_written_and_deleted() {
    let boxes = crate::suite::reads::boxes::Boxes::with(ANYTHING, |start| {
        start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "100000")
    });
    let long = "𝒳".repeat(128);
    for name in ["Android armv7 API 11+ x", "a/b", "/", "a/", "50%", "%2F", "..", "?", "#", "é", "e\u{301}", " ", &long]
    {
        let body = json!({"machines": ["a/b c+d"]});
        let encoded = component(name);
        for target in [format!("/v1/builders/{encoded}"), format!("/v1/builders/?name={encoded}")] {
            boxes.write("PUT", &target, &body);
            assert_eq!(boxes.read(&target), body, "{target}");
            assert_eq!(boxes.read("/v1/allocations")["builders"], json!({name: ["a/b c+d"]}), "{target}");
            boxes.write("DELETE", &target, &Value::Null);
        }
        boxes.write("PATCH", "/v1/allocations", &json!({"set": {name: ["w1"]}}));
        boxes.write("PATCH", "/v1/allocations", &json!({"unset": [name]}));
        let worker = format!("/v1/workers/{encoded}");
        assert_eq!(
            boxes.ask("PUT", &worker, &[], "{\"pool\":\"all\"}").status,
            if name == "a/b c+d" { 409 } else { 201 }
        );
        assert_eq!(boxes.ask("POST", &format!("{worker}/drain"), &[], "").json()["name"], json!(name));
        let by_query = format!("/v1/workers/release?name={encoded}");
        assert_eq!(boxes.ask("POST", &by_query, &[], "").json()["state"], json!("active"));
        assert_eq!(boxes.ask("DELETE", &worker, &[], "").json(), json!({"name": name}));
    }
    assert_eq!(boxes.read("/v1/allocations")["builders"], json!({}));
}

#[test]
fn what_is_no_name_is_refused_by_any_spelling() {
    let boxes = desk_with(super::desk::FARM, |start| start);
    let body = json!({"machines": ["lin09"]}).to_string();
    for raw in ["%00", "a%0Ab", "%7F", "%C2%85", "%FF", "a%C3", "%ED%A0%80", &"x".repeat(129), &"%C3%A9".repeat(129)] {
        for target in [format!("/v1/builders/{raw}"), format!("/v1/builders?name={raw}")] {
            let problem = boxes.refused("PUT", &target, &body, (422, "rules_broken"));
            assert_eq!(problem["faults"][0]["rule"], json!("bad_name"), "{target}: {problem}");
        }
        boxes.refused("PUT", &format!("/v1/workers/{raw}"), "{\"pool\":\"mac\"}", (422, "bad_name"));
        boxes.refused("POST", &format!("/v1/workers/{raw}/drain"), "", (404, "no_such_worker"));
    }
    // Without any name, a collection is only read.
    for target in ["/v1/builders", "/v1/builders/"] {
        boxes.refused("PUT", target, &body, (405, "method_not_allowed"));
        boxes.refused("DELETE", target, "", (405, "method_not_allowed"));
    }
}
