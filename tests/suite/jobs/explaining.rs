//! What a person reads who asks why a job waits, why a worker is idle, or where a builder stands.

use serde_json::{Value, json};

use super::floor::{floor_with, id};
use crate::suite::reads::boxes::Boxes;
use crate::suite::writes::desk::assert_problem;

const FARM: &str = r#"
[farm]
name = "explained"

[[pools]]
name = "linux"
workers = ["w{1..3}"]
class = "spot"

[[pools]]
name = "mac"
workers = ["m1"]

[[workers]]
name = "w3"
pool = "linux"
attributes = { ram = "big" }

[[builders]]
match = '^linux huge'
pool = "linux"
requires = { ram = "bgi" }

[[builders]]
match = '^linux own'
pool = "linux"
overflow_after = "1h"

[[builders]]
match = '^linux '
pool = "linux"

[[builders]]
match = '^mac '
pool = "mac"
"#;

fn explained() -> Boxes {
    let floor = floor_with(FARM, |start| start);
    let body = json!({"builders": {"linux own": ["w1"]}}).to_string();
    assert_eq!(floor.ask("PUT", "/v1/allocations", &[], &body).status, 200);
    floor
}

impl Boxes {
    #[track_caller]
    fn explain(&self, job: &str) -> Value {
        self.read(&format!("/v1/jobs/{job}/explain"))
    }
}

/// Reason and workers of each group.
fn groups(explained: &Value) -> Vec<(&str, &str, Vec<&str>)> {
    let text = |value: &'static str, group: &'_ Value| group[value].as_str().map(str::len);
    let groups = explained["workers"].as_array().unwrap().iter();
    groups
        .map(|group| {
            assert!(text("code", group).is_some());
            let workers = group["workers"].as_array().unwrap();
            assert_eq!(group["count"], workers.len());
            let names = workers.iter().map(|worker| worker["name"].as_str().unwrap()).collect();
            (group["code"].as_str().unwrap(), group["reason"].as_str().unwrap(), names)
        })
        .collect()
}

#[test]
fn a_misspelt_label_reads_as_a_person_would_say_it() {
    let floor = explained();
    let job = floor.submit_one("linux huge");
    let explained = floor.explain(&job);
    assert_eq!(
        explained["reason"],
        "there is no ram=bgi worker of the pool that no builder has in the farm; was ram=big meant?"
    );
    assert_eq!(groups(&explained), [("attributes", "the builder's rule requires ram=bgi", vec!["w1", "w2", "w3"])]);
    assert_eq!(explained["workers"][0]["workers"][2]["detail"], "has ram=big");
    assert_eq!(explained["change"]["reads"], "add 1 spot worker with ram=bgi to pool linux");
    assert_eq!((&explained["place"], &explained["start"]), (&json!(1), &json!(null)));
}

