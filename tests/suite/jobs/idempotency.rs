//! A call that is made again with its key does nothing more, and says what the first one said.

use serde_json::{Value, json};

use super::floor::{floor, id, ids};

#[test]
fn a_job_is_submitted_once() {
    let floor = floor();
    let job = json!({"builder": "linux a", "idempotency_key": "push 1/é", "payload": 1});
    let first = floor.submit(&job)[0].clone();
    assert_eq!(first.get("known"), None);
    let other = json!({"builder": "linux other", "idempotency_key": "push 1/é", "priority": 1});
    for again in [&job, &other] {
        let mut known = floor.submit(again)[0].clone();
        assert_eq!(known.as_object_mut().unwrap().remove("known"), Some(json!(true)));
        assert_eq!(known, first);
    }
    let many = floor.submit(&json!([{"builder": "linux b", "idempotency_key": "two"}, job, {"builder": "linux c"},
        {"builder": "linux b", "idempotency_key": "two"}]));
    assert_eq!(ids(&many), ["2", "1", "3", "2"]);
    let known: Vec<_> = many.iter().map(|job| job.get("known").is_some()).collect();
    assert_eq!(known, [false, true, false, true]);
    assert_eq!(floor.read("/v1/jobs?limit=1000")["jobs"].as_array().unwrap().len(), 3);

    let claim = floor.claim_one("w1");
    assert_eq!(floor.finished(&claim, "success"), "ended");
    assert_eq!(floor.submit(&job), [json!({"id": id(&first), "known": true})], "of a job that has ended");
}

#[test]
fn a_claim_call_is_answered_the_same_again() {
    let floor = floor();
    floor.submit(&json!([{"builder": "linux a", "payload": [1]}, {"builder": "linux b"}, {"builder": "linux c"}]));
    let offer = json!({"workers": ["w1", "w2"], "session": "m", "idempotency_key": "k1"});
    let first = floor.claim(&offer);
    assert_eq!(first.len(), 2);
    let told = |claims: &[Value]| -> Vec<Value> {
        let same =
            |claim: &Value| json!([claim["id"], claim["token"], claim["job"], claim["worker"], claim["attempt"]]);
        claims.iter().map(same).collect()
    };
    let before = floor.known();
    assert_eq!(told(&floor.claim(&offer)), told(&first));
    let with_wait = json!({"workers": ["w1", "w2"], "session": "m", "idempotency_key": "k1", "wait": 60});
    assert_eq!(told(&floor.claim(&with_wait)), told(&first), "at once");
    assert_eq!(floor.known(), before);

    // A key is its session's own, and a call that got nothing is not remembered.
    let other = json!({"workers": ["w3"], "session": "n", "idempotency_key": "k1"});
    assert_eq!(floor.claim(&other).len(), 1);
    let empty = json!({"workers": ["w4"], "session": "m", "idempotency_key": "k2"});
    assert_eq!(floor.claim(&empty), Vec::<Value>::new());
    let job = floor.submit_one("linux d");
    assert_eq!(id(&floor.claim(&empty)[0]["job"]), job);

    // Also when all of it is over.
    for claim in &first {
        assert_eq!(floor.finished(claim, "success"), "ended");
    }
    let late = floor.claim(&offer);
    assert_eq!(
        late.iter().map(|claim| &claim["token"]).collect::<Vec<_>>(),
        first.iter().map(|claim| &claim["token"]).collect::<Vec<_>>()
    );
    assert_eq!(late[0]["job"], json!({"id": first[0]["job"]["id"]}));
}
