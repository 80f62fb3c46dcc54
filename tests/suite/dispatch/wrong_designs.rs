//! The dispatchers that were tried before and failed, each made again in a few lines: how it fails, and that ours does not.
//!
//! Each is a rule for one moment, played by the oracle's player.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::moment::Moment;
use super::oracle::play_by;
use super::story::{farm, finish, idle, submit, tell};

type Starts = Vec<Option<usize>>;

fn starts(scenario: &Value, design: impl FnMut(&Moment<'_>) -> Starts) -> Vec<String> {
    play_by(scenario, design).starts()
}

/// Gives each of these jobs, one after the other, the best worker that is still free.
fn one_by_one(moment: &Moment<'_>, jobs: impl IntoIterator<Item = usize>) -> Starts {
    let mut starts = vec![None; moment.waiting.len()];
    let mut taken = BTreeSet::new();
    for job in jobs {
        starts[job] = moment.waiting[job].wishes.iter().copied().find(|worker| taken.insert(*worker));
    }
    starts
}

fn three_jobs(allocations: Value) -> Value {
    json!({
        "farm": farm(&["W1", "W2", "W3"]),
        "allocations": allocations,
        "events": [
            submit(0, "A", "a", 1), submit(0, "B", "b", 2), submit(0, "C", "c", 3),
            submit(5, "D", "d", 4), idle(10, &["W1"]),
        ],
        "until": 100,
    })
}

#[test]
fn a_walk_along_the_list_races_with_the_workers() {
    let scenario = three_jobs(json!({}));
    // Something happens after every question: it asks for A and for B, W1 turns idle, it asks for C.
    let mut asked = 0;
    let walk = |moment: &Moment<'_>| {
        let job = asked % moment.waiting.len();
        asked += 1;
        one_by_one(moment, [job])
    };
    assert_eq!(starts(&scenario, walk), ["C→W1 @10"], "C jumps the queue");
    assert_eq!(tell(&scenario).starts(), ["A→W1 @10"]);
}

#[test]
fn the_top_of_each_set_is_blind_without_the_allocation() {
    let scenario = three_jobs(json!({"c": ["W1"]}));
    // All are of one pool, so it keeps A alone.
    let top_of_the_pool = |moment: &Moment<'_>| one_by_one(moment, 0..moment.waiting.len().min(1));
    assert_eq!(starts(&scenario, top_of_the_pool), [""; 0], "W1 never gets a job");
    assert_eq!(tell(&scenario).starts(), ["C→W1 @10"]);
}

#[test]
fn groups_of_equal_sets_in_any_order_let_the_lesser_job_go_first() {
    let scenario = json!({
        "farm": farm(&["W1", "W2"]),
        "allocations": {"a": ["W1", "W2"], "c": ["W1"]},
        "events": [submit(0, "A", "a", 1), submit(0, "C", "c", 3), idle(10, &["W1"])],
        "until": 100,
    });
    let shuffled = |moment: &Moment<'_>| {
        let mut top: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        for (job, waiting) in moment.waiting.iter().enumerate() {
            top.entry(moment.worker_set(waiting.job)).or_insert(job);
        }
        let mut groups: Vec<usize> = top.into_values().collect();
        // One of the orders that a shuffle makes: the least important first.
        groups.sort_by(|a, b| b.cmp(a));
        one_by_one(moment, groups)
    };
    assert_eq!(starts(&scenario, shuffled), ["C→W1 @10"], "while A waits");
    assert_eq!(tell(&scenario).starts(), ["A→W1 @10"]);
}

#[test]
fn as_many_builders_as_idle_workers_starve_the_next() {
    let scenario = json!({
        "farm": farm(&["X", "Y"]),
        "allocations": {"a1": ["Y"], "a2": ["Y"], "c": ["X"]},
        "events": [
            submit(0, "A1", "a1", 1), submit(0, "A2", "a2", 2), submit(0, "C", "c", 9),
            idle(10, &["X", "Y"]), submit(50, "A3", "a1", 1), finish(50, "Y", "success"),
        ],
        "until": 100,
    });
    let first_builders = |moment: &Moment<'_>| {
        let mut builders = BTreeSet::new();
        let heads = moment.waiting.iter().enumerate().filter(|(_, waiting)| builders.insert(&waiting.job.builder));
        let heads: Vec<usize> = heads.map(|(job, _)| job).take(moment.idle.len()).collect();
        one_by_one(moment, heads)
    };
    assert_eq!(starts(&scenario, first_builders), ["A1→Y @10", "A3→Y @50"], "C starves although X is idle");
    assert_eq!(tell(&scenario).starts(), ["A1→Y @10", "C→X @10", "A3→Y @50"]);
}

