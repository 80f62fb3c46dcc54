//! `GET /v1/runs`: what is asked for, in pages that hold still while runs go on ending.

use jacuzzi::adapters::data_folder::runs_path;
use jacuzzi::adapters::runs::SqliteRuns;
use jacuzzi::domain::dispatcher::{ClaimId, Event, JobId, RunResult};
use jacuzzi::domain::{Author, BuilderName, WorkerName};
use jacuzzi::ports::{PastRun, RunFilter, Runs, Window};

use super::journal::{FARM, at, cancellation, jobs, journal, now, recorded, run, submission};
use crate::suite::server::Home;

/// Runs 1 to 6, and a seventh job that never ran.
fn events(now: i64) -> Vec<Event> {
    let of = |number: u64, builder: &str, worker: &str, result| {
        let mut run = run(number, now - 100 + 10 * number as i64);
        run.builder = BuilderName::parse(builder).unwrap();
        run.worker = WorkerName::parse(worker).unwrap();
        run.result = result;
        Event::RunEnded(run)
    };
    let mut again = run(1, now - 40);
    (again.claim, again.attempt) = (ClaimId(6), 2);
    vec![
        submission(&[(7, "crate x")], now - 200),
        of(1, "build", "box1", RunResult::Exception),
        of(2, "build", "box2", RunResult::Success),
        of(3, "a+b/c %", "box1", RunResult::Success),
        of(4, "crate x", "crate1", RunResult::Failure),
        of(5, "crate x", "crate2", RunResult::Success),
        Event::RunEnded(again),
        cancellation(7, now - 30),
    ]
}

