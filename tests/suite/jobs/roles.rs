//! Who may submit, claim, cancel and put back, and how often.

use serde_json::json;

use super::floor::{FARM, floor, floor_with, id};
use crate::suite::writes::desk::{assert_problem, bearer};

#[test]
fn each_role_may_do_its_own() {
    let floor = floor();
    let job = floor.submit_one("linux a");
    let claim = floor.claim_one("w1");
    let token = json!({"token": claim["token"], "result": "success"}).to_string();
    let beat = json!({"token": claim["token"]}).to_string();
    let heartbeat = format!("/v1/claims/{}/heartbeat", id(&claim));
    let finish = format!("/v1/claims/{}/finish", id(&claim));
    let cancel = format!("/v1/jobs/{job}");
    let calls = [
        ("POST", "/v1/jobs", r#"{"builder":"linux b"}"#, &["master", "operator"][..]),
        ("POST", "/v1/jobs/requeue?dry_run=true", r#"{"all":true}"#, &["operator"]),
        ("POST", "/v1/claims", r#"{"workers":["m1"]}"#, &["worker", "master", "operator"]),
        ("POST", &heartbeat, &beat, &["worker", "master", "operator"]),
        ("POST", &finish, &token, &["worker"]),
        ("DELETE", &cancel, "", &["master", "operator"]),
    ];
    let tokens = ["worker", "master"].map(|role| (role, floor.add_token(role)));
    let tokens = tokens.into_iter().chain([("operator", floor.token.clone())]);
    for (role, token) in tokens {
        for (method, target, body, may) in &calls {
            let response = floor.server.request(method, target, &[&bearer(&token)], body.as_bytes());
            match (may.contains(&role), response.status) {
                (true, status) => {
                    assert!((200..300).contains(&status) || status == 409, "{role} {target}: {response:?}");
                }
                // The claim has ended by then, which is told to those who may ask.
                (false, 409) if *target == finish => {}
                (false, _) => drop(assert_problem(&response, 403, "forbidden", &format!("{role} {target}"))),
            }
        }
    }
    for (method, target, body, _) in &calls {
        let response = floor.server.request(method, target, &[], body.as_bytes());
        assert_problem(&response, 401, "unauthorized", target);
        let response = floor.server.request(method, target, &["Origin: http://evil.example"], body.as_bytes());
        assert_problem(&response, 403, "foreign_origin", target);
    }
    for target in ["/v1/jobs", "/v1/jobs/1", "/v1/pools", "/v1/workers/w1"] {
        assert_eq!(floor.server.get(target).status, 200, "reads are open");
        let response = floor.server.request("GET", target, &["Origin: http://evil.example"], b"");
        assert_problem(&response, 403, "foreign_origin", target);
    }
}

#[test]
fn job_calls_have_a_limit_of_their_own() {
    let floor = floor_with(FARM, |start| {
        start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "1").env("JACUZZI__LIMITS__JOB_CALLS_PER_SECOND", "30")
    });
    let statuses: Vec<_> =
        (0..60).map(|_| floor.ask("POST", "/v1/claims", &[], r#"{"workers":["w1"]}"#).status).collect();
    assert_eq!(statuses[..30], [204; 30]);
    assert!(statuses.contains(&429), "{statuses:?}");
    let refused = floor.ask("POST", "/v1/claims", &[], r#"{"workers":["w1"]}"#);
    if refused.status == 429 {
        assert_problem(&refused, 429, "too_many_requests", "claims");
        assert!(refused.json()["detail"].as_str().unwrap().contains("limits.job_calls_per_second"));
    }
    // Nobody guesses a token at that rate.
    let guess = || floor.server.request("POST", "/v1/claims", &[&bearer("jz_00")], br#"{"workers":["w1"]}"#);
    let statuses = [guess().status, guess().status, guess().status];
    assert!(statuses.contains(&429), "{statuses:?}");
}
