//! What a person does about jobs at night: `jacuzzi queue` and `jacuzzi job`.

use std::process::Output;

use serde_json::{Value, json};

use super::floor::{floor, id};
use crate::suite::reads::boxes::Boxes;

fn run(floor: &Boxes, arguments: &[&str]) -> Output {
    let mut command = floor.home.jacuzzi(arguments);
    command.env("JACUZZI_SERVER", floor.server.url()).env("JACUZZI_TOKEN", &floor.token).output().unwrap()
}

/// What a command that must succeed prints, without the blanks that end a line, and what it says.
#[track_caller]
fn done(floor: &Boxes, arguments: &[&str]) -> (Vec<String>, String) {
    let output = run(floor, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {said}");
    let printed = String::from_utf8(output.stdout).unwrap();
    (printed.lines().map(|line| line.trim_end().to_owned()).collect(), said)
}

#[test]
fn jobs_are_submitted_listed_shown_put_back_and_cancelled() {
    let floor = floor();
    let submit = [
        "job",
        "submit",
        "linux a",
        "--priority=-3",
        "--submitted-at",
        "2015-01-01T00:00:00Z",
        "--payload",
        r#"{"a": [1]}"#,
        "--idempotency-key",
        "k",
    ];
    assert_eq!(done(&floor, &submit), (vec!["1".to_owned()], String::new()));
    let again = done(&floor, &submit);
    assert_eq!(again.0, ["1"]);
    assert!(again.1.contains("submitted before"), "{}", again.1);
    let future = done(&floor, &["job", "submit", "mac a", "--class", "idle", "--submitted-at", "2099-01-01T00:00:00Z"]);
    assert!(future.0 == ["2"] && future.1.contains("in the future"), "{future:?}");
    assert_eq!(floor.ask("DELETE", "/v1/jobs/2", &[], "").status, 200);

    let row = "1    pending  linux a  normal  -3        2015-01-01T00:00:00Z  0";
    let (listed, _) = done(&floor, &["queue", "--pool", "linux", "--builder", "linux a", "--state", "pending"]);
    assert_eq!(listed, ["JOB  STATE    BUILDER  CLASS   PRIORITY  SUBMITTED             ATTEMPTS  WORKER", row]);
    assert_eq!(done(&floor, &["queue", "--state", "running"]).0, [""; 0]);
    let claim = floor.claim_one("w1");
    let (shown, _) = done(&floor, &["job", "show", "1"]);
    for fact in ["builder    linux a", "worker     w1", "payload    {\"a\": [1]}", "session    operator"] {
        assert!(shown.contains(&fact.to_owned()), "{fact} is not in {shown:#?}");
    }
    let (worker, _) = done(&floor, &["worker", "get", "w1"]);
    assert!(worker.contains(&"job      1".to_owned()), "{worker:#?}");

    let (listed, said) = done(&floor, &["job", "requeue", "--worker", "w1", "--dry-run"]);
    assert_eq!(listed, ["JOB  BUILDER  WORKER", "1    linux a  w1"]);
    assert!(said.contains("1 job(s) would be put back"), "{said}");
    assert_eq!(floor.heartbeat(&claim).status, 200);
    done(&floor, &["job", "requeue", "--job", "1", "--reason", "a try"]);
    assert_eq!((floor.state("1").as_str(), floor.heartbeat(&claim).status), ("pending", 409));
    assert_eq!(run(&floor, &["job", "requeue"]).status.code(), Some(2), "not everything by a slip");

    done(&floor, &["job", "cancel", "1", "--dry-run"]);
    assert_eq!(floor.state("1"), "pending");
    done(&floor, &["job", "cancel", "1", "--reason", "not needed"]);
    assert_eq!(done(&floor, &["job", "show", "1"]).0, ["JOB    1", "state  ended"]);
    let refused = run(&floor, &["job", "cancel", "1"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("job_ended"));
}

#[test]
fn json_is_the_servers_and_a_long_queue_comes_in_pages() {
    let floor = floor();
    let jobs = floor.submit(&Value::from(vec![json!({"builder": "linux a"}); 3]));
    let (first, said) = done(&floor, &["queue", "--limit", "2"]);
    assert_eq!(first.len(), 3);
    let after = said.trim().rsplit(' ').next().unwrap();
    let (rest, _) = done(&floor, &["queue", "--output", "json", "--after", after]);
    let rest: Value = serde_json::from_str(&rest.join("\n")).unwrap();
    assert_eq!((id(&rest["jobs"][0]), &rest["next_after"]), (id(&jobs[2]), &Value::Null));
}
