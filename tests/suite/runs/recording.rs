//! What is in the journal is in the history, whatever became of the history's file, and the server goes on without it.

use std::fs;
use std::path::PathBuf;

use jacuzzi::domain::WorkerName;
use jacuzzi::domain::dispatcher::{ClaimId, Event, RunResult};
use serde_json::json;

use super::journal::{FARM, at, cancellation, jobs, journal, listed, metric, now, recorded, run, runs, submission};
use crate::suite::server::{Home, Server};

fn history(home: &Home) -> PathBuf {
    home.data_dir().join("runs.sqlite")
}

fn started(home: &Home) -> Server {
    let server = home.start();
    recorded(&server);
    server
}

/// A run that was lost, the next of the same job, and a job that never ran.
fn some_events(now: i64) -> Vec<Event> {
    let mut lost = run(1, now - 50);
    (lost.result, lost.branch, lost.reason) = (RunResult::Lost, Some("trunk".into()), Some("no heartbeat".into()));
    let mut again = run(1, now - 30);
    (again.claim, again.attempt, again.warm) = (ClaimId(2), 2, true);
    again.started_at = at(now - 40).after(std::time::Duration::from_millis(500));
    again.worker = WorkerName::parse("box2").unwrap();
    vec![
        submission(&[(1, "build"), (2, "test")], now - 100),
        submission(&[(3, "build")], now - 90),
        Event::RunEnded(lost),
        submission(&[(4, "build"), (5, "lint"), (6, "build")], now - 45),
        Event::RunEnded(again),
        cancellation(5, now - 20),
        cancellation(2, now - 10),
    ]
}

#[test]
fn every_end_is_a_row_with_all_that_is_known_of_it() {
    let (home, now) = (Home::new(FARM), now());
    journal(&home, some_events(now));
    let server = started(&home);
    let cancelled = |seq: u64, job: &str, builder: &str, submitted_at: i64, finished_at: i64| {
        json!({
            "seq": seq, "job": job, "claim": null, "builder": builder, "worker": null, "branch": "trunk",
            "project": null, "push": "abc", "attempt": 0, "submitted_at": submitted_at, "started_at": null,
            "finished_at": finished_at, "result": "cancelled", "warm": false, "author": "operator",
            "reason": "not wanted",
        })
    };
    let ran = |seq: u64, claim: &str, worker: &str, finished_at: i64| {
        json!({
            "seq": seq, "job": "1", "claim": claim, "builder": "build", "worker": worker, "branch": null,
            "project": null, "push": null, "attempt": 1, "submitted_at": finished_at - 15,
            "started_at": finished_at - 10, "finished_at": finished_at, "result": "success", "warm": false,
            "author": "master-1", "reason": null,
        })
    };
    let mut again = ran(5, "2", "box2", now - 30);
    again["attempt"] = 2.into();
    again["warm"] = true.into();
    again["started_at"] = json!((now - 40) as f64 + 0.5);
    let mut lost = ran(3, "1", "box1", now - 50);
    lost["result"] = "lost".into();
    lost["branch"] = "trunk".into();
    lost["reason"] = "no heartbeat".into();
    assert_eq!(
        server.get("/v1/runs").json(),
        json!({
            "runs": [
                cancelled(7, "2", "test", now - 100, now - 10),
                cancelled(6, "5", "lint", now - 45, now - 20),
                again,
                lost,
            ],
            "next_before": null,
        })
    );
}

#[test]
fn a_cancelled_job_is_found_wherever_its_submission_is() {
    let (home, now) = (Home::new(FARM), now());
    let mut events = Vec::new();
    for job in 1..=40 {
        events.push(submission(&[(2 * job - 1, &format!("build {job}")), (2 * job, "other")], now - 1000 + job as i64));
        // Gaps of all lengths between the submissions.
        events.extend(runs(job % 7, now - 900));
    }
    let cancelled: Vec<u64> = (1..=40).rev().map(|job| 2 * job - 1).collect();
    events.extend(cancelled.iter().map(|job| cancellation(*job, now - 10)));
    // Of a job that this journal knows nothing of.
    events.push(cancellation(1000, now - 5));
    journal(&home, events);
    let server = started(&home);
    let rows = listed(&server);
    let rows: Vec<_> = rows.iter().filter(|row| row["result"] == "cancelled").collect();
    assert_eq!(rows.len(), 40);
    for (row, job) in rows.iter().rev().zip(cancelled) {
        assert_eq!(
            (&row["job"], &row["builder"]),
            (&json!(job.to_string()), &json!(format!("build {}", job.div_ceil(2))))
        );
    }
    assert!(home.log().contains("does not reach back to its submission"), "{}", home.log());
}

