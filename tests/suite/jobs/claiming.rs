//! Claims: who gets what, with which payload, and what becomes of it.

use serde_json::{Value, json};

use super::floor::{floor, id, ids};

#[test]
fn the_most_important_jobs_go_first_and_carry_all_that_was_said_of_them() {
    let floor = floor();
    let late = json!({"builder": "linux late", "priority": 9, "submitted_at": 10});
    let payload = json!({"steps": ["build", "teßt"], "n": 1.0, "deep": {"x": null}});
    let first = json!({
        "builder": "linux first", "priority": 1, "submitted_at": "2015-01-01T00:00:00Z", "branch": "try",
        "project": "p", "push": "4f6a", "inputs": ["root", "sdk"], "payload": payload,
    });
    let main = json!({"builder": "linux any", "branch": "main", "submitted_at": 30});
    let submitted = floor.submit(&json!([late, first, main]));
    let of_master = floor.claim(&json!({"workers": ["w1", "w2", "m1"], "max": 2, "session": "master-1"}));
    let given: Vec<_> = of_master.iter().map(|claim| claim["job"]["builder"].as_str().unwrap()).collect();
    assert_eq!(given, ["linux first", "linux any"]);
    let claim = &of_master[0];
    for (key, value) in first.as_object().unwrap().iter().filter(|(key, _)| *key != "submitted_at") {
        assert_eq!(&claim["job"][key], value, "{key}");
    }
    assert_eq!((&claim["job"]["submitted_at"], &claim["attempt"]), (&json!(1_420_070_400), &json!(1)));
    assert_eq!(of_master[1]["job"]["priority"], json!(3), "of its branch");
    assert_eq!(of_master[1]["job"].get("payload"), None);
    assert_eq!(claim["token"].as_str().map(str::len), Some(32));
    let job = floor.read(&format!("/v1/jobs/{}", id(&submitted[1])));
    assert_eq!((&job["state"], &job["payload"], &job["attempts"]), (&json!("running"), &payload, &json!(1)));
    let running = &job["running"];
    assert_eq!(
        (&running["claim"], &running["worker"], &running["session"]),
        (&claim["id"], &claim["worker"], &json!("master-1"))
    );
    assert!(!job.to_string().contains(claim["token"].as_str().unwrap()), "a token is its holder's alone");

    let beat = floor.heartbeat(claim);
    assert_eq!(beat.status, 200, "{beat:?}");
    assert!(beat.json()["lease_until"].as_f64() > claim["lease_until"].as_f64());
    assert_eq!(floor.finished(claim, "success"), "ended");
    assert_eq!(floor.state(id(&submitted[1])), "ended");
    assert_eq!(floor.claim(&json!({"workers": ["m1", "m2"]})), Vec::<Value>::new(), "of another pool");
    assert_eq!(floor.claim_one("w3")["job"]["builder"], json!("linux late"));
    assert_eq!(floor.claim(&json!({"workers": ["w4"]})), Vec::<Value>::new());
}

#[test]
fn a_dedicated_worker_serves_its_builder_alone() {
    let floor = floor();
    floor.write("PUT", "/v1/builders/linux%20c", &json!({"machines": ["w1"]}));
    let jobs = floor.submit(&json!([
        {"builder": "linux a", "priority": 1}, {"builder": "linux b", "priority": 2}, {"builder": "linux c", "priority": 3},
    ]));
    assert_eq!(id(&floor.claim_one("w1")["job"]), id(&jobs[2]));
    assert_eq!(id(&floor.claim_one("w2")["job"]), id(&jobs[0]));
    assert_eq!(id(&floor.claim_one("w3")["job"]), id(&jobs[1]));
}

#[test]
fn every_result_leads_where_it_should() {
    let floor = floor();
    for (result, next, state) in [
        ("success", "ended", "ended"),
        ("failure", "ended", "ended"),
        ("cancelled", "ended", "ended"),
        ("retry", "waits", "pending"),
        ("exception", "waits", "pending"),
    ] {
        let job = floor.submit_one("linux a");
        let claim = floor.claim_one("w1");
        assert_eq!(id(&claim["job"]), job);
        assert_eq!(floor.finished(&claim, result), next, "{result}");
        assert_eq!(floor.state(&job), state, "{result}");
        if state == "pending" {
            assert_eq!(floor.ask("DELETE", &format!("/v1/jobs/{job}"), &[], "").status, 200);
        }
    }
    let job = floor.submit_one("linux a");
    let nexts = (1..=5).map(|attempt| {
        let claim = floor.claim_one("w2");
        assert_eq!((id(&claim["job"]), &claim["attempt"]), (job.as_str(), &json!(attempt)));
        floor.finished(&claim, "retry")
    });
    assert_eq!(nexts.collect::<Vec<_>>(), ["waits", "waits", "waits", "waits", "given_up"]);
    assert_eq!(floor.state(&job), "ended");
}

#[test]
fn a_worker_that_is_offered_again_has_lost_its_job() {
    let floor = floor();
    let job = floor.submit_one("linux a");
    let first = floor.claim_one("w1");
    let second = floor.claim_one("w1");
    assert_eq!((id(&first["job"]), id(&second["job"]), &second["attempt"]), (job.as_str(), job.as_str(), &json!(2)));
    assert_eq!(floor.finish(&first, "success").status, 409);
    assert_eq!(floor.finished(&second, "success"), "ended");
}

#[test]
fn numbers_of_jobs_and_claims_show_in_metrics_and_claims_not_in_the_log() {
    let floor = floor();
    let jobs = floor.submit(&Value::from(vec![json!({"builder": "linux a"}); 5]));
    let claims = floor.claim(&json!({"workers": ["w1", "w2", "w3"]}));
    assert_eq!((ids(&jobs).len(), claims.len()), (5, 3));
    assert_eq!(floor.heartbeat(&claims[0]).status, 200);
    floor.finished(&claims[0], "success");
    floor.finished(&claims[1], "retry");
    let metrics = floor.server.get("/metrics");
    for line in [
        "jacuzzi_pending_jobs 3",
        "jacuzzi_running_claims 1",
        "jacuzzi_claims_total 3",
        "jacuzzi_runs_ended_total{result=\"success\"} 1",
        "jacuzzi_runs_ended_total{result=\"retry\"} 1",
    ] {
        assert!(metrics.text().lines().any(|shown| shown == line), "{line} is not in\n{}", metrics.text());
    }
    let log = floor.home.log();
    assert!(!log.contains("/v1/claims") && !log.contains("/v1/jobs"), "{log}");
}
