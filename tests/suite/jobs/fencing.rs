//! A claim is its holder's alone, and only as long as it runs.

use serde_json::json;

use super::floor::{floor, id};

#[test]
fn a_stale_token_changes_nothing() {
    let floor = floor();
    floor.submit(&json!([{"builder": "linux a"}, {"builder": "linux b"}]));
    let claims = floor.claim(&json!({"workers": ["w1", "w2"]}));
    let finish = |claim: &str, token: &serde_json::Value| {
        let body = json!({"token": token, "result": "success"}).to_string();
        floor.refused("POST", &format!("/v1/claims/{claim}/finish"), &body, (409, "stale_token"));
        let body = json!({"token": token}).to_string();
        floor.refused("POST", &format!("/v1/claims/{claim}/heartbeat"), &body, (409, "stale_token"));
    };
    // Another's claim, and a guess.
    finish(id(&claims[0]), &claims[1]["token"]);
    finish(id(&claims[1]), &claims[0]["token"]);
    finish(id(&claims[0]), &json!("0".repeat(32)));
    for claim in &claims {
        assert_eq!(floor.state(id(&claim["job"])), "running");
        assert_eq!(floor.finished(claim, "success"), "ended");
        // Once more, with the token that was good.
        finish(id(claim), &claim["token"]);
    }
}

#[test]
fn a_late_report_of_a_job_that_runs_elsewhere_changes_nothing() {
    let floor = floor();
    let job = floor.submit_one("linux a");
    let first = floor.claim_one("w1");
    let requeued = floor.ask("POST", "/v1/jobs/requeue", &[], &json!({"jobs": [job]}).to_string());
    assert_eq!(requeued.status, 200);
    let second = floor.claim_one("w2");
    assert_eq!((&second["attempt"], &second["job"]["id"]), (&json!(2), &json!(job)));
    let body = json!({"token": first["token"], "result": "failure"}).to_string();
    floor.refused("POST", &format!("/v1/claims/{}/finish", id(&first)), &body, (409, "stale_token"));
    let shown = floor.read(&format!("/v1/jobs/{job}"));
    assert_eq!((&shown["running"]["claim"], &shown["running"]["worker"]), (&second["id"], &json!("w2")));
    assert_eq!(floor.finished(&second, "success"), "ended");
}
