//! `jacuzzi runs` and `jacuzzi runs export`.

use std::fs;
use std::process::Output;

use jacuzzi::domain::dispatcher::{Event, RunResult};
use serde_json::Value;

use super::journal::{FARM, cancellation, jobs, journal, now, recorded, run, submission};
use crate::suite::server::{Home, Server};

fn started() -> (Home, Server) {
    let (home, now) = (Home::new(FARM), now());
    let mut broken = run(2, now - 20);
    (broken.result, broken.reason, broken.warm) = (RunResult::Exception, Some("no\ndisk".into()), true);
    journal(
        &home,
        vec![
            submission(&[(3, "build")], now - 100),
            Event::RunEnded(run(1, now - 30)),
            Event::RunEnded(broken),
            cancellation(3, now - 10),
        ],
    );
    let server = home.start();
    recorded(&server);
    (home, server)
}

fn jacuzzi(home: &Home, server: &Server, arguments: &[&str]) -> Output {
    home.jacuzzi(&[&["runs"], arguments].concat()).env("JACUZZI_SERVER", server.url()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn runs_are_listed_newest_first_for_people_and_for_programs() {
    let (home, server) = started();
    let table = stdout(&jacuzzi(&home, &server, &[]));
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..8], ["ENDED", "JOB", "BUILDER", "WORKER", "ATTEMPT", "WAITED", "RAN", "RESULT"]);
    assert_eq!(rows[1][1..], ["3", "build", "0", "90", "s", "cancelled", "operator", "not", "wanted"]);
    assert_eq!(
        rows[2][1..],
        ["2", "build", "box1", "1", "5", "s", "10", "s", "exception", "warm", "master-1", "no\\ndisk"]
    );
    assert_eq!(rows[3][1..], ["1", "build", "box1", "1", "5", "s", "10", "s", "success", "master-1"]);

    let first = jacuzzi(&home, &server, &["--limit", "1"]);
    assert_eq!(stdout(&first).lines().count(), 2);
    let said = String::from_utf8(first.stderr).unwrap();
    let before = said.trim().rsplit(' ').next().unwrap();
    let next = stdout(&jacuzzi(&home, &server, &["--before", before, "--output", "json"]));
    let next: Value = serde_json::from_str(&next).unwrap();
    assert_eq!(jobs(next["runs"].as_array().unwrap()), [2, 1]);
    let failed = stdout(&jacuzzi(&home, &server, &["--builder", "build", "--worker", "box1", "--result", "exception"]));
    assert_eq!(failed.lines().count(), 2);
    assert_eq!(stdout(&jacuzzi(&home, &server, &["--since", "2100-01-01T00:00:00Z"])), "");
    let refused = jacuzzi(&home, &server, &["--result", "good"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn the_history_is_exported_to_stdout_or_to_a_whole_file() {
    let (home, server) = started();
    let csv = stdout(&jacuzzi(&home, &server, &["export"]));
    assert_eq!(csv, server.get("/v1/runs/export").text());
    assert_eq!(csv.lines().count(), 4);
    let file = home.farm_file().with_file_name("runs.jsonl");
    let export =
        |since: &str| jacuzzi(&home, &server, &["export", "--format", "jsonl", "--since", since, "runs.jsonl"]);
    assert_eq!(stdout(&export("0")), "");
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(written, server.get("/v1/runs/export?format=jsonl").text());

    let refused = export("yesterday");
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("cannot export to runs.jsonl") && said.contains("\"yesterday\" is not a time"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    let names = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_str().unwrap().starts_with('.')), "nothing is left beside it");
}
