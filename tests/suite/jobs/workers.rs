//! What workers do, as it is shown, and workers that are out of work: drained, quarantined, or breaking their jobs.

use serde_json::{Value, json};

use super::floor::{floor, id, until};
use crate::suite::reads::boxes::Boxes;

#[test]
fn a_worker_out_of_work_ends_its_job_and_gets_no_other() {
    let floor = floor();
    for action in ["drain", "quarantine"] {
        let job = floor.submit_one("linux a");
        let claim = floor.claim_one("w1");
        let worker = floor.ask("POST", &format!("/v1/workers/w1/{action}"), &[], r#"{"reason":"disk"}"#).json();
        assert_eq!((&worker["running"]["job"], &worker["running"]["claim"]), (&json!(job), &claim["id"]), "{worker}");
        assert_eq!(floor.heartbeat(&claim).status, 200);
        assert_eq!(floor.finished(&claim, "success"), "ended");
        let next = floor.submit_one("linux a");
        assert!(floor.claim(&json!({"workers": ["w1"]})).is_empty(), "{action}");
        assert_eq!(floor.read("/v1/workers/w1").get("running"), None);
        assert_eq!(floor.ask("POST", "/v1/workers/w1/release", &[], "").json()["state"], json!("active"));
        let claim = floor.claim_one("w1");
        assert_eq!(id(&claim["job"]), next);
        assert_eq!(floor.finished(&claim, "success"), "ended");
    }
}

/// Runs that end like this, one after the other, on `w1`; gives the worker as it is then.
fn ran(floor: &Boxes, results: &[&str]) -> Value {
    for result in results {
        let job = floor.submit_one("linux a");
        let claim = floor.claim_one("w1");
        floor.finished(&claim, result);
        floor.ask("DELETE", &format!("/v1/jobs/{job}"), &[], "");
    }
    floor.read("/v1/workers/w1")
}

#[test]
fn three_exceptions_in_a_row_quarantine_a_worker() {
    let floor = floor();
    let worker = ran(&floor, &["exception", "exception", "success", "exception", "exception"]);
    assert_eq!((&worker["state"], worker.get("until")), (&json!("active"), None), "not in a row");
    let worker = ran(&floor, &["exception"]);
    assert_eq!((&worker["state"], &worker["author"]), (&json!("quarantined"), &json!("dispatcher")));
    assert_eq!(worker["reason"], json!("3 exceptions in a row"));
    assert!(worker["until"].as_f64() > Some(1.7e9), "{worker}");
    assert_eq!(floor.read("/v1/workers?state=quarantined")["workers"], json!([worker]));
    let entry = &floor.look("/v1/audit?limit=10")["entries"];
    assert!(entry.to_string().contains("worker.quarantine"), "{entry}");
    let job = floor.submit_one("linux b");
    assert!(floor.claim(&json!({"workers": ["w1"]})).is_empty());

    // An operator takes it back before its time is over, and its record is clean.
    let worker = floor.ask("POST", "/v1/workers/w1/release", &[], "").json();
    assert_eq!((&worker["state"], worker.get("until"), worker.get("reason")), (&json!("active"), None, None));
    let claim = floor.claim_one("w1");
    assert_eq!(id(&claim["job"]), job);
    assert_eq!(floor.finished(&claim, "exception"), "waits");
    assert_eq!(floor.read("/v1/workers/w1")["state"], json!("active"));
}

/// The first quarantine lasts ten seconds; nobody calls meanwhile, but one poll.
#[test]
fn a_quarantine_ends_by_itself_and_wakes_who_waits() {
    let floor = floor();
    ran(&floor, &["exception"; 3]);
    let mut poll = floor.open_claim(&json!({"workers": ["w1"], "wait": 60}));
    floor.wait_until_offered("w1");
    let job = floor.submit_one("linux b");
    let claims = super::floor::claims(&poll.receive("POST"));
    assert_eq!(id(&claims[0]["job"]), job);
    let worker = floor.read("/v1/workers/w1");
    assert_eq!((&worker["state"], worker.get("until")), (&json!("active"), None));
}

#[test]
fn pools_show_their_workers_and_what_waits() {
    let floor = floor();
    let pools = floor.read("/v1/pools");
    let expected = json!({"name": "mac", "class": "spot", "workers": {"active": 3, "draining": 0, "quarantined": 0},
        "running": 0, "pending": 0, "oldest_wait": null, "paused": null, "started_last_hour": 0});
    assert_eq!((&pools["pools"][1], pools["pools"].as_array().unwrap().len()), (&expected, 2));

    ran(&floor, &["exception"; 3]);
    floor.ask("POST", "/v1/workers/w2/drain", &[], "");
    floor.submit(&json!([{"builder": "linux a", "submitted_at": 5}, {"builder": "linux b", "submitted_at": 1000}, {"builder": "mac a"}]));
    let claim = floor.claim_one("w3");
    floor.ask("POST", "/v1/workers/w3/drain", &[], "");
    until("the replica to have seen it", || floor.read("/v1/workers/w3")["state"] == "draining");
    let linux = floor.read("/v1/pools")["pools"][0].clone();
    assert_eq!(linux["workers"], json!({"active": 6, "draining": 2, "quarantined": 1}));
    assert_eq!((&linux["running"], &linux["pending"], &linux["started_last_hour"]), (&json!(1), &json!(1), &json!(4)));
    let now = claim["lease_until"].as_f64().unwrap() - 60.0;
    let waited = linux["oldest_wait"].as_f64().unwrap();
    assert!((now - 1000.0..now - 940.0).contains(&waited), "{waited}");
}
