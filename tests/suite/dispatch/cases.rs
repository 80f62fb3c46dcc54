//! The specification's table of cases, as far as they need no option; each is held against the table and the oracle.

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::play::{play, play_by_command};
use super::story::{ageing, farm, finish, idle, submit, tell};

const NOBODY: [&str; 0] = [];

fn one_after_the_other(allocations: Value) -> Value {
    json!({
        "farm": farm(&["W1", "W2", "W3"]),
        "allocations": allocations,
        "events": [
            submit(0, "A", "a", 1), submit(0, "B", "b", 2), submit(0, "C", "c", 3),
            idle(10, &["W1"]), idle(20, &["W2"]), idle(30, &["W3"]),
        ],
        "until": 100,
    })
}

#[test]
fn case_1_the_most_important_job_starts_first() {
    let outcome = tell(&one_after_the_other(json!({})));
    assert_eq!(outcome.starts(), ["A→W1 @10", "B→W2 @20", "C→W3 @30"]);
    assert_eq!(outcome.pending, NOBODY);
    assert_eq!(outcome.decisions, 4);
}

#[test]
fn case_2_a_dedicated_worker_goes_to_its_builder() {
    let outcome = tell(&one_after_the_other(json!({"c": ["W1"]})));
    assert_eq!(outcome.starts(), ["C→W1 @10", "A→W2 @20", "B→W3 @30"]);
    assert_eq!(outcome.decisions, 4, "one an event");
}

#[test]
fn case_3_each_waits_for_its_own() {
    let outcome = tell(&json!({
        "farm": farm(&["W1", "W2", "W3"]),
        "allocations": {"a": ["W2"], "c": ["W1"]},
        "events": [
            submit(0, "A", "a", 1), submit(0, "B", "b", 2), submit(0, "C", "c", 3),
            idle(5, &["W3"]), idle(6, &["W1"]), idle(7, &["W2"]),
        ],
        "until": 100,
    }));
    assert_eq!(outcome.starts(), ["B→W3 @5", "C→W1 @6", "A→W2 @7"]);
    assert_eq!(outcome.decisions, 4);
}

#[test]
fn case_5_two_builders_share_a_worker() {
    let outcome = tell(&json!({
        "farm": farm(&["X", "Y"]),
        "allocations": {"a1": ["Y"], "a2": ["Y"], "c": ["X"]},
        "events": [
            submit(0, "A1", "a1", 1), submit(0, "A2", "a2", 2), submit(0, "C", "c", 9),
            idle(10, &["X", "Y"]), finish(50, "Y", "success"),
        ],
        "until": 100,
    }));
    assert_eq!(outcome.starts(), ["A1→Y @10", "C→X @10", "A2→Y @50"]);
    assert_eq!(outcome.decisions, 3);
}

/// A job of priority 25, and one of priority 15 a minute for as long as told; one worker, a minute a job.
fn a_minute_each(ageing_seconds: u64, minutes: i64) -> Value {
    let mut events = vec![idle(0, &["W"]), submit(0, "L", "l", 25)];
    for minute in 0..minutes {
        let id = format!("a{minute:04}");
        let job = json!({"id": id, "builder": "a", "priority": 15, "service": 60});
        events.push(json!({"at": minute * 60, "submit": job}));
    }
    json!({"farm": ageing(&["W"], ageing_seconds), "events": events, "until": minutes * 60 - 1})
}

#[test]
fn case_8_waiting_outweighs_priority_at_the_exact_second() {
    let outcome = tell(&a_minute_each(300, 100));
    let starts = outcome.starts();
    assert_eq!(starts.len(), 51, "L is never done");
    assert_eq!((starts[0].as_str(), starts[49].as_str()), ("a0000→W @0", "a0049→W @2940"));
    assert_eq!(starts[50], "L→W @3000");
}

#[test]
fn case_8_strict_priority_never_yields() {
    let minutes = 1_000;
    let outcome = tell(&a_minute_each(0, minutes));
    assert_eq!(outcome.assignments.len() as i64, minutes);
    assert_eq!(outcome.pending, ["L"]);
    assert_eq!(outcome.decisions as i64, minutes, "an end and a start at one moment are one decision");
}

#[test]
fn case_9_waiting_never_outweighs_a_class() {
    for seconds in [0, 300] {
        let outcome = tell(&json!({
            "farm": ageing(&["W1"], seconds),
            "events": [
                {"at": 0, "submit": {"id": "L", "builder": "l", "priority": 25, "submitted_at": -1_000_000}},
                {"at": 0, "submit": {"id": "R", "builder": "r", "priority": 40, "class": "release"}},
                idle(10, &["W1"]), finish(20, "W1", "success"),
            ],
            "until": 100,
        }));
        assert_eq!(outcome.starts(), ["R→W1 @10", "L→W1 @20"]);
    }
}

