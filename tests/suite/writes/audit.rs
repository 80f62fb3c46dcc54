//! The audit log: every write there was, with who, when, what and why, page by page.

use serde_json::{Value, json};

use super::desk::{bearer, desk};

#[test]
fn every_kind_of_write_is_in_the_audit_log() {
    let boxes = desk();
    let made = boxes.ask("POST", "/v1/tokens", &[], r#"{"name":"ops","role":"operator","reason":"t1"}"#).json();
    let ops = bearer(made["token"].as_str().unwrap());
    let writes = [
        ("PUT", "/v1/builders/Linux%20x", r#"{"machines":["lin09"],"reason":"w1"}"#, "allocations.write", "w1"),
        ("DELETE", "/v1/builders/Linux%20x?reason=w2", "", "allocations.write", "w2"),
        ("POST", "/v1/allocations/rollback", r#"{"generation":1,"reason":"w3"}"#, "allocations.rollback", "w3"),
        ("POST", "/v1/allocations/import?reason=w4", r#"{"set":{"Mac a":["mac1"]}}"#, "allocations.import", "w4"),
        ("PUT", "/v1/workers/new", r#"{"pool":"mac","reason":"w5"}"#, "worker.put", "w5"),
        ("POST", "/v1/workers/new/drain", r#"{"reason":"w6"}"#, "worker.drain", "w6"),
        ("POST", "/v1/workers/new/quarantine", r#"{"reason":"w7"}"#, "worker.quarantine", "w7"),
        ("POST", "/v1/workers/new/release", r#"{"reason":"w8"}"#, "worker.release", "w8"),
        ("DELETE", "/v1/workers/new?reason=w9", "", "worker.remove", "w9"),
        ("POST", "/v1/tokens", r#"{"name":"m","role":"master","reason":"w10"}"#, "token.add", "w10"),
        ("DELETE", "/v1/tokens/m?reason=w11", "", "token.revoke", "w11"),
    ];
    for (method, target, body, action, reason) in writes {
        let response = boxes.server.request(method, target, &[&ops], body.as_bytes());
        assert!((200..300).contains(&response.status), "{method} {target}: {response:?}");
        let line = &boxes.look("/v1/audit?limit=1")["entries"][0];
        let shown = (&line["author"], &line["action"], &line["reason"]);
        assert_eq!(shown, (&json!("ops"), &json!(action), &json!(reason)), "{line}");
        assert!(line["time"].as_f64().unwrap() > 1.7e9 && line["detail"].is_string(), "{line}");
        assert!(!line["target"].as_str().unwrap().is_empty(), "{line}");
    }
    let all = boxes.look("/v1/audit");
    let actions: Vec<_> =
        all["entries"].as_array().unwrap().iter().rev().map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(actions[..4], ["farm.define", "token.add", "allocations.write", "token.add"]);
    assert_eq!((actions.len(), &all["next_before"]), (4 + writes.len(), &Value::Null));
    // What was refused, and what was only tried, is not in it.
    boxes.ask("PATCH", "/v1/allocations", &[], r#"{"set":{"none":[]}}"#);
    boxes.ask("PATCH", "/v1/allocations?dry_run=true", &[], "{}");
    assert_eq!(boxes.look("/v1/audit"), all);
}

#[test]
fn the_audit_log_is_paged_to_its_end_and_survives() {
    let boxes = desk();
    for _ in 0..20 {
        boxes.write("PATCH", "/v1/allocations", &json!({}));
    }
    let whole = boxes.look("/v1/audit")["entries"].as_array().unwrap().clone();
    let seqs: Vec<u64> = whole.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=23).rev().collect::<Vec<_>>());
    for limit in [1, 5, 22, 23, 24, 1000] {
        let (mut collected, mut before) = (Vec::new(), String::new());
        loop {
            let page = boxes.look(&format!("/v1/audit?limit={limit}{before}"));
            let entries = page["entries"].as_array().unwrap();
            assert!(entries.len() <= limit);
            collected.extend(entries.iter().cloned());
            let Some(next) = page["next_before"].as_u64() else { break };
            before = format!("&before={next}");
        }
        assert_eq!(collected, whole, "limit={limit}");
    }
    for nothing in ["before=1", "before=0"] {
        assert_eq!(boxes.look(&format!("/v1/audit?{nothing}")), json!({"entries": [], "next_before": null}));
    }
    for bad in ["limit=0", "limit=1001", "limit=-1", "before=-1", "before=x", "before=+1"] {
        boxes.refused("GET", &format!("/v1/audit?{bad}"), "", (400, "bad_parameter"));
    }
    let token = bearer(&boxes.token);
    let home = boxes.home;
    boxes.server.kill9();
    let server = home.start();
    assert_eq!(server.request("GET", "/v1/audit", &[&token], b"").json()["entries"], json!(whole));
}