type Accident = fn(&Home);

/// What may have become of a history while its server did not run.
const ACCIDENTS: [(&str, Accident); 6] = [
    ("it was deleted", |home| fs::remove_file(history(home)).unwrap()),
    ("it was emptied", |home| fs::write(history(home), "").unwrap()),
    ("it was cut short", |home| {
        let file = fs::OpenOptions::new().write(true).open(history(home)).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    }),
    ("it is something else", |home| fs::write(history(home), "tea ".repeat(5000)).unwrap()),
    ("its pages are overwritten", |home| {
        let mut bytes = fs::read(history(home)).unwrap();
        bytes[4096..].fill(0x5A);
        fs::write(history(home), bytes).unwrap();
    }),
    ("it is another journal's", |home| {
        let other = Home::new(FARM);
        journal(&other, runs(3, now()));
        assert!(started(&other).stop().success());
        fs::copy(history(&other), history(home)).unwrap();
    }),
];

#[test]
fn a_history_that_is_lost_or_damaged_is_made_anew() {
    let (home, now) = (Home::new(FARM), now());
    journal(&home, [some_events(now), runs(500, now)].concat());
    let server = started(&home);
    let expected = listed(&server);
    assert_eq!(expected.len(), 504);
    assert!(server.stop().success());
    for (accident, happens) in ACCIDENTS {
        println!("{accident}");
        assert!(!home.data_dir().join("runs.sqlite-wal").exists(), "a stop leaves one file");
        happens(&home);
        let server = started(&home);
        assert!(listed(&server) == expected, "{accident}");
        assert!(server.stop().success());
    }
}

#[test]
fn a_history_that_knows_more_than_its_journal_is_made_anew() {
    let (home, now) = (Home::new(FARM), now());
    journal(&home, runs(5, now));
    assert!(started(&home).stop().success());
    let earlier = fs::read(home.data_dir().join("journal.sqlite")).unwrap();
    journal(&home, runs(1000, now));
    assert!(started(&home).stop().success());
    // An operator goes on with an older copy, as a start advises when snapshots know more.
    fs::write(home.data_dir().join("journal.sqlite"), earlier).unwrap();
    fs::remove_dir_all(home.data_dir().join("snapshots")).unwrap();
    let server = started(&home);
    assert_eq!(listed(&server).len(), 5);
    assert!(home.log().contains("it is made anew"), "{}", home.log());
}

#[test]
fn a_server_whose_history_cannot_be_written_goes_on_without_it() {
    let (home, now) = (Home::new(FARM), now());
    journal(&home, runs(5, now));
    fs::create_dir(history(&home)).unwrap();
    let server = home.start();
    assert_eq!(server.get("/v1/runs").status, 500);
    assert_eq!(server.get("/v1/runs/export").status, 500);
    assert_eq!(metric(server.get("/metrics").text(), "jacuzzi_runs_recorded_seq"), 0);
    let token = format!("Authorization: Bearer {}", home.operator_token());
    let put = server.request("PUT", "/v1/builders/b", &[&token], br#"{"machines":["box1"]}"#);
    assert_eq!(put.status, 200, "{}", put.text());

    fs::remove_dir(history(&home)).unwrap();
    recorded(&server);
    assert_eq!(listed(&server).len(), 5);
    let log = home.log();
    assert_eq!(log.matches("the run history falls behind").count(), 1, "{log}");
    assert_eq!(log.matches("the run history is written again").count(), 1, "{log}");
}

#[test]
fn a_restored_backup_has_the_history_too() {
    let (home, now) = (Home::new(FARM), now());
    journal(&home, some_events(now));
    let server = started(&home);
    let file = home.farm_file().with_file_name("farm.backup");
    let file = file.to_str().unwrap();
    let with_data = |home: &Home, command: &str| {
        let done = home.jacuzzi(&[command, file]).arg("--data-dir").arg(home.data_dir()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    with_data(&home, "backup");
    let copy = Home::new(FARM);
    with_data(&copy, "restore");
    assert_eq!(listed(&started(&copy)), listed(&server));
}

#[test]
fn a_server_that_is_killed_while_it_catches_up_records_every_run_once() {
    const RUNS: u64 = 30_000;
    let (home, now) = (Home::new(FARM), now());
    journal(&home, runs(RUNS, now));
    let mut seen = 0;
    while seen < RUNS {
        let server = home.start();
        let before = seen;
        while seen == before {
            seen = before.max(metric(server.get("/metrics").text(), "jacuzzi_runs_recorded_seq"));
        }
        server.kill9();
    }
    let server = started(&home);
    let rows = listed(&server);
    assert_eq!(jobs(&rows), (1..=RUNS).rev().collect::<Vec<_>>());
}
