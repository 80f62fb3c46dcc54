//! Bodies and parameters of the wrong form: each is a 400, whoever sends it.

use serde_json::json;

use super::desk::{assert_problem, desk};

const ALL: (&str, &str) = ("PUT", "/v1/allocations");
const SOME: (&str, &str) = ("PATCH", "/v1/allocations");
const ONE: (&str, &str) = ("PUT", "/v1/builders/Mac%20central");
const BACK: (&str, &str) = ("POST", "/v1/allocations/rollback");
const WORKER: (&str, &str) = ("PUT", "/v1/workers/new");
const DRAIN: (&str, &str) = ("POST", "/v1/workers/lin00/drain");
const TOKEN: (&str, &str) = ("POST", "/v1/tokens");

/// Each is wrong in its form for its call.
const BODIES: [((&str, &str), &str); 73] = [
    (ALL, r#"{"builders":{},"bilders":{}}"#),
    (ALL, r#"{"builders":{},"builders":{}}"#),
    (ALL, r#"{"builders":{"Mac a":["mac1"],"Mac a":["mac1"]}}"#),
    (ALL, r#"{"builders":{"Mac a":["mac1"],"Mac \u0061":["mac2"]}}"#),
    (ALL, r#"{"builders":{},"reason":"a","reason":"a"}"#),
    (ALL, r#"{"builders":{"Mac a":["mac1","mac1"]}}"#),
    (ALL, r#"{"builders":[]}"#),
    (ALL, r#"{"builders":null}"#),
    (ALL, r#"{"builders":{"Mac a":"mac1"}}"#),
    (ALL, r#"{"builders":{"Mac a":[1]}}"#),
    (ALL, r#"{"builders":{"Mac a":[null]}}"#),
    (ALL, r#"{"builders":{"Mac a":{"machines":["mac1"]}}}"#),
    (ALL, r#"{"builders":{},"reason":1}"#),
    (ALL, r#"{"reason":"no builders"}"#),
    (ALL, r#"{"set":{}}"#),
    (ALL, r#"[{"Mac a":["mac1"]},"a list of the values, in order"]"#),
    (ALL, ""),
    (ALL, "null"),
    (ALL, r#"{"builders":{}} {}"#),
    (ALL, "\u{feff}{\"builders\":{}}"),
    (ALL, "builders=x"),
    (SOME, "[]"),
    (SOME, " \n[{},[],\"why\"]"),
    (SOME, r#"{"set":{},"set":{}}"#),
    (SOME, r#"{"unset":["Mac central"],"unset":[]}"#),
    (SOME, r#"{"unset":["Mac central","Mac central"]}"#),
    (SOME, r#"{"unset":["",""]}"#),
    (SOME, r#"{"set":{"Mac a":["mac1"]},"unset":["Mac a"]}"#),
    (SOME, r#"{"set":{"":["mac1"]},"unset":[""]}"#),
    (SOME, r#"{"set":{"Mac a":["mac1","mac\u0031"]}}"#),
    (SOME, r#"{"set":{"Mac a":["none","none"]}}"#),
    (SOME, r#"{"set":{"Mac a":["\u0000","\u0000"]}}"#),
    (SOME, r#"{"set":null}"#),
    (SOME, r#"{"unset":{}}"#),
    (SOME, r#"{"unset":"Mac central"}"#),
    (SOME, r#"{"builders":{}}"#),
    (ONE, r#"{"machines":["mac1","mac1"]}"#),
    (ONE, r#"{"machines":["mac1"],"machines":["mac2"]}"#),
    (ONE, r#"{"machines":["mac1"],"builder":"Mac central"}"#),
    (ONE, r#"{"machines":null}"#),
    (ONE, r#"{}"#),
    (ONE, r#"["mac1"]"#),
    (ONE, r#"[["mac1"]]"#),
    (BACK, r#"{"generation":-1}"#),
    (BACK, r#"{"generation":1.0}"#),
    (BACK, r#"{"generation":"1"}"#),
    (BACK, r#"{"generation":null}"#),
    (BACK, r#"{"generation":18446744073709551616}"#),
    (BACK, r#"{"generation":0,"generation":0}"#),
    (BACK, r#"{"generation":0,"to":0}"#),
    (BACK, r#"{"reason":"whither"}"#),
    (BACK, r#"[0]"#),
    (BACK, r#"1"#),
    (WORKER, r#"{"pool":"mac","pool":"mac"}"#),
    (WORKER, r#"{"pool":"mac","attributes":{"a":"1","a":"2"}}"#),
    (WORKER, r#"{"pool":"mac","attributes":{"a":1}}"#),
    (WORKER, r#"{"pool":"mac","attributes":null}"#),
    (WORKER, r#"{"pool":"mac","class":"cloud"}"#),
    (WORKER, r#"{"pool":"mac","state":"draining"}"#),
    (WORKER, r#"{"class":"spot"}"#),
    (WORKER, r#"["mac"]"#),
    (DRAIN, r#"{"why":"reason"}"#),
    (DRAIN, "[]"),
    (DRAIN, "x"),
    (TOKEN, r#"{"name":"x"}"#),
    (TOKEN, r#"{"name":"x","role":"Operator"}"#),
    (TOKEN, r#"{"name":"x","role":"admin"}"#),
    (TOKEN, r#"{"name":"x","name":"y","role":"worker"}"#),
    (TOKEN, r#"{"name":1,"role":"worker"}"#),
    (TOKEN, r#"{"name":"x","role":"worker","token":"mine"}"#),
    (TOKEN, r#"["x","operator"]"#),
    (TOKEN, r#"{"name":"x","role":{"operator":null}}"#),
    (WORKER, r#"{"pool":"mac","class":{"spot":null}}"#),
];

/// What comes before the reason, which is too long, for each call.
const BEFORE_REASON: [((&str, &str), &str); 7] = [
    (ALL, "\"builders\":{},"),
    (SOME, ""),
    (ONE, "\"machines\":[\"mac1\"],"),
    (BACK, "\"generation\":1,"),
    (WORKER, "\"pool\":\"mac\","),
    (DRAIN, ""),
    (TOKEN, "\"name\":\"x\",\"role\":\"worker\","),
];

#[test]
fn a_malformed_body_is_told_before_anything_else() {
    let boxes = desk();
    let long = json!("é".repeat(1001)).to_string();
    let too_long = BEFORE_REASON.iter().map(|(call, start)| (call, format!("{{{start}\"reason\":{long}}}")));
    let bodies = BODIES.iter().map(|(call, body)| (call, (*body).to_owned())).chain(too_long);
    let before = boxes.known();
    for ((method, target), body) in bodies {
        for response in [
            boxes.ask(method, target, &[], &body),
            boxes.ask(method, target, &["If-Match: \"stale\""], &body),
            boxes.server.request(method, target, &[], body.as_bytes()),
        ] {
            let shown: String = body.chars().take(80).collect();
            assert_problem(&response, 400, "malformed", &format!("{method} {target} {shown}"));
        }
    }
    assert_eq!(boxes.known(), before);
}

#[test]
fn a_malformed_parameter_is_told_too() {
    let boxes = desk();
    let long = "x".repeat(1001);
    let delete = "/v1/builders/Mac%20central";
    for (method, target, code) in [
        ("PUT", "/v1/allocations?dry_run=1".to_owned(), "bad_parameter"),
        ("PATCH", "/v1/allocations?force=yes".to_owned(), "bad_parameter"),
        ("PATCH", "/v1/allocations?force=".to_owned(), "bad_parameter"),
        ("PUT", "/v1/builders/Mac%20central?dry_run=True".to_owned(), "bad_parameter"),
        ("POST", "/v1/allocations/rollback?force=%FF".to_owned(), "bad_parameter"),
        ("POST", "/v1/farm/reload?dry_run=maybe".to_owned(), "bad_parameter"),
        // A slip that would turn a trial into the real thing, or lose what somebody meant to say.
        ("PUT", "/v1/allocations?dryrun=true".to_owned(), "bad_parameter"),
        ("PATCH", "/v1/allocations?dry-run=true".to_owned(), "bad_parameter"),
        ("PATCH", "/v1/allocations?dry_run=true&dry_run=false".to_owned(), "bad_parameter"),
        ("PATCH", "/v1/allocations?reason=x".to_owned(), "bad_parameter"),
        ("PUT", "/v1/allocations?name=Mac%20central".to_owned(), "bad_parameter"),
        ("POST", "/v1/allocations/rollback?Force=true".to_owned(), "bad_parameter"),
        ("POST", "/v1/allocations/import?dry_run=true".to_owned(), "bad_parameter"),
        ("POST", "/v1/farm/reload?dry_run=true&x".to_owned(), "bad_parameter"),
        ("PUT", "/v1/workers/new?dry_run=true".to_owned(), "bad_parameter"),
        ("POST", "/v1/workers/lin00/drain?reason=disk".to_owned(), "bad_parameter"),
        ("DELETE", format!("{delete}?dryrun=true"), "bad_parameter"),
        ("DELETE", "/v1/workers/none?dry_run=true".to_owned(), "bad_parameter"),
        ("POST", "/v1/tokens?role=worker".to_owned(), "bad_parameter"),
        ("DELETE", "/v1/tokens/none?force=true".to_owned(), "bad_parameter"),
        ("DELETE", format!("{delete}?dry_run=0"), "bad_parameter"),
        ("DELETE", format!("{delete}?reason=%FF"), "bad_parameter"),
        ("DELETE", format!("{delete}?reason={long}"), "malformed"),
        ("DELETE", format!("/v1/workers/none?reason={long}"), "malformed"),
        ("DELETE", "/v1/workers/none?reason=%C3".to_owned(), "bad_parameter"),
        ("DELETE", format!("/v1/tokens/none?reason={long}"), "malformed"),
    ] {
        boxes.refused(method, &target, "{}", (400, code));
        let nobody = boxes.server.request(method, &target, &[], b"{}");
        assert_problem(&nobody, 400, code, &format!("{method} {target}"));
    }
    // A parameter whose value is all right, and the longest reason there may be.
    let reason = "é".repeat(1000);
    boxes.write(
        "PUT",
        "/v1/builders/Mac%20central?dry_run=false&force=false",
        &json!({"machines": ["mac1"], "reason": reason}),
    );
    assert_eq!(boxes.look("/v1/audit?limit=1")["entries"][0]["reason"], json!(reason));
}
