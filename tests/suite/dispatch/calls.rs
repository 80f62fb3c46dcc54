//! Claim calls by hand: several workers, a limit, a wait, and what one answer means for the others.

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::play::play;
use super::story::{claim, farm, finish, idle, submit, tell};

/// Workers W1 to W3; the builder `one` has W1, `two` has W2, `any` all of them.
fn three_workers(events: &[Value]) -> Outcome {
    let workers = ["W1", "W2", "W3"];
    let allocations = json!({"one": ["W1"], "two": ["W2"], "any": workers});
    tell(&json!({"farm": farm(&workers), "allocations": allocations, "events": events, "until": 1_000}))
}

#[test]
fn the_one_claim_of_two_workers_is_for_the_best_job() {
    let call = claim(10, &["W1", "W2"], json!({"max": 1}));
    let outcome = three_workers(&[submit(0, "A", "one", 2), submit(0, "B", "two", 1), call]);
    assert_eq!(outcome.starts(), ["B→W2 @10"]);
    assert_eq!(outcome.pending, ["A"]);
}

#[test]
fn a_job_leaves_a_limited_call_to_one_that_has_no_other() {
    let offers = [claim(10, &["W1", "W2"], json!({"max": 1})), idle(10, &["W3"])];
    let play = |jobs: &[Value]| three_workers(&[jobs, &offers].concat()).starts();
    assert_eq!(play(&[submit(0, "A", "any", 1)]), ["A→W1 @10"], "which it would rather have");
    assert_eq!(play(&[submit(0, "A", "any", 1), submit(0, "B", "two", 2)]), ["A→W3 @10", "B→W2 @10"]);
    let third = [submit(0, "A", "any", 1), submit(0, "B", "any", 2), submit(0, "C", "two", 3)];
    assert_eq!(play(&third), ["A→W1 @10", "B→W3 @10"], "there is no third claim");
}

#[test]
fn an_answered_call_offers_none_of_its_workers_any_more() {
    for more in [json!({}), json!({"max": 1}), json!({"wait": 500})] {
        let call = claim(0, &["W1", "W2"], more.clone());
        let late = submit(20, "B", "two", 1);
        let outcome = three_workers(&[call, submit(10, "A", "any", 1), late, finish(30, "W1", "success")]);
        assert_eq!(outcome.starts(), ["A→W1 @10"], "{more}");
        assert_eq!(outcome.pending, ["B"]);
        assert_eq!(outcome.decisions, 4, "its wait is no deadline any more");
    }
}

#[test]
fn a_call_is_answered_once_with_all_the_claims_of_one_decision() {
    let jobs = [submit(10, "A", "one", 1), submit(10, "B", "two", 2), submit(10, "C", "any", 3)];
    let answered = |max: usize| {
        let call = claim(0, &["W1", "W2", "W3"], json!({"max": max}));
        three_workers(&[&[call], &jobs[..]].concat()).starts()
    };
    assert_eq!(answered(1), ["A→W1 @10"]);
    assert_eq!(answered(2), ["A→W1 @10", "B→W2 @10"]);
    assert_eq!(answered(3), ["A→W1 @10", "B→W2 @10", "C→W3 @10"]);
    assert_eq!(answered(7), answered(3), "a limit beyond its workers is none");
}

#[test]
fn a_wait_ends_at_its_very_end() {
    let started = |at: i64| {
        let call = claim(0, &["W1", "W2"], json!({"wait": 30}));
        three_workers(&[call, submit(at, "A", "any", 1)])
    };
    assert_eq!(started(29).starts(), ["A→W1 @29"]);
    for at in [30, 31] {
        assert_eq!(started(at).pending, ["A"]);
    }
    assert_eq!([29, 30, 31].map(|at| started(at).decisions), [2, 2, 3]);
}

