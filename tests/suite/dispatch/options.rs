//! The options of the farm file, each off unless it is set: what every one of them changes, and what it does not.

use serde_json::{Value, json};

use super::play::{play, play_by_command};
use super::story::{claim, finish, idle, submit, tell};

const NOBODY: [&str; 0] = [];

/// Workers `a…` are in-house, `s…` spot; a rule for each of these builders, with its options.
fn farm(farm: Value, workers: &[&str], rules: &[(&str, Value)]) -> Value {
    let class = |name: &str| if name.starts_with('s') { "spot" } else { "inhouse" };
    let workers = workers.iter().map(|name| json!({"name": name, "pool": "pool", "class": class(name)}));
    let rules = rules.iter().map(|(builder, options)| {
        let mut rule = options.clone();
        rule["match"] = json!(format!("^{builder}$"));
        rule["pool"] = json!("pool");
        rule
    });
    json!({
        "farm": farm,
        "pools": [{"name": "pool"}],
        "workers": workers.collect::<Vec<_>>(),
        "builders": rules.collect::<Vec<_>>(),
    })
}

fn plain() -> Value {
    json!({})
}

#[test]
fn case_6_a_reserve_is_kept_for_more_of_the_same() {
    let outcome = tell(&json!({
        "farm": farm(plain(), &["W1", "W2", "W3"], &[("i", json!({"reserve": 1})), ("d", plain())]),
        "events": [
            submit(0, "I", "i", 5), submit(0, "D", "d", 6),
            idle(10, &["W1"]), idle(20, &["W2"]), idle(30, &["W3"]),
        ],
        "until": 100,
    }));
    assert_eq!(outcome.starts(), ["D→W1 @10", "I→W2 @30"]);
}

#[test]
fn case_7_the_project_with_the_fewest_running_jobs_goes_first() {
    let projects = [(1, "one"), (2, "one"), (3, "one"), (4, "two"), (5, "two"), (6, "three")];
    let workers = ["W1", "W2", "W3", "W4", "W5", "W6"];
    let story = |options: Value| {
        let mut events: Vec<_> = projects
            .iter()
            .map(|(id, project)| {
                json!({"at": 0, "submit": {"id": id.to_string(), "builder": "b", "priority": 5, "project": project}})
            })
            .collect();
        events.extend(workers.iter().zip(1..).map(|(worker, at)| idle(at, &[worker])));
        tell(&json!({"farm": farm(options, &workers, &[("b", plain())]), "events": events, "until": 100}))
    };
    let fair = story(json!({"fair_share_by": "project"}));
    assert_eq!(fair.starts(), ["1→W1 @1", "4→W2 @2", "6→W3 @3", "2→W4 @4", "5→W5 @5", "3→W6 @6"]);
    let by_age = story(plain());
    assert_eq!(by_age.starts(), ["1→W1 @1", "2→W2 @2", "3→W3 @3", "4→W4 @4", "5→W5 @5", "6→W6 @6"]);
}

#[test]
fn a_share_counts_what_starts_in_the_same_decision_and_ends_with_the_run() {
    let job = |id: &str, project: &str| json!({"at": 0, "submit": {"id": id, "builder": "b", "project": project}});
    let outcome = tell(&json!({
        "farm": farm(json!({"fair_share_by": "project"}), &["W1", "W2", "W3"], &[("b", plain())]),
        "events": [
            job("A1", "a"), job("A2", "a"), job("A3", "a"), job("B1", "b"), job("B2", "b"),
            idle(1, &["W1", "W2"]), finish(10, "W1", "success"), finish(20, "W1", "success"),
        ],
        "until": 100,
    }));
    // At 10 project a runs nothing, b one; at 20 a has run and b runs one still.
    assert_eq!(outcome.starts(), ["A1→W1 @1", "B1→W2 @1", "A2→W1 @10", "A3→W1 @20"]);
    assert_eq!(outcome.pending, ["B2"]);
}

#[test]
fn case_14_a_dedicated_job_overflows_at_the_very_moment() {
    let story = |rule: Value, until: i64| {
        tell(&json!({
            "farm": farm(plain(), &["W1", "W2"], &[("c", rule)]),
            "allocations": {"c": ["W1"]},
            "events": [submit(0, "C", "c", 5), idle(0, &["W2"])],
            "until": until,
        }))
    };
    let outcome = story(json!({"overflow_after": 600}), 600);
    assert_eq!(outcome.starts(), ["C→W2 @600"]);
    assert_eq!(outcome.decisions, 2, "the deadline is one");
    assert_eq!(story(json!({"overflow_after": 600}), 599).starts(), NOBODY);
    assert_eq!(story(plain(), 100_000).starts(), NOBODY);
}

