//! Jobs that nobody wants any more, and jobs that an operator puts back.

use serde_json::{Value, json};

use super::floor::{floor, id, ids};
use crate::suite::writes::desk::assert_problem;

#[test]
fn a_job_is_cancelled_while_it_waits_or_runs_and_not_after() {
    let floor = floor();
    let (waits, runs) = (floor.submit_one("mac a"), floor.submit_one("linux a"));
    let claim = floor.claim_one("w1");
    let path = |job: &str| format!("/v1/jobs/{job}?reason=not%20needed");
    for job in [&waits, &runs] {
        let response = floor.ask("DELETE", &path(job), &[], "");
        assert_eq!((response.status, response.json()), (200, json!({"id": job, "state": "ended"})));
        assert_eq!(floor.read(&format!("/v1/jobs/{job}")), json!({"id": job, "state": "ended"}));
        assert_eq!(floor.look("/v1/audit?limit=1")["entries"][0]["reason"], json!("not needed"));
        floor.refused("DELETE", &path(job), "", (409, "job_ended"));
    }
    // The worker was told nothing yet; what it says of the job comes too late.
    assert_problem(&floor.heartbeat(&claim), 409, "stale_token", "heartbeat");
    assert_problem(&floor.finish(&claim, "success"), 409, "stale_token", "finish");
    let next = floor.submit_one("linux a");
    assert_eq!(id(&floor.claim_one("w1")["job"]), next);
}

#[test]
fn running_jobs_are_put_back_with_their_age() {
    let floor = floor();
    let submitted = floor.submit(&json!([
        {"builder": "linux a", "submitted_at": 1000}, {"builder": "linux b", "submitted_at": 2000},
        {"builder": "linux a", "submitted_at": 3000}, {"builder": "mac a", "submitted_at": 4000},
    ]));
    let claims = floor.claim(&json!({"workers": ["w1", "w2", "w3", "m1"]}));
    assert_eq!(claims.len(), 4);
    let requeue = |body: &Value, dry_run: bool| {
        let response = floor.ask("POST", &format!("/v1/jobs/requeue?dry_run={dry_run}"), &[], &body.to_string());
        assert_eq!(response.status, 200, "{response:?}");
        response.json()["jobs"].as_array().unwrap().clone()
    };
    let all = ids(&submitted);
    for (body, expected) in [
        (json!({"builder": "linux a"}), vec![all[0], all[2]]),
        (json!({"pool": "linux"}), vec![all[0], all[1], all[2]]),
        (json!({"pool": "linux", "builder": "linux b"}), vec![all[1]]),
        (json!({"jobs": [all[3], all[0]]}), vec![all[0], all[3]]),
        (json!({"jobs": []}), vec![]),
        (json!({"worker": "w9"}), vec![]),
        (json!({"all": true}), all.clone()),
    ] {
        let before = floor.known();
        let mut told = requeue(&body, true);
        told.sort_by_key(|job| id(job).to_owned());
        assert_eq!(ids(&told), expected, "{body}");
        assert_eq!(floor.known(), before, "a dry run changes nothing");
    }
    let worker = claims.iter().find(|claim| claim["job"]["id"] == all[1]).unwrap();
    let put_back = requeue(&json!({"worker": worker["worker"], "reason": "its disk is full"}), false);
    let expected = json!({"id": all[1], "builder": "linux b", "claim": id(worker), "worker": worker["worker"]});
    assert_eq!(put_back, [expected]);
    let job = floor.read(&format!("/v1/jobs/{}", all[1]));
    assert_eq!((&job["state"], &job["submitted_at"], &job["attempts"]), (&json!("pending"), &json!(2000), &json!(1)));
    assert_problem(&floor.finish(worker, "success"), 409, "stale_token", "put back");
    // An older one of the same kind does not overtake it.
    floor.submit(&json!({"builder": "linux z", "submitted_at": 2001}));
    let again = floor.claim_one("w8");
    assert_eq!((&again["job"]["id"], &again["attempt"]), (&json!(all[1]), &json!(2)));

    for body in [json!({}), json!({"reason": "all of it"}), json!({"all": false}), json!({"all": true, "pool": "mac"})]
    {
        floor.refused("POST", "/v1/jobs/requeue", &body.to_string(), (400, "malformed"));
    }
    floor.refused("POST", "/v1/jobs/requeue", r#"{"jobs":[1]}"#, (400, "malformed"));
    floor.refused("POST", "/v1/jobs/requeue", r#"{"jobs":["x"]}"#, (400, "malformed"));
    floor.refused("POST", "/v1/jobs/requeue?dryrun=true", r#"{"all":true}"#, (400, "bad_parameter"));
    assert_eq!(requeue(&json!({"all": true}), false).len(), 4);
    assert_eq!(floor.read("/v1/jobs?state=running")["jobs"], json!([]));
}
