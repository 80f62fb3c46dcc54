//! Every way in which a few jobs can want a few workers, each as one decision.
//!
//! A graph is a bit for each job and worker. Each job has a builder of
//! its own, and the builder is allocated exactly the workers that its bits
//! name; one without any has a worker that is never idle. Smaller graphs are
//! among these: a job or a worker without an edge is as good as absent. Jobs
//! differ in priority and workers in name, so every order is there too.

use std::thread;

use serde_json::{Map, Value, json};

use super::invariants;
use super::outcome::Outcome;
use super::play::play;
use super::story::{claim, farm, idle, submit};

const WORKERS: [&str; 4] = ["W0", "W1", "W2", "W3"];
const AWAY: &str = "away";

/// As many jobs as workers; the offers make the workers idle.
fn scenario(graph: usize, workers: &[&str], offers: &[Value]) -> Value {
    let side = workers.len();
    let mut allocations = Map::new();
    let mut events = Vec::new();
    for job in 0..side {
        let wants = |worker: &usize| graph >> (job * side + worker) & 1 == 1;
        let mut set: Vec<&str> = (0..side).filter(wants).map(|worker| workers[worker]).collect();
        if set.is_empty() {
            set.push(AWAY);
        }
        allocations.insert(format!("b{job}"), json!(set));
        events.push(submit(0, &format!("J{job}"), &format!("b{job}"), job as i64));
    }
    events.extend_from_slice(offers);
    json!({"farm": farm(&[workers, &[AWAY]].concat()), "allocations": allocations, "events": events, "until": 0})
}

/// Every way to offer the workers in calls of their own or together, with every limit.
fn offers<'w>(workers: &[&'w str]) -> Vec<Vec<(Vec<&'w str>, usize)>> {
    let Some((first, rest)) = workers.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for others in offers(rest) {
        for (at, (call, max)) in others.iter().enumerate() {
            let larger = [call.as_slice(), &[*first]].concat();
            // A call that takes all it gets may do so or not with one worker more.
            let limits = *max..=if *max == call.len() { larger.len() } else { *max };
            for limit in limits {
                let mut calls = others.clone();
                calls[at] = (larger.clone(), limit);
                all.push(calls);
            }
        }
        all.push([others, vec![(vec![*first], 1)]].concat());
    }
    all
}

#[test]
fn every_graph_of_four_jobs_and_four_workers_follows_the_law() {
    try_graphs(&WORKERS, &[idle(0, &WORKERS)]);
}

#[test]
fn every_graph_of_three_jobs_and_three_workers_in_calls_follows_the_law() {
    let workers = &WORKERS[..3];
    let offers = offers(workers);
    assert_eq!(offers.len(), 1 + 3 * 2 + 3, "three calls, a pair and one with either limit, all together with any");
    for calls in offers {
        let calls: Vec<Value> = calls.iter().map(|(workers, max)| claim(0, workers, json!({"max": max}))).collect();
        try_graphs(workers, &calls);
    }
}

fn try_graphs(workers: &[&str], offers: &[Value]) {
    let graphs = 1 << (workers.len() * workers.len());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            let try_graph = |graph| try_one(&scenario(graph, workers, offers));
            scope.spawn(move || (thread..graphs).step_by(threads).for_each(try_graph));
        }
    });
}

fn try_one(scenario: &Value) {
    let real = Outcome::read(&play(scenario).unwrap());
    let (law, broken) = invariants::check(scenario, &real.assignments);
    assert_eq!(real, law, "the dispatcher (left) breaks the law (right): {broken:?} on {scenario}");
    assert!(broken.is_empty(), "{broken:?} on {scenario}");
    assert_eq!(real.decisions, 1);
}
