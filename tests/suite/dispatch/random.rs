//! Random farms, each held against the oracle and the invariants.
//!
//! Half of them have options, each alone and each with each other in turn.
//! `JACUZZI_CASES=1000000 cargo nextest run --release random_farms` tries a
//! million, `tests/run law` a hundred thousand; without optimisation it is a
//! few. A case that fails says how to have it again, and the least of its
//! events that still fail.

use std::panic::catch_unwind;
use std::thread;

use serde_json::Value;

use super::outcome::{Assignment, Outcome};
use super::play::play;
use super::{invariants, oracle, random_farm};
use crate::suite::dice::number_from;

const CASES: u64 = 5_000;

/// Options by whose end a job may get no other worker than before: whether that
/// deadline is a decision all the same is a matter of taste.
const MAY_CHANGE_NOTHING: [&str; 2] = ["overflow_after", "inhouse_wait"];

#[test]
fn random_farms_follow_the_law() {
    let first = number_from("JACUZZI_SEED").unwrap_or(0);
    let last = first + number_from("JACUZZI_CASES").unwrap_or(CASES);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || (first..last).skip(thread).step_by(threads).for_each(try_case));
        }
    });
}

fn try_case(seed: u64) {
    let scenario = random_farm::scenario(seed);
    if judge(&scenario).is_err() {
        let smaller = shrink(scenario);
        let fault = judge(&smaller).unwrap_err();
        panic!("JACUZZI_SEED={seed} JACUZZI_CASES=1: {fault}\n{smaller}");
    }
}

fn judge(scenario: &Value) -> Result<(), String> {
    let real = catch_unwind(|| play(scenario).map(|outcome| Outcome::read(&outcome)));
    let real = real.map_err(|_| "it panics".to_owned())??;
    let (mut law, broken) = invariants::check(scenario, &real.assignments);
    if MAY_CHANGE_NOTHING.iter().any(|option| random_farm::without(option, scenario) != *scenario) {
        law.decisions = law.decisions.max(real.decisions);
    }
    if real == law && broken.is_empty() {
        return Ok(());
    }
    let show = |Outcome { assignments, pending, decisions }: &Outcome| {
        let starts: Vec<String> = assignments.iter().map(Assignment::to_string).collect();
        format!("{}; pending: {}; decisions: {decisions}", starts.join(", "), pending.join(", "))
    };
    Err(format!("\n real: {}\n law:  {}\n{}", show(&real), show(&law), broken.join("\n")))
}

/// Leaves out whatever can be left out so that it still fails.
fn shrink(mut scenario: Value) -> Value {
    for list in ["events", "history"] {
        let mut at = scenario[list].as_array().map_or(0, Vec::len);
        while at > 0 {
            at -= 1;
            let mut smaller = scenario.clone();
            smaller[list].as_array_mut().unwrap().remove(at);
            if judge(&smaller).is_err() {
                scenario = smaller;
            }
        }
    }
    for option in random_farm::OPTIONS {
        let smaller = random_farm::without(option, &scenario);
        if judge(&smaller).is_err() {
            scenario = smaller;
        }
    }
    scenario
}

/// Random farms prove something only if enough happens on them.
#[test]
fn random_farms_are_eventful() {
    let (mut contested, mut attempts, mut warm, mut quiet, mut capped) = (0, [0; 16], 0, 0, 0);
    for seed in 0..2_000 {
        let scenario = random_farm::scenario(seed);
        let outcome = oracle::play_by(&scenario, |moment| {
            let starts = moment.decide();
            let first_wishes = moment.waiting.iter().map(|waiting| waiting.wishes.first().copied());
            contested +=
                u32::from(starts.iter().zip(first_wishes).any(|(start, first)| start.is_some() && *start != first));
            capped += u32::from(starts != moment.decide_without_limits());
            warm += u32::from(moment.waiting.iter().any(|waiting| !waiting.wishes.is_sorted()));
            starts
        });
        outcome.assignments.iter().for_each(|start| attempts[start.attempt as usize] += 1);
        quiet += u32::from(outcome.assignments.len() < 2);
    }
    let seen = format!("{contested} contested, {warm} warm, attempts {attempts:?}, {quiet} quiet, {capped} capped");
    assert!(contested > 500 && warm > 500 && attempts[5] > 10 && quiet < 700 && capped > 250, "{seen}");
}

/// Without an option other jobs start, or elsewhere, or later.
#[test]
fn every_option_changes_random_farms() {
    let mut changed = random_farm::OPTIONS.map(|option| (option, 0));
    for scenario in (0..CASES).map(random_farm::scenario) {
        let with = oracle::play(&scenario);
        for (option, times) in &mut changed {
            let other = random_farm::without(option, &scenario);
            if other != scenario {
                *times += u32::from(with.assignments != oracle::play(&other).assignments);
            }
        }
    }
    assert!(changed.iter().all(|(_, times)| *times > 10), "{changed:?}");
}