#[test]
fn an_old_job_overflows_at_once_and_a_builder_without_workers_never_needs_to() {
    let outcome = tell(&json!({
        "farm": farm(json!({"overflow_after": "10m"}), &["W1", "W2", "W3"], &[("c", plain()), ("d", plain())]),
        "allocations": {"c": ["W1"]},
        "events": [
            {"at": 0, "submit": {"id": "C", "builder": "c", "submitted_at": -600}},
            submit(0, "D", "d", 9), idle(0, &["W2", "W3"]),
        ],
        "until": 0,
    }));
    assert_eq!(outcome.starts(), ["C→W2 @0", "D→W3 @0"]);
}

#[test]
fn a_job_that_is_put_back_has_waited_all_along() {
    let outcome = tell(&json!({
        "farm": farm(json!({"overflow_after": 100}), &["W1", "W2"], &[("c", plain())]),
        "allocations": {"c": ["W1"]},
        "events": [
            submit(0, "C", "c", 5), idle(10, &["W1"]), idle(150, &["W2"]),
            {"at": 160, "lost": ["W1"]},
        ],
        "until": 300,
    }));
    assert_eq!(outcome.starts(), ["C→W1 @10", "C→W2 @220, attempt 2"]);
}

#[test]
fn a_rested_worker_is_lent_to_builders_that_have_none() {
    let story = |rule: Value, allocations: Value| {
        tell(&json!({
            "farm": farm(plain(), &["W1"], &[("c", rule), ("d", json!({"overflow_after": 0})), ("e", plain())]),
            "allocations": allocations,
            "events": [
                idle(0, &["W1"]), submit(5, "D", "d", 1), submit(5, "E", "e", 2),
                finish(200, "W1", "success"), submit(210, "F", "e", 2),
            ],
            "until": 1_000,
        }))
    };
    // Rested since 0; then since 200, so it is lent again at 300. The offer of 200 alone would not do.
    let both = json!({"c": ["W1"]});
    let lent = story(json!({"lend_after": 100}), both.clone());
    assert_eq!(lent.starts(), ["D→W1 @100", "E→W1 @300"]);
    assert_eq!(story(plain(), both).starts(), NOBODY);
    // What overflows may use workers that nobody has, not what is lent.
    let mut elsewhere =
        farm(plain(), &["W1", "W2"], &[("c", json!({"lend_after": 100})), ("d", json!({"overflow_after": 0}))]);
    elsewhere["farm"]["name"] = json!("never both");
    let outcome = tell(&json!({
        "farm": elsewhere,
        "allocations": {"c": ["W1"], "d": ["W2"]},
        "events": [idle(0, &["W1"]), submit(5, "D", "d", 1)],
        "until": 1_000,
    }));
    assert_eq!(outcome.starts(), NOBODY);
}

#[test]
fn a_worker_that_comes_back_rested_is_lent_at_once() {
    let outcome = tell(&json!({
        "farm": farm(plain(), &["W1"], &[("c", json!({"lend_after": 100})), ("e", plain())]),
        "allocations": {"c": ["W1"]},
        "events": [
            idle(0, &["W1"]), {"at": 10, "lost": ["W1"]}, submit(20, "E", "e", 1),
            claim(150, &["W1"], json!({"wait": 0})),
        ],
        "until": 1_000,
    }));
    assert_eq!(outcome.starts(), ["E→W1 @150"]);
    assert_eq!(outcome.decisions, 4);
}

#[test]
fn a_worker_of_two_builders_is_lent_when_both_lend_it() {
    let story = |other: Value| {
        tell(&json!({
            "farm": farm(plain(), &["W1"], &[("c1", json!({"lend_after": 100})), ("c2", other), ("e", plain())]),
            "allocations": {"c1": ["W1"], "c2": ["W1"]},
            "events": [idle(0, &["W1"]), submit(5, "E", "e", 2)],
            "until": 1_000,
        }))
    };
    assert_eq!(story(json!({"lend_after": 300})).starts(), ["E→W1 @300"]);
    assert_eq!(story(plain()).starts(), NOBODY);
}

