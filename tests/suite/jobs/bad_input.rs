//! What cannot be right is refused with a reason, and changes nothing.

use serde_json::{Value, json};

use super::floor::{floor, id};

#[test]
fn an_unknown_builder_is_refused_with_the_closest_rules() {
    let floor = floor();
    let jobs = json!([{"builder": "linux a"}, {"builder": "linx b", "priority": 1e9 as i64 + 1}, {"builder": "mac"}]);
    let problem = floor.refused("POST", "/v1/jobs", &jobs.to_string(), (422, "bad_jobs"));
    let problems = problem["problems"].as_array().unwrap();
    let places: Vec<_> = problems.iter().map(|problem| (&problem["index"], &problem["key"])).collect();
    let expected = [(json!(1), json!("builder")), (json!(1), json!("priority")), (json!(2), json!("builder"))];
    assert_eq!(places, expected.iter().map(|(index, key)| (index, key)).collect::<Vec<_>>());
    assert!(problems[0]["message"].as_str().unwrap().contains("^linux "), "{problem}");
    assert_eq!(floor.read("/v1/jobs"), json!({"jobs": [], "next_after": null}), "all or nothing");
}

#[test]
fn a_malformed_job_is_named_by_its_place() {
    let floor = floor();
    for (bad, what) in [
        (json!({}), "missing field `builder`"),
        (json!({"builder": 1}), "expected a string"),
        (json!({"builder": ""}), "never empty"),
        (json!({"builder": "x".repeat(129)}), "at most 128 characters"),
        (json!({"builder": "a\u{7}"}), "no control characters"),
        (json!({"builder": "linux a", "prio": 1}), "unknown field `prio`"),
        (json!({"builder": "linux a", "priority": 1.5}), "expected i64"),
        (json!({"builder": "linux a", "priority": u64::MAX}), "expected i64"),
        (json!({"builder": "linux a", "class": "urgent"}), "unknown variant `urgent`"),
        (json!({"builder": "linux a", "class": {"normal": null}}), "invalid type"),
        (json!({"builder": "linux a", "submitted_at": "yesterday"}), "is not a time"),
        (json!({"builder": "linux a", "submitted_at": 1e300}), "is a number of Unix seconds"),
        (json!({"builder": "linux a", "inputs": "x"}), "expected a sequence"),
        (json!(["linux a"]), "an object is expected"),
        (json!("linux a"), "expected struct"),
        (json!(null), "expected struct"),
    ] {
        let list = json!([{"builder": "linux a"}, bad]).to_string();
        let problem = floor.refused("POST", "/v1/jobs", &list, (400, "malformed"));
        let detail = problem["detail"].as_str().unwrap();
        let is_told = detail.starts_with("jobs[1] ") && detail.contains(what);
        assert!(is_told || what == "an object is expected" && detail.contains("object is expected"), "{detail}");
        if !bad.is_array() {
            floor.refused("POST", "/v1/jobs", &bad.to_string(), (400, "malformed"));
        }
    }
    for body in ["", "[", "[{]", "{}}", r#"{"builder":"linux a","builder":"linux b"}"#, "\u{feff}[]", "[{}] x"] {
        floor.refused("POST", "/v1/jobs", body, (400, "malformed"));
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let floor = floor();
    let many = |count: usize| Value::from(vec![json!({"builder": "linux a"}); count]);
    floor.refused("POST", "/v1/jobs", &many(10_001).to_string(), (413, "too_many_jobs"));
    let text = |bytes: usize| "x".repeat(bytes);
    for (key, value) in [
        ("payload", json!(text(16 * 1024 - 1))),
        ("branch", json!(text(513))),
        ("project", json!(text(513))),
        ("push", json!("é".repeat(257))),
        ("idempotency_key", json!(text(513))),
        ("branch", json!("")),
        ("inputs", json!([text(513)])),
        ("inputs", json!(vec!["x"; 1_001])),
        ("priority", json!(-1_000_000_001)),
    ] {
        let job = json!({"builder": "linux a", key: value}).to_string();
        let problem = floor.refused("POST", "/v1/jobs", &job, (422, "bad_jobs"));
        assert_eq!(problem["problems"][0]["key"], json!(key), "{problem}");
    }
    let largest = json!({
        "builder": "linux a", "payload": text(16 * 1024 - 2), "branch": text(512), "push": "é".repeat(256),
        "inputs": vec!["x"; 1_000], "priority": -1_000_000_000, "class": "idle", "project": "p",
    });
    let accepted = &floor.submit(&largest)[0];
    let job = floor.read(&format!("/v1/jobs/{}", id(accepted)));
    for (key, value) in largest.as_object().unwrap() {
        assert_eq!(&job[key], value, "{key}");
    }

    let accepted = floor.submit(&many(10_000));
    assert_eq!((id(&accepted[0]), id(&accepted[9_999])), ("2", "10001"));
    assert_eq!(floor.submit(&json!([])), Vec::<Value>::new());
    assert_eq!(floor.read("/v1/pools")["pools"][0]["pending"], json!(10_001));
}

#[test]
fn a_time_in_the_future_is_taken_to_be_now() {
    let floor = floor();
    let jobs = json!([
        {"builder": "linux a", "submitted_at": 253_402_207_200_i64},
        {"builder": "linux a", "submitted_at": "2014-06-04T10:32:17Z"},
        {"builder": "linux a"},
    ]);
    let accepted = floor.submit(&jobs);
    assert_eq!((&accepted[0]["clamped"], accepted[0]["submitted_at"].as_f64() < Some(4e9)), (&json!(true), true));
    assert_eq!((accepted[1].get("clamped"), &accepted[1]["submitted_at"]), (None, &json!(1_401_877_937)));
    assert_eq!((accepted[2].get("clamped"), &accepted[2]["submitted_at"]), (None, &accepted[0]["submitted_at"]));
}

#[test]
fn a_claim_that_makes_no_sense_is_refused() {
    let floor = floor();
    floor.submit_one("linux a");
    for (body, status, code) in [
        (json!({"workers": []}), 400, "no_workers"),
        (json!({"workers": ["w1", "w2", "w1"]}), 400, "offered_twice"),
        (json!({"workers": ["w1"], "max": 0}), 400, "nothing_wanted"),
        (json!({"workers": ["w1", "W2"]}), 422, "no_such_worker"),
        (json!({"workers": (0..10_001).map(|at| at.to_string()).collect::<Vec<_>>()}), 413, "too_many_workers"),
        (json!({}), 400, "malformed"),
        (json!({"workers": "w1"}), 400, "malformed"),
        (json!({"workers": ["x".repeat(129)]}), 400, "malformed"),
        (json!({"workers": ["w1"], "max": -1}), 400, "malformed"),
        (json!({"workers": ["w1"], "max": 1.5}), 400, "malformed"),
        (json!({"workers": ["w1"], "wait": -1}), 400, "malformed"),
        (json!({"workers": ["w1"], "wait": "10"}), 400, "malformed"),
        (json!({"workers": ["w1"], "session": ""}), 400, "malformed"),
        (json!({"workers": ["w1"], "session": "x".repeat(513)}), 400, "malformed"),
        (json!({"workers": ["w1"], "idempotency_key": "x".repeat(513)}), 400, "malformed"),
        (json!({"workers": ["w1"], "worker": "w1"}), 400, "malformed"),
        (json!(["w1"]), 400, "malformed"),
    ] {
        floor.refused("POST", "/v1/claims", &body.to_string(), (status, code));
    }
    floor.refused("POST", "/v1/claims", r#"{"workers":["w1"],"wait":1e999}"#, (400, "malformed"));
    floor.refused("POST", "/v1/claims?wait=1", r#"{"workers":["w1"]}"#, (400, "bad_parameter"));
}

#[test]
fn what_is_not_there_is_not_found() {
    let floor = floor();
    let job = floor.submit_one("linux a");
    assert_eq!(job, "1");
    for raw in ["2", "0", "x", "-1", "+1", "1.0", "%31x", "99999999999999999999", "18446744073709551615", "%00"] {
        floor.refused("GET", &format!("/v1/jobs/{raw}"), "", (404, "no_such_job"));
        floor.refused("DELETE", &format!("/v1/jobs/{raw}"), "", (404, "no_such_job"));
        let token = json!({"token": "0".repeat(32), "result": "success"}).to_string();
        floor.refused("POST", &format!("/v1/claims/{raw}/finish"), &token, (404, "no_such_claim"));
        let token = json!({"token": "0".repeat(32)}).to_string();
        floor.refused("POST", &format!("/v1/claims/{raw}/heartbeat"), &token, (404, "no_such_claim"));
    }
    for query in
        ["state=ended", "state=", "limit=0", "limit=1001", "after=x", "after=normal.5.1", "after=normal.5.1.2.3"]
    {
        floor.refused("GET", &format!("/v1/jobs?{query}"), "", (400, "bad_parameter"));
    }
    for body in [r#"{"token":"xyz"}"#, r#"{"token":1}"#, "{}", "[]", ""] {
        floor.refused("POST", "/v1/claims/1/heartbeat", body, (400, "malformed"));
    }
    for result in ["lost", "requeued", "Success", "", "done"] {
        let body = json!({"token": "0".repeat(32), "result": result}).to_string();
        floor.refused("POST", "/v1/claims/1/finish", &body, (400, "malformed"));
    }
}