#[test]
fn a_full_jacuzzi_names_what_runs_and_says_when_the_job_may_leave_it() {
    let floor = explained();
    let first = floor.submit_one("linux own");
    let claim = floor.claim_one("w1");
    let second = floor.submit_one("linux own");
    let third = floor.submit_one("linux own");
    let explained = floor.explain(&second);
    let reason = explained["reason"].as_str().unwrap();
    assert!(reason.starts_with("the one worker of its allocation is not idle; from 20"), "{reason}");
    assert!(reason.ends_with("on it may also use workers that no builder has"), "{reason}");
    let [(busy, _, own), (outside, why, others)] = &groups(&explained)[..] else { panic!("{explained}") };
    assert_eq!((*busy, own, *outside, others), ("busy", &vec!["w1"], "outside_allocation", &vec!["w2", "w3"]));
    assert!(why.starts_with("outside the allocation of linux own; the job may use it from 20"), "{why}");
    let detail = explained["workers"][0]["workers"][0]["detail"].as_str().unwrap();
    assert!(detail.starts_with(&format!("job {first} of linux own since 20")), "{detail}");
    assert_eq!(
        explained["change"]["steps"],
        json!([{"kind": "worker", "pool": "linux", "class": "spot", "attributes": {}, "builder": "linux own", "count": 1}])
    );
    // With a worker in the pool that is idle, leaving the jacuzzi is cheaper.
    let mut idle = floor.open_claim(&json!({"workers": ["w2"], "wait": 30}));
    floor.wait_until_offered("w2");
    let explained = floor.explain(&second);
    assert_eq!(
        explained["change"]["steps"],
        json!([{"kind": "set", "option": "overflow_after", "builder": "linux own", "to": 0}])
    );
    assert_eq!(explained["change"]["starts_on"], "w2");
    let explained = floor.explain(&third);
    assert_eq!((&explained["place"], &explained["ahead"]), (&json!(2), &json!({"count": 1, "jobs": [second]})));
    // A running job has a reason, too, and one that has ended says where to look.
    assert!(floor.explain(&first)["reason"].as_str().unwrap().starts_with("it runs on w1 since 20"));
    floor.finished(&claim, "success");
    assert_eq!(floor.explain(&first)["state"], "ended");
    let other = floor.submit_one("linux x");
    assert_eq!(super::floor::claims(&idle.receive("POST"))[0]["job"]["id"], other.as_str());
}