#[test]
fn the_preferred_class_goes_before_the_warmest() {
    let story = |options: Value| {
        tell(&json!({
            "farm": farm(options, &["a1", "s1", "s2"], &[("b", plain())]),
            "history": [
                {"builder": "b", "worker": "a1", "finished_at": -10, "result": "success"},
                {"builder": "b", "worker": "s2", "finished_at": -20, "result": "success"},
            ],
            "events": [idle(0, &["a1", "s1", "s2"]), submit(0, "A", "b", 1), submit(0, "B", "b", 2), submit(0, "C", "b", 3)],
            "until": 0,
        }))
    };
    assert_eq!(story(plain()).starts(), ["A→a1 @0", "B→s2 @0", "C→s1 @0"]);
    assert_eq!(story(json!({"prefer": ["spot"]})).starts(), ["A→s2 @0", "B→s1 @0", "C→a1 @0"]);
    assert_eq!(story(json!({"warmth": "none"})).starts(), ["A→a1 @0", "B→s1 @0", "C→s2 @0"]);
}

#[test]
fn a_young_job_waits_for_the_first_class_if_its_set_has_any() {
    let options = json!({"prefer": ["inhouse", "spot"], "inhouse_wait": 60});
    let story = |workers: &[&str], events: Value| {
        tell(&json!({"farm": farm(options.clone(), workers, &[("b", plain())]), "events": events, "until": 1_000}))
    };
    let late = story(&["a1", "s1"], json!([idle(0, &["s1"]), submit(10, "A", "b", 1)]));
    assert_eq!(late.starts(), ["A→s1 @70"]);
    let in_time = story(&["a1", "s1"], json!([idle(0, &["s1"]), submit(10, "A", "b", 1), idle(69, &["a1"])]));
    assert_eq!(in_time.starts(), ["A→a1 @69"]);
    let none = story(&["s1"], json!([idle(0, &["s1"]), submit(10, "A", "b", 1)]));
    assert_eq!(none.starts(), ["A→s1 @10"]);
    let gone = story(&["a1", "s1"], json!([idle(0, &["s1"]), submit(10, "A", "b", 1), {"at": 30, "remove": ["a1"]}]));
    assert_eq!(gone.starts(), ["A→s1 @30"]);
}

#[test]
fn overflow_and_in_house_wait_are_stages_of_one_wait() {
    let options = json!({"prefer": ["inhouse"], "inhouse_wait": 100, "overflow_after": 50});
    let story = |events: Value| {
        tell(&json!({
            "farm": farm(options.clone(), &["s1", "a2", "s2"], &[("c", plain())]),
            "allocations": {"c": ["s1"]},
            "events": events,
            "until": 1_000,
        }))
    };
    // Its own set has no in-house worker; from 50 on its set has one, so it waits for that until 100.
    assert_eq!(story(json!([submit(0, "C", "c", 1), idle(20, &["s1"])])).starts(), ["C→s1 @20"]);
    assert_eq!(story(json!([submit(0, "C", "c", 1), idle(20, &["s2"])])).starts(), ["C→s2 @100"]);
    assert_eq!(story(json!([submit(0, "C", "c", 1), idle(20, &["a2"])])).starts(), ["C→a2 @50"]);
}

#[test]
fn case_17_an_allocation_whose_workers_are_gone_is_held_or_taken_back() {
    let story = |rule: Value| {
        json!({
            "farm": farm(plain(), &["W1", "W2"], &[("c", rule)]),
            "allocations": {"c": ["W1"]},
            "events": [{"at": 0, "remove": ["W1"]}, submit(0, "C", "c", 5), idle(0, &["W2"])],
            "until": 100_000,
        })
    };
    for hold in [plain(), json!({"on_empty_set": "hold"})] {
        let outcome = tell(&story(hold));
        assert_eq!((outcome.starts().len(), outcome.pending), (0, vec!["C".to_owned()]));
    }
    let pool = story(json!({"on_empty_set": "pool"}));
    assert_eq!(tell(&pool).starts(), ["C→W2 @0"]);
    let events = play_by_command(&pool).unwrap()["events"].to_string();
    assert!(events.contains("every worker of c is gone: the pool's common workers take over"), "{events}");
}