#[test]
fn a_call_that_does_not_wait_sees_one_decision() {
    let call = || claim(10, &["W1", "W2"], json!({"wait": 0}));
    assert_eq!(three_workers(&[call(), submit(10, "A", "any", 1)]).starts(), ["A→W1 @10"]);
    let outcome = three_workers(&[call(), submit(11, "A", "any", 1)]);
    assert_eq!((outcome.pending.as_slice(), outcome.decisions), (["A".to_owned()].as_slice(), 2));
}

#[test]
fn a_worker_offered_again_leaves_its_older_call_to_the_others() {
    let older = || claim(0, &["W1", "W2"], json!({"max": 1, "wait": 30}));
    let jobs = |at: i64| [submit(at, "A", "one", 1), submit(at, "B", "two", 2)];
    for again in [idle(5, &["W2"]), claim(5, &["W2", "W3"], json!({"max": 1}))] {
        let outcome = three_workers(&[&[older(), again.clone()], &jobs(10)[..]].concat());
        assert_eq!(outcome.starts(), ["A→W1 @10", "B→W2 @10"], "two calls, a claim each");
        let outcome = three_workers(&[&[older(), again], &jobs(40)[..]].concat());
        assert_eq!(outcome.starts(), ["B→W2 @40"], "the older call's wait is over, the newer one's is not");
    }
    let both = three_workers(&[&[older(), idle(5, &["W1", "W2"])], &jobs(40)[..]].concat());
    assert_eq!(both.decisions, 4, "a call without workers waits all the same");
}

#[test]
fn a_call_offers_a_worker_that_still_had_a_job() {
    let outcome = three_workers(&[
        idle(0, &["W1"]),
        submit(0, "A", "any", 1),
        claim(10, &["W1", "W2"], json!({"max": 1})),
        submit(20, "B", "two", 2),
    ]);
    assert_eq!(outcome.starts(), ["A→W1 @0", "A→W1 @10, attempt 2"]);
    assert_eq!(outcome.pending, ["B"]);
}

#[test]
fn a_worker_that_is_gone_leaves_the_others_in_the_call() {
    for gone in ["lost", "remove", "drain"] {
        let call = claim(0, &["W1", "W2", "W3"], json!({"max": 1}));
        let jobs = [submit(10, "A", "any", 1), submit(10, "B", "any", 2)];
        let outcome = three_workers(&[&[call, json!({"at": 5, gone: ["W1"]})], &jobs[..]].concat());
        assert_eq!(outcome.starts(), ["A→W2 @10"], "{gone}");
    }
}

#[test]
fn a_call_that_makes_no_sense_is_refused_as_a_whole() {
    let idle_before = claim(0, &["W1", "W2"], json!({}));
    let refused = [
        claim(5, &["W1", "nobody"], json!({"max": 1})),
        claim(5, &["W1", "W2", "W1"], json!({"max": 1})),
        claim(5, &["W1", "W2"], json!({"max": 0})),
        claim(5, &[], json!({"wait": 1})),
    ];
    for call in refused {
        let jobs = [submit(10, "A", "one", 1), submit(10, "B", "two", 2)];
        let outcome = three_workers(&[&[idle_before.clone(), call], &jobs[..]].concat());
        assert_eq!(outcome.starts(), ["A→W1 @10", "B→W2 @10"]);
    }
}

#[test]
fn what_is_wrong_with_a_call_is_told_with_its_place() {
    let told = |call: Value| {
        play(&json!({"farm": farm(&["W1"]), "events": [{"at": 0, "claim": call}], "until": 1})).unwrap_err()
    };
    let of = |call: Value| told(call).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        of(json!({"workers": ["W1", 2], "max": -1, "wait": -5, "session": "s"})),
        [
            "#/events/0/claim/workers/1: events[0].claim.workers[1]: a text in quotes, not 2",
            "#/events/0/claim/max: events[0].claim.max: a whole number from 0 up, not -1",
            "#/events/0/claim/wait: events[0].claim.wait: a number of seconds from 0 up, not -5",
            "#/events/0/claim/session: events[0].claim.session: there is no such key (known here: workers, max, wait)",
        ]
    );
    assert_eq!(of(json!(["W1"])), ["#/events/0/claim: events[0].claim: a table, not a list"]);
}