#[test]
fn a_paused_pool_and_a_machine_out_of_work_say_who_and_why() {
    let floor = explained();
    let job = floor.submit_one("mac a");
    let ask = |path: &str, body: &str| assert_eq!(floor.ask("POST", path, &[], body).status, 200, "{path}");
    ask("/v1/workers/m1/quarantine", r#"{"reason": "its disk is full"}"#);
    let _idle = floor.open_claim(&json!({"workers": ["m1"], "wait": 30}));
    floor.wait_until_offered("m1");
    let explained = floor.explain(&job);
    assert_eq!(explained["reason"], "the one worker of the pool that no builder has is not idle");
    let detail = explained["workers"][0]["workers"][0]["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("quarantined by operator since 20") && detail.ends_with(": its disk is full"),
        "{detail}"
    );
    assert_eq!(explained["change"]["reads"], "release worker m1");
    ask("/v1/pools/mac/pause", r#"{"reason": "new Xcode"}"#);
    let explained = floor.explain(&job);
    let reason = explained["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("pool mac is paused by operator since 20") && reason.ends_with(": new Xcode"),
        "{reason}"
    );
    assert_eq!(explained["change"]["reads"], "resume pool mac, and release worker m1");
    assert_eq!(explained["change"]["starts_on"], "m1");
}

#[test]
fn the_stated_change_starts_the_job() {
    let floor = explained();
    let jobs: Vec<String> = (0..3).map(|_| floor.submit_one("linux x")).collect();
    let explained = floor.explain(&jobs[2]);
    let step =
        json!({"kind": "worker", "pool": "linux", "class": "spot", "attributes": {}, "builder": null, "count": 3});
    assert_eq!(explained["change"]["steps"], json!([step]));
    let claimed = floor.claim(&json!({"workers": ["w2", "w3"]}));
    assert_eq!(claimed.len(), 2);
    assert_eq!(floor.explain(&jobs[2])["change"]["steps"][0]["count"], 1);
    assert_eq!(floor.ask("PUT", "/v1/workers/new", &[], r#"{"pool": "linux"}"#).status, 201);
    assert_eq!(id(&floor.claim_one("new")["job"]), jobs[2]);
}

#[test]
fn a_start_is_estimated_from_runs_that_have_ended() {
    let floor = explained();
    let first = floor.submit_one("mac a");
    let claim = floor.claim_one("m1");
    let second = floor.submit_one("mac a");
    assert_eq!(floor.explain(&second)["start"], json!(null), "nothing of it has ended yet: {first}");
    floor.finished(&claim, "success");
    let running = floor.claim_one("m1");
    assert_eq!(id(&running["job"]), second);
    let third = floor.submit_one("mac a");
    let start = floor.explain(&third)["start"].clone();
    assert_eq!(start["because"], "it is the next for one worker");
    assert!(start["at"].as_f64().unwrap() > 1.7e9, "{start}");
}

#[test]
fn a_worker_and_a_builder_are_explained() {
    let floor = explained();
    floor.submit_one("linux huge");
    let own = floor.submit_one("linux own");
    let _idle = floor.open_claim(&json!({"workers": ["w2"], "wait": 30}));
    floor.wait_until_offered("w2");
    let worker = floor.read("/v1/explain?worker=w2");
    assert_eq!((&worker["state"], &worker["next"]), (&json!("idle"), &json!(null)));
    assert_eq!(worker["reason"], "none of the 2 jobs that wait in its pool can use it now");
    let waiting: Vec<_> = worker["waiting"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (&group["code"], &group["jobs"], &group["builders"]))
        .collect();
    let (common, lacks) = (json!("outside_allocation"), json!("attributes"));
    assert_eq!(waiting, [(&lacks, &json!(1), &json!(["linux huge"])), (&common, &json!(1), &json!(["linux own"]))]);
    let away = floor.read("/v1/explain?worker=w1");
    assert_eq!(
        (&away["state"], &away["next"], &away["builders"]),
        (&json!("away"), &json!(own), &json!(["linux own"]))
    );

    let builder = floor.read("/v1/explain?builder=linux%20own");
    assert_eq!(
        (&builder["pool"], &builder["allocation"], &builder["pending"]),
        (&json!("linux"), &json!(["w1"]), &json!(1))
    );
    assert_eq!(builder["next"]["job"], own.as_str());
    assert_eq!(floor.read("/v1/explain?builder=mac%20z")["reason"], "none of its jobs waits");
}

#[test]
fn what_is_not_there_is_not_explained() {
    let floor = explained();
    let refused = |path: &str, status, code| assert_problem(&floor.ask("GET", path, &[], ""), status, code, path);
    refused("/v1/jobs/9/explain", 404, "no_such_job");
    refused("/v1/jobs/x/explain", 404, "no_such_job");
    refused("/v1/explain", 400, "bad_parameter");
    refused("/v1/explain?worker=w1&builder=a", 400, "bad_parameter");
    refused("/v1/explain?worker=z", 404, "no_such_worker");
    refused("/v1/explain?builder=z", 404, "no_such_builder");
    let response = floor.ask("GET", "/v1/explain?builder=z", &[], "");
    assert!(response.json()["detail"].as_str().unwrap().contains("the closest are"), "{response:?}");
}

#[test]
fn the_command_line_says_it_in_lines() {
    let floor = explained();
    let job = floor.submit_one("linux own");
    let run = |arguments: &[&str]| {
        let mut command = floor.home.jacuzzi(arguments);
        let output = command.env("JACUZZI_SERVER", floor.server.url()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, printed, _) = run(&["explain", "job", &job]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("job 1 of linux own is pending: the one worker of its allocation is not idle; from"));
    assert_eq!(lines[1], "place: 1 of those with the same worker set; 0 go first");
    assert_eq!(lines[2], "workers: 1 no claim call offers it: w1");
    assert_eq!(lines.last(), Some(&"would start it now: add 1 spot worker to pool linux, dedicated to linux own"));
    let (_, printed, _) = run(&["explain", "worker", "w1"]);
    assert!(printed.starts_with("worker w1 (spot, pool linux) is away: no claim call offers it"), "{printed}");
    let (_, printed, _) = run(&["explain", "builder", "linux own"]);
    assert!(printed.contains("rule: ^linux own (pool linux)\nits own workers: w1\n"), "{printed}");
    let (_, printed, _) = run(&["--output", "json", "explain", "job", &job]);
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap()["job"], job.as_str());
    let (code, _, said) = run(&["explain", "job", "77"]);
    assert!(code == Some(4) && said.contains("there is no job \"77\""), "{code:?} {said}");
}