#[test]
fn lease_attempts_and_quarantine_are_as_long_as_is_said() {
    let outcome = tell(&json!({
        "farm": farm(json!({"lease": 60}), &["W1"], &[("b", json!({"lease": 5, "max_attempts": 2}))]),
        "events": [
            submit(0, "A", "b", 1), idle(10, &["W1"]), {"at": 20, "lost": ["W1"]}, idle(30, &["W1"]),
            {"at": 40, "lost": ["W1"]}, idle(50, &["W1"]),
        ],
        "until": 1_000,
    }));
    assert_eq!(outcome.starts(), ["A→W1 @10", "A→W1 @30, attempt 2"]);
    assert_eq!(outcome.pending, NOBODY, "given up after two attempts");
    let outcome = tell(&json!({
        "farm": farm(json!({"quarantine_after": 1}), &["W1"], &[("b", plain())]),
        "events": [submit(0, "A", "b", 1), idle(10, &["W1"]), finish(20, "W1", "exception")],
        "until": 1_000,
    }));
    assert_eq!(outcome.starts(), ["A→W1 @10", "A→W1 @30, attempt 2"]);
}

#[test]
fn the_first_quarantine_of_a_row_is_the_short_one_whoever_allows_how_many() {
    let rules = [("b", json!({"quarantine_after": 4, "max_attempts": 2})), ("c", json!({"quarantine_after": 1}))];
    let outcome = tell(&json!({
        "farm": farm(plain(), &["W1"], &rules),
        "events": [
            submit(0, "A", "b", 1), submit(0, "B", "c", 2), idle(0, &["W1"]), finish(10, "W1", "exception"),
            finish(20, "W1", "exception"), finish(30, "W1", "exception"), finish(50, "W1", "exception"),
        ],
        "until": 1_000,
    }));
    // The third exception in a row is the first that means a quarantine.
    let attempts = ["A→W1 @0", "A→W1 @10, attempt 2", "B→W1 @20", "B→W1 @40, attempt 2", "B→W1 @70, attempt 3"];
    assert_eq!(outcome.starts(), attempts);
}

#[test]
fn the_narrower_place_wins() {
    let mut farm =
        farm(json!({"overflow_after": 10}), &["W1", "W2"], &[("c", json!({"overflow_after": 30})), ("d", plain())]);
    farm["pools"][0]["overflow_after"] = json!(20);
    let story = |builder: &str| {
        tell(&json!({
            "farm": farm, "allocations": {"c": ["W1"], "d": ["W1"]},
            "events": [submit(0, "J", builder, 5), idle(0, &["W2"])], "until": 100,
        }))
    };
    assert_eq!(story("c").starts(), ["J→W2 @30"]);
    assert_eq!(story("d").starts(), ["J→W2 @20"]);
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_place() {
    let refused = |options: Value| {
        play(&json!({"farm": farm(options, &["W1"], &[("b", plain())]), "events": [], "until": 0})).unwrap_err()
    };
    for (options, message) in [
        (
            json!({"fair_share_by": "project", "ageing_seconds_per_priority": 60}),
            "farm.fair_share_by: together with ageing_seconds_per_priority it gives no order",
        ),
        (json!({"fair_share_by": "branch"}), "farm.fair_share_by: \"branch\" is not a key of fair share (project)"),
        (
            json!({"inhouse_wait": 60}),
            "farm.inhouse_wait: jobs of \"^b$\" wait for the first preferred class, but nothing says `prefer`",
        ),
        (json!({"prefer": []}), "farm.prefer: names no class"),
        (json!({"prefer": ["spot", "spot"]}), "farm.prefer: spot is listed a second time"),
        (json!({"lease": 0}), "farm.lease: from 1 to 86400 seconds, not 0"),
        (json!({"max_attempts": 0}), "farm.max_attempts: at least 1"),
        (json!({"reserve": -1}), "farm.reserve: a whole number from 0"),
        (json!({"warmth": "hot"}), "farm.warmth: \"hot\" is not a kind of warmth (recent_success or none)"),
        (
            json!({"on_empty_set": "drop"}),
            "farm.on_empty_set: \"drop\" is not a way to treat an empty set (hold or pool)",
        ),
        (json!({"overflow_after": -1}), "farm.overflow_after: a number of seconds from 0 up, not -1"),
    ] {
        let error = refused(options.clone());
        assert!(error.contains(message), "{options}: {error}");
    }
}