#[test]
fn each_filter_leaves_what_is_meant() {
    let (home, now) = (Home::new(FARM), now());
    journal(&home, events(now));
    let server = home.start();
    recorded(&server);
    let cases: &[(&str, &[u64])] = &[
        ("", &[7, 1, 5, 4, 3, 2, 1]),
        ("builder=build", &[1, 2, 1]),
        ("builder=a+b%2Fc%20%25", &[3]),
        ("builder=none", &[]),
        ("worker=box1", &[1, 3, 1]),
        ("worker=box1&builder=build", &[1, 1]),
        ("pool=crates", &[5, 4]),
        ("pool=boxes&result=success", &[1, 3, 2]),
        ("pool=none", &[]),
        ("result=cancelled", &[7]),
        ("result=failure", &[4]),
        ("job=1", &[1, 1]),
        ("job=1&result=exception", &[1]),
        ("job=8", &[]),
        ("job=18446744073709551615", &[]),
        (&format!("since={}", now - 50), &[7, 1, 5]),
        (&format!("until={}", now - 50), &[4, 3, 2, 1]),
        (&format!("since={}&until={}", now - 70, now - 60), &[3]),
        (&format!("since={}", at(now - 30)), &[7]),
        (&format!("builder=build&until={}", now - 40), &[2, 1]),
        ("limit=2", &[7, 1]),
        ("before=6", &[4, 3, 2, 1]),
        ("before=18446744073709551615&limit=1", &[7]),
        ("before=0", &[]),
    ];
    for (query, expected) in cases {
        let answer = server.get(&format!("/v1/runs?{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        assert_eq!(jobs(answer.json()["runs"].as_array().unwrap()), *expected, "{query}");
    }
    for limit in 1..=8 {
        let (mut all, mut target) = (Vec::new(), format!("/v1/runs/?limit={limit}"));
        loop {
            let page = server.get(&target).json();
            all.extend(jobs(page["runs"].as_array().unwrap()));
            let Some(before) = page["next_before"].as_u64() else { break };
            target = format!("/v1/runs/?limit={limit}&before={before}");
        }
        assert_eq!(all, [7, 1, 5, 4, 3, 2, 1], "limit={limit}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let home = Home::new(FARM);
    let server = home.start();
    let bad_lists = [
        "limit=0",
        "limit=1001",
        "before=x",
        "job=-1",
        "job=a",
        "result=good",
        "result=",
        "since=yesterday",
        "until=nan",
        "builder=",
        "builder=%00",
        "worker=%ff",
    ];
    let bad_exports = ["format=xml", "format=", "since=x", "until=1e300"];
    let lists = bad_lists.map(|query| format!("/v1/runs?{query}"));
    for target in lists.into_iter().chain(bad_exports.map(|query| format!("/v1/runs/export?{query}"))) {
        let answer = server.get(&target);
        assert_eq!((answer.status, answer.json()["code"].as_str()), (400, Some("bad_parameter")), "{target}");
    }
    assert_eq!(server.request("POST", "/v1/runs", &[], b"").status, 405);
    let foreign = server.request("GET", "/v1/runs", &["Origin: http://evil.example"], b"");
    assert_eq!(foreign.json()["code"], "foreign_origin");
}

fn row(seq: u64, result: RunResult) -> PastRun {
    PastRun {
        seq,
        job: JobId(seq),
        claim: Some(ClaimId(seq)),
        builder: BuilderName::parse("build").unwrap(),
        worker: Some(WorkerName::parse("box1").unwrap()),
        branch: None,
        project: None,
        push: None,
        attempt: 1,
        submitted_at: at(0),
        started_at: Some(at(1)),
        // Several a second.
        ended_at: at(seq as i64 / 3),
        result,
        warm: false,
        author: Author::new("master-1"),
        reason: None,
    }
}

/// Rows as the recorder would append them.
pub fn rows(seqs: std::ops::RangeInclusive<u64>) -> Vec<PastRun> {
    seqs.map(|seq| row(seq, RunResult::Success)).collect()
}

#[test]
fn pages_hold_still_while_runs_end_and_old_ones_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let history = SqliteRuns::new(runs_path(folder.path()), "an epoch".to_owned());
    history.append(&rows(1..=100), 0, 100).unwrap();
    let (mut seen, mut before, mut last) = (Vec::new(), None, 100);
    loop {
        let page = history.newest(&RunFilter::default(), before, 7).unwrap();
        seen.extend(page.runs.iter().map(|run| run.seq));
        before = page.next_before;
        if before.is_none() {
            break;
        }
        history.append(&rows(last + 1..=last + 5), last, last + 5).unwrap();
        last += 5;
        history.prune(at(4), 1).unwrap();
    }
    // Eleven were due, of which the last was forgotten before its page came.
    assert_eq!(seen, (12..=100).rev().collect::<Vec<_>>());
}

#[test]
fn a_rare_row_is_found_though_one_page_does_not_look_that_far() {
    const ROWS: u64 = 105_000;
    let folder = tempfile::tempdir().unwrap();
    let history = SqliteRuns::new(runs_path(folder.path()), "an epoch".to_owned());
    let mut all = rows(1..=ROWS);
    all[9].result = RunResult::Lost;
    history.append(&all, 0, ROWS).unwrap();
    let lost = RunFilter { result: Some(RunResult::Lost), ..RunFilter::default() };
    let first = history.newest(&lost, None, 10).unwrap();
    assert_eq!((first.runs, first.next_before), (vec![], Some(ROWS - 99_999)));
    let second = history.newest(&lost, first.next_before, 10).unwrap();
    assert_eq!((second.runs, second.next_before), (vec![row(10, RunResult::Lost)], None));
}

#[test]
fn a_clock_that_was_set_back_hides_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let history = SqliteRuns::new(runs_path(folder.path()), "an epoch".to_owned());
    let ends = [10, 20, 30, 15, 25, 35];
    let all: Vec<_> =
        ends.iter().zip(1..).map(|(end, seq)| PastRun { ended_at: at(*end), ..row(seq, RunResult::Success) }).collect();
    history.append(&all, 0, 6).unwrap();
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = history.newest(&RunFilter::default(), before, 1).unwrap();
        seen.extend(page.runs.iter().map(|run| run.seq));
        before = page.next_before;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, [6, 3, 5, 2, 4, 1]);
    let window = Window { since: Some(at(15)), until: Some(at(30)) };
    let oldest = history.oldest(window, None, 10).unwrap();
    assert_eq!(oldest.iter().map(|run| run.seq).collect::<Vec<_>>(), [4, 2, 5]);
}