#[test]
fn one_start_a_pass_leaves_all_others_waiting() {
    let workers: Vec<String> = (1..=50).map(|number| format!("W{number:02}")).collect();
    let workers: Vec<&str> = workers.iter().map(String::as_str).collect();
    let mut events: Vec<Value> = (1..=50).map(|number| submit(0, &format!("J{number:02}"), "a", 5)).collect();
    events.push(idle(10, &workers));
    let scenario = json!({"farm": farm(&workers), "events": events, "until": 100});
    let one_start =
        |moment: &Moment<'_>| one_by_one(moment, moment.waiting.iter().position(|waiting| !waiting.wishes.is_empty()));
    assert_eq!(starts(&scenario, one_start), ["J01→W01 @10"], "49 wait");
    let all: Vec<String> = (1..=50).map(|number| format!("J{number:02}→W{number:02} @10")).collect();
    // Too many for the oracle, which has nothing to add here.
    assert_eq!(play_real(&scenario), all);
}

#[test]
fn priority_and_age_taken_apart_make_a_phantom() {
    let scenario = json!({
        "farm": farm(&["W1"]),
        "events": [
            submit(0, "A-old", "a", 9), submit(50, "B", "b", 1), submit(100, "A-new", "a", 1), idle(200, &["W1"]),
        ],
        "until": 1_000,
    });
    // A builder's place: the best priority of its jobs, and the age of its oldest.
    let phantom = |moment: &Moment<'_>| {
        let jobs = || moment.waiting.iter().map(|waiting| waiting.job);
        let place = |builder: &str| {
            let own = || jobs().filter(|job| job.builder == builder);
            (own().map(|job| job.priority).min(), own().map(|job| job.submitted_at).min())
        };
        let mut order: Vec<usize> = (0..moment.waiting.len()).collect();
        order.sort_by_key(|&job| place(&moment.waiting[job].job.builder));
        one_by_one(moment, order)
    };
    assert_eq!(starts(&scenario, phantom), ["A-new→W1 @200"], "before B, which is as important and older");
    assert_eq!(tell(&scenario).starts(), ["B→W1 @200"]);
}

/// The workers of C's builder go; later it is given another.
fn allocator_failure() -> Value {
    json!({
        "farm": farm(&["W1", "W2", "W3"]),
        "allocations": {"c": ["W1"]},
        "events": [
            {"at": 0, "remove": ["W1"]}, submit(5, "C", "c", 1), submit(5, "A", "a", 2), idle(10, &["W2"]),
            {"at": 20, "allocate": {"c": ["W3"]}}, idle(30, &["W3"]),
        ],
        "until": 100,
    })
}

#[test]
fn an_allocator_failure_that_drops_the_builder_never_runs_it() {
    let mut dropped = BTreeSet::new();
    let dropping = |moment: &Moment<'_>| {
        let empty = moment.waiting.iter().filter(|waiting| moment.worker_set(waiting.job).is_empty());
        dropped.extend(empty.map(|waiting| waiting.job.builder.clone()));
        let kept = |job: &usize| !dropped.contains(&moment.waiting[*job].job.builder);
        one_by_one(moment, (0..moment.waiting.len()).filter(kept))
    };
    assert_eq!(starts(&allocator_failure(), dropping), ["A→W2 @10"], "C is forgotten");
    assert_eq!(tell(&allocator_failure()).starts(), ["A→W2 @10", "C→W3 @30"]);
}

#[test]
fn an_allocator_failure_that_falls_open_uses_everybodys_workers() {
    let open = |moment: &Moment<'_>| {
        let mut starts = one_by_one(moment, 0..moment.waiting.len());
        let lost = moment.waiting.iter().position(|waiting| moment.worker_set(waiting.job).is_empty());
        if let (Some(lost), false) = (lost, moment.idle.is_empty()) {
            starts.fill(None);
            starts[lost] = Some(0);
        }
        starts
    };
    assert_eq!(starts(&allocator_failure(), open), ["C→W2 @10"], "C has no right to W2, and A waits");
    assert_eq!(tell(&allocator_failure()).starts(), ["A→W2 @10", "C→W3 @30"]);
}

fn play_real(scenario: &Value) -> Vec<String> {
    super::outcome::Outcome::read(&super::play::play(scenario).unwrap()).starts()
}
