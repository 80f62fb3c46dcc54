//! A restart, graceful or not, keeps jobs, claims, payloads and keys, and gives every lease time to be renewed.

use serde_json::{Value, json};

use super::floor::{floor, id};
use crate::suite::reads::boxes::Boxes;

#[test]
fn jobs_claims_payloads_and_keys_survive() {
    let mut floor = floor();
    let jobs = json!([
        {"builder": "linux a", "payload": {"n": [1, 2]}, "idempotency_key": "ka"},
        {"builder": "linux b", "idempotency_key": "kb", "submitted_at": 1},
        {"builder": "linux c", "payload": "text", "submitted_at": 2},
        {"builder": "mac a"},
    ]);
    let submitted = floor.submit(&jobs);
    let offer = json!({"workers": ["w1", "w2"], "session": "m", "idempotency_key": "k1"});
    let claims = floor.claim(&offer);
    assert_eq!(claims.len(), 2);
    let shown = |floor: &Boxes| -> Vec<Value> {
        let one = |job: &Value| floor.read(&format!("/v1/jobs/{}", id(job)));
        submitted.iter().map(one).chain([floor.read("/v1/workers/w1"), floor.read("/v1/jobs")]).collect()
    };
    let before = shown(&floor);
    for kill in [true, false, true] {
        let Boxes { server, home, token } = floor;
        if kill {
            server.kill9();
        } else {
            assert!(server.stop().success());
        }
        floor = Boxes { server: home.start(), home, token };
        assert_eq!(shown(&floor), before);
        for claim in &claims {
            assert_eq!(floor.heartbeat(claim).status, 200);
        }
        let again = floor.claim(&offer);
        let tokens = |claims: &[Value]| claims.iter().map(|claim| claim["token"].clone()).collect::<Vec<_>>();
        assert_eq!(tokens(&again), tokens(&claims));
        let known = floor.submit(&jobs[0])[0].clone();
        assert_eq!((&known["id"], &known["known"]), (&submitted[0]["id"], &json!(true)));
    }
    assert_eq!(floor.read("/v1/pools")["pools"][0]["running"], json!(2));
    for claim in &claims {
        assert_eq!(floor.finished(claim, "success"), "ended");
    }
    let last = floor.claim_one("w3");
    assert_eq!((&last["job"]["id"], last["job"].get("payload")), (&submitted[0]["id"], Some(&jobs[0]["payload"])));
}
