//! What the table of cases leaves unsaid, by hand: leases, results, quarantine, drained and lost workers, ties.
//!
//! The oracle lists how it reads the specification; here each reading is seen once.

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::story::{ageing, farm, finish, idle, submit, tell};

const NOBODY: [&str; 0] = [];

/// Workers W1 and W2, nothing dedicated.
fn two_workers(events: Vec<Value>) -> Outcome {
    tell(&json!({"farm": farm(&["W1", "W2"]), "events": events, "until": 1_000}))
}

fn happens(at: i64, what: &str, names: &[&str]) -> Value {
    json!({"at": at, what: names})
}

#[test]
fn an_exception_and_a_retry_put_the_job_back_at_once() {
    let outcome = two_workers(vec![
        idle(0, &["W1"]),
        submit(0, "A", "a", 1),
        submit(5, "B", "a", 1),
        finish(10, "W1", "exception"),
        finish(20, "W1", "retry"),
        finish(30, "W1", "failure"),
        finish(40, "W1", "cancelled"),
        finish(50, "W1", "success"),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0", "A→W1 @10, attempt 2", "A→W1 @20, attempt 3", "B→W1 @30"]);
    assert_eq!(outcome.pending, NOBODY);
}

#[test]
fn a_job_has_five_attempts() {
    let mut events = vec![idle(0, &["W1"]), submit(0, "A", "a", 1), submit(0, "B", "b", 2)];
    events.extend((1..=5).map(|attempt| finish(attempt * 10, "W1", "retry")));
    let starts = two_workers(events).starts();
    assert_eq!(starts[4..], ["A→W1 @40, attempt 5", "B→W1 @50"]);

    let mut events = vec![submit(0, "A", "a", 1)];
    for attempt in 0..6 {
        events.extend([idle(attempt * 100, &["W1"]), happens(attempt * 100 + 20, "lost", &["W1"])]);
    }
    let starts = two_workers(events).starts();
    assert_eq!((starts.len(), starts[4].as_str()), (5, "A→W1 @400, attempt 5"), "lost ones count too");
}

#[test]
fn exceptions_in_a_row_quarantine_the_worker_for_ever_longer() {
    let mut events = vec![idle(0, &["W1"])];
    events.extend((0..4).map(|job| submit(0, &format!("J{job}"), "a", job)));
    events.extend((1..=15).map(|row| finish(row * 10_000, "W1", "exception")));
    let scenario = json!({"farm": farm(&["W1"]), "events": events, "until": 200_000});
    let waits = [0, 0, 0, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600, 3_600, 3_600];
    let expected = waits.iter().enumerate().map(|(row, wait)| row as i64 * 10_000 + wait);
    let outcome = tell(&scenario);
    let started: Vec<i64> = outcome.assignments.iter().map(|start| start.at / 1_000_000).collect();
    assert_eq!(started, expected.collect::<Vec<_>>());
    assert_eq!(outcome.decisions, 16 + 13, "each end of a quarantine is one");
}

#[test]
fn success_and_failure_end_a_row_of_exceptions() {
    for (result, next) in [("success", 40), ("failure", 40), ("retry", 50), ("cancelled", 50)] {
        let mut events = vec![idle(0, &["W1"])];
        events.extend((0..3).map(|job| submit(0, &format!("J{job}"), "a", job)));
        let row = ["exception", "exception", result, "exception"];
        events.extend(row.iter().zip(1..).map(|(result, at)| finish(at * 10, "W1", result)));
        let outcome = two_workers(events);
        let started: Vec<i64> = outcome.assignments.iter().map(|start| start.at / 1_000_000).collect();
        assert_eq!(started, [0, 10, 20, 30, next], "after two exceptions, {result} and an exception");
    }
}

#[test]
fn a_quarantined_worker_leaves_its_jobs_to_others() {
    let mut events = vec![idle(0, &["W1"]), submit(0, "A", "a", 1)];
    events.extend((1..=3).map(|row| finish(row * 10, "W1", "exception")));
    events.extend([submit(31, "B", "b", 2), idle(35, &["W2"])]);
    assert_eq!(two_workers(events).starts()[3..], ["A→W2 @35, attempt 4", "B→W1 @40"]);
}

#[test]
fn a_drained_worker_finishes_its_job_and_takes_no_other() {
    let outcome = two_workers(vec![
        idle(0, &["W1", "W2"]),
        submit(0, "A", "a", 1),
        happens(5, "drain", &["W1", "W2"]),
        finish(10, "W1", "retry"),
        submit(20, "B", "b", 2),
        idle(30, &["W1", "W2"]),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0"]);
    assert_eq!(outcome.pending, ["A", "B"]);
}

#[test]
fn a_removed_worker_gives_its_job_back() {
    let outcome = two_workers(vec![
        idle(0, &["W1"]),
        submit(0, "A", "a", 1),
        submit(1, "B", "b", 2),
        idle(5, &["W2"]),
        submit(6, "C", "c", 3),
        happens(10, "remove", &["W1"]),
        finish(20, "W2", "success"),
        happens(30, "remove", &["W2"]),
        idle(40, &["W1", "W2"]),
        finish(50, "W1", "success"),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0", "B→W2 @5", "A→W2 @20, attempt 2"]);
    assert_eq!(outcome.pending, ["A", "C"]);
}

#[test]
fn a_removal_is_not_the_jobs_fault() {
    let mut events = vec![idle(0, &["W1"]), submit(0, "A", "a", 1)];
    events.extend((1..=4).map(|attempt| finish(attempt * 10, "W1", "retry")));
    events.extend([happens(50, "remove", &["W1"]), idle(60, &["W2"]), finish(70, "W2", "retry")]);
    let outcome = two_workers(events);
    assert_eq!(outcome.starts()[4..], ["A→W1 @40, attempt 5", "A→W2 @60, attempt 6"]);
    assert_eq!(outcome.pending, NOBODY);
}

#[test]
fn what_a_worker_reports_at_the_moment_of_its_removal_counts() {
    let outcome = two_workers(vec![
        idle(0, &["W1"]),
        submit(0, "A", "a", 1),
        happens(10, "remove", &["W1"]),
        finish(10, "W1", "success"),
        idle(10, &["W1"]),
        submit(10, "B", "b", 1),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0"]);
    assert_eq!(outcome.pending, ["B"]);
}

#[test]
fn a_cancelled_job_is_gone_and_its_worker_busy_until_it_says_so() {
    let outcome = two_workers(vec![
        idle(0, &["W1"]),
        submit(0, "A", "a", 1),
        submit(0, "B", "b", 2),
        submit(0, "C", "c", 3),
        happens(5, "cancel", &["A", "B"]),
        finish(10, "W1", "retry"),
        idle(20, &["W1"]),
        finish(30, "W1", "success"),
        happens(40, "cancel", &["C"]),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0", "C→W1 @20"]);
    assert_eq!(outcome.pending, NOBODY);
}

#[test]
fn a_lost_worker_may_still_report_until_its_lease_ends() {
    let lost_and = |reported: i64| {
        let mut events = vec![
            idle(0, &["W1"]),
            submit(0, "A", "a", 1),
            happens(40, "lost", &["W1"]),
            finish(reported, "W1", "success"),
        ];
        events.push(idle(200, &["W2"]));
        two_workers(events).starts()
    };
    assert_eq!(lost_and(99), ["A→W1 @0"]);
    assert_eq!(lost_and(100), ["A→W1 @0", "A→W2 @200, attempt 2"], "at its very end it is over");
}

#[test]
fn a_lost_worker_ends_no_service() {
    let service = json!({"at": 0, "submit": {"id": "A", "builder": "a", "priority": 1, "service": 50}});
    let outcome = two_workers(vec![
        idle(0, &["W1"]),
        service,
        happens(40, "lost", &["W1"]),
        idle(70, &["W2"]),
        submit(140, "B", "b", 2),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0", "A→W2 @100, attempt 2", "B→W2 @150"]);
    assert_eq!(outcome.decisions, 6);
}

#[test]
fn a_service_cut_short_is_no_deadline() {
    let service = json!({"at": 0, "submit": {"id": "A", "builder": "a", "service": 50}});
    let outcome = two_workers(vec![idle(0, &["W1"]), service, finish(10, "W1", "success")]);
    assert_eq!(outcome.decisions, 2);
}

#[test]
fn a_lease_ends_one_lease_after_its_worker_was_lost_last() {
    let outcome = two_workers(vec![
        idle(0, &["W1"]),
        submit(0, "A", "a", 1),
        happens(40, "lost", &["W1"]),
        happens(60, "lost", &["W1"]),
        idle(70, &["W2"]),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0", "A→W2 @120, attempt 2"]);
}

#[test]
fn a_worker_lost_while_idle_takes_no_job() {
    let outcome =
        two_workers(vec![idle(0, &["W1"]), happens(5, "lost", &["W1"]), submit(10, "A", "a", 1), idle(20, &["W1"])]);
    assert_eq!(outcome.starts(), ["A→W1 @20"]);
}

#[test]
fn a_worker_that_is_named_idle_runs_its_job_no_more() {
    let outcome = two_workers(vec![
        idle(0, &["W1"]),
        submit(0, "A", "a", 1),
        submit(0, "B", "b", 2),
        idle(10, &["W1"]),
        happens(40, "lost", &["W1"]),
        idle(50, &["W1"]),
        finish(200, "W1", "success"),
    ]);
    let attempts = ["A→W1 @0", "A→W1 @10, attempt 2", "A→W1 @50, attempt 3", "B→W1 @200"];
    assert_eq!(outcome.starts(), attempts);
}

#[test]
fn a_new_allocation_replaces_the_whole() {
    let outcome = tell(&json!({
        "farm": farm(&["W1", "W2"]),
        "allocations": {"a": ["W1"], "b": ["W2"]},
        "events": [
            submit(0, "A", "a", 1), submit(0, "B", "b", 2), submit(0, "C", "c", 3), idle(0, &["W1", "W2"]),
            finish(10, "W1", "success"), finish(10, "W2", "success"),
            {"at": 20, "allocate": {"c": ["W2"]}}, submit(30, "A2", "a", 1), submit(30, "B2", "b", 2),
        ],
        "until": 100,
    }));
    assert_eq!(outcome.starts(), ["A→W1 @0", "B→W2 @0", "C→W2 @20", "A2→W1 @30"]);
    assert_eq!(outcome.pending, ["B2"]);
}

#[test]
fn a_builder_rule_gives_pool_class_and_requirements() {
    let outcome = tell(&json!({
        "farm": {
            "farm": {"name": "story", "default_priority": 4},
            "pools": [{"name": "one", "workers": ["W1", "W2"]}, {"name": "two", "workers": ["W3"]}],
            "workers": [{"name": "W2", "pool": "one", "attributes": {"trust": "core", "ram": "big"}}],
            "branches": [{"name": "main", "priority": 3}, {"name": "main-try", "priority": 6}],
            "builders": [
                {"match": "^core", "pool": "one", "requires": {"trust": "core"}, "class": "release"},
                {"match": "^two", "pool": "two"},
                {"match": "^", "pool": "one", "class": "idle"},
            ],
        },
        "events": [
            {"at": 0, "submit": {"id": "A", "builder": "core"}},
            {"at": 0, "submit": {"id": "B", "builder": "core"}},
            {"at": 0, "submit": {"id": "C", "builder": "other", "priority": 0}},
            {"at": 0, "submit": {"id": "D", "builder": "two on main-try"}},
            {"at": 0, "submit": {"id": "E", "builder": "two on none"}},
            {"at": 0, "submit": {"id": "F", "builder": "two on main"}},
            {"at": 0, "submit": {"id": "G", "builder": "two on main", "branch": "main-try"}},
            idle(10, &["W1", "W2", "W3"]),
            finish(20, "W3", "success"), finish(30, "W3", "success"), finish(40, "W3", "success"),
        ],
        "until": 100,
    }));
    assert_eq!(outcome.starts(), ["A→W2 @10", "C→W1 @10", "F→W3 @10", "E→W3 @20", "D→W3 @30", "G→W3 @40"]);
    assert_eq!(outcome.pending, ["B"]);
}

#[test]
fn equal_jobs_go_by_age_and_then_in_the_order_of_submission() {
    for seconds in [0, 10] {
        let outcome = tell(&json!({
            "farm": ageing(&["W1"], seconds),
            "events": [
                submit(5, "J9", "a", 1), submit(5, "J10", "a", 1), submit(5, "Ja", "a", 1), submit(5, "JA", "a", 1),
                {"at": 5, "submit": {"id": "older", "builder": "a", "priority": 1, "submitted_at": 4.5}},
            ],
            "until": 100,
        }));
        assert_eq!(outcome.pending, ["older", "J9", "J10", "Ja", "JA"]);
    }
}

#[test]
fn ageing_counts_fractions_of_seconds() {
    let mut farm = farm(&["W1"]);
    farm["farm"]["ageing_seconds_per_priority"] = json!(0.5);
    let job = |at: f64, id: &str, priority: i64| json!({"at": at, "submit": {"id": id, "builder": "a", "priority": priority}});
    let events = [job(0.0, "A", 3), job(0.999_999, "C", 1), job(1.0, "B", 1), job(1.000_001, "D", 1)];
    let outcome = tell(&json!({"farm": farm, "events": events, "until": 10}));
    assert_eq!(outcome.pending, ["C", "A", "B", "D"], "A and B are level at 1.5, and A is older");
}

#[test]
fn what_happens_at_one_moment_happens_in_the_order_of_the_file() {
    let outcome = two_workers(vec![
        submit(0, "A", "a", 1),
        happens(0, "cancel", &["A"]),
        happens(0, "cancel", &["B"]),
        submit(0, "B", "b", 2),
        idle(0, &["W1", "W2"]),
        happens(0, "lost", &["W1"]),
        happens(10, "lost", &["W1"]),
        idle(10, &["W1"]),
        submit(10, "C", "c", 3),
    ]);
    assert_eq!(outcome.starts(), ["B→W2 @0", "C→W1 @10"]);
    assert_eq!(outcome.decisions, 2);
}