#[test]
fn case_12_the_latest_success_is_the_warmest() {
    let ran = |worker: &str, at: i64, result: &str| json!({"builder": "a", "worker": worker, "finished_at": at, "result": result});
    let elsewhere = json!({"builder": "b", "worker": "W1", "finished_at": -1, "result": "success"});
    let story = |history: &[Value]| {
        tell(&json!({
            "farm": farm(&["W1", "W2", "W3"]),
            "events": [idle(0, &["W1", "W2", "W3"]), submit(0, "A", "a", 1)],
            "history": history,
            "until": 10,
        }))
    };
    let warm = ran("W2", -100, "success");
    let cases = [
        (vec![ran("W3", -50, "success")], "A→W3 @0"),
        (vec![ran("W3", -200, "success"), ran("W3", -50, "failure")], "A→W2 @0"),
        (vec![ran("W3", -60, "success"), ran("W3", -50, "failure")], "A→W3 @0"),
    ];
    for (mut history, expected) in cases {
        history.extend([warm.clone(), elsewhere.clone()]);
        assert_eq!(story(&history).starts(), [expected], "{history:?}");
        history.reverse();
        assert_eq!(story(&history).starts(), [expected], "in whatever order the history is told");
    }
    assert_eq!(story(&[]).starts(), ["A→W1 @0"], "by name when none is warm");
}

#[test]
fn case_17_a_job_whose_workers_are_gone_is_held() {
    let outcome = tell(&json!({
        "farm": farm(&["W1", "W2"]),
        "allocations": {"c": ["W1"]},
        "events": [
            {"at": -10, "remove": ["W1"]}, idle(-5, &["W2"]), submit(0, "C", "c", 1), submit(1, "A", "a", 2),
        ],
        "until": 1_000,
    }));
    assert_eq!(outcome.starts(), ["A→W2 @1"]);
    assert_eq!(outcome.pending, ["C"]);
}

fn lost_worker() -> Value {
    json!({
        "farm": farm(&["W1", "W2"]),
        "events": [
            idle(0, &["W1"]), submit(0, "A", "a", 1), submit(1, "B", "a", 1),
            {"at": 40, "lost": ["W1"]}, idle(110, &["W2"]), finish(120, "W1", "success"), idle(130, &["W1"]),
        ],
        "until": 200,
    })
}

#[test]
fn case_19_a_lease_that_ends_puts_the_job_back_with_its_age() {
    let outcome = tell(&lost_worker());
    assert_eq!(outcome.starts(), ["A→W1 @0", "A→W2 @110, attempt 2", "B→W1 @130"]);
    assert_eq!(outcome.decisions, 7, "six events, and the end of the lease at 100");
}

#[test]
fn case_19_the_lease_ends_exactly_one_lease_after_the_last_heartbeat() {
    for (offered, started) in [(99, "A→W2 @100, attempt 2"), (100, "A→W2 @100, attempt 2")] {
        let mut scenario = lost_worker();
        scenario["events"] = json!([
            idle(0, &["W1"]), submit(0, "A", "a", 1), {"at": 40, "lost": ["W1"]}, idle(offered, &["W2"]),
        ]);
        assert_eq!(tell(&scenario).starts(), ["A→W1 @0", started]);
        scenario["until"] = json!(99.999_999);
        assert_eq!(tell(&scenario).starts(), ["A→W1 @0"]);
    }
}

#[test]
fn case_20_two_masters_at_one_moment_get_a_job_each() {
    let outcome = tell(&json!({
        "farm": farm(&["W1", "W2"]),
        "events": [
            submit(0, "A", "a", 1), submit(0, "B", "b", 2),
            idle(10, &["W1", "W2"]), idle(10, &["W2", "W1"]),
        ],
        "until": 100,
    }));
    assert_eq!(outcome.starts(), ["A→W1 @10", "B→W2 @10"]);
    assert_eq!(outcome.decisions, 2);
}

#[test]
fn the_scenario_of_the_specification_plays() {
    // Without its `explain`.
    let scenario = json!({
        "farm": {
            "farm": {"ageing_seconds_per_priority": 0},
            "pools": [{"name": "p", "workers": ["W1", "W2", "W3"]}],
            "builders": [{"match": "^[abc]$", "pool": "p"}],
        },
        "allocations": {"c": ["W1"]},
        "events": [
            {"at": 0, "submit": {"id": "C", "builder": "c", "priority": 3, "submitted_at": -3}},
            {"at": 1, "submit": {"id": "A", "builder": "a", "priority": 1, "service": 600}},
            {"at": 10, "idle": ["W1"]},
            {"at": 20, "allocate": {"c": ["W2"]}},
            {"at": 30, "finish": {"worker": "W1", "result": "success"}},
            {"at": 40, "remove": ["W3"]},
            {"at": 50, "lost": ["W2"]},
            {"at": 60, "drain": ["W1"]},
            {"at": 70, "cancel": ["A"]},
        ],
        "history": [{"builder": "a", "worker": "W2", "finished_at": -100, "result": "success"}],
        "until": 100,
    });
    let outcome = Outcome::read(&play(&scenario).unwrap());
    assert_eq!(outcome.starts(), ["C→W1 @10", "A→W1 @30"]);
    assert_eq!(outcome.pending, NOBODY);
    assert_eq!(outcome.decisions, 9);
}

#[test]
fn the_command_says_the_same() {
    for scenario in [one_after_the_other(json!({"c": ["W1"]})), lost_worker()] {
        let mut told = play_by_command(&scenario).unwrap();
        assert!(!told["events"].take().as_array().unwrap().is_empty());
        told.as_object_mut().unwrap().remove("events");
        assert_eq!(told, play(&scenario).unwrap());
    }
    let refused = play_by_command(&json!({"farm": {}})).unwrap_err();
    assert!(refused.contains("until"), "{refused}");
}
