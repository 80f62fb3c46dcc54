//! Every way in which four jobs can want four workers, each as one decision.
//!
//! A graph is 16 bits, one for each job and worker. Each job has a builder of
//! its own, and the builder is allocated exactly the workers that its bits
//! name; one without any has a worker that is never idle. Smaller graphs are
//! among these: a job or a worker without an edge is as good as absent. Jobs
//! differ in priority and workers in name, so every order is there too.

use std::thread;

use serde_json::{Map, Value, json};

use super::invariants;
use super::outcome::Outcome;
use super::play::play;
use super::story::{farm, idle, submit};

const SIDE: usize = 4;
const WORKERS: [&str; SIDE] = ["W0", "W1", "W2", "W3"];
const AWAY: &str = "away";

fn scenario(graph: usize) -> Value {
    let mut allocations = Map::new();
    let mut events = Vec::new();
    for job in 0..SIDE {
        let wants = |worker: &usize| graph >> (job * SIDE + worker) & 1 == 1;
        let mut set: Vec<&str> = (0..SIDE).filter(wants).map(|worker| WORKERS[worker]).collect();
        if set.is_empty() {
            set.push(AWAY);
        }
        allocations.insert(format!("b{job}"), json!(set));
        events.push(submit(0, &format!("J{job}"), &format!("b{job}"), job as i64));
    }
    events.push(idle(0, &WORKERS));
    let mut farm = farm(&[&WORKERS[..], &[AWAY]].concat());
    farm["allocations"] = json!({"max_builders_per_machine": SIDE});
    json!({"farm": farm, "allocations": allocations, "events": events, "until": 0})
}

#[test]
fn every_graph_of_four_jobs_and_four_workers_follows_the_law() {
    let graphs = 1 << (SIDE * SIDE);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || (thread..graphs).step_by(threads).for_each(try_graph));
        }
    });
}

fn try_graph(graph: usize) {
    let scenario = scenario(graph);
    let real = Outcome::read(&play(&scenario).unwrap());
    let (law, broken) = invariants::check(&scenario, &real.assignments);
    assert_eq!(real, law, "the dispatcher (left) breaks the law (right): {broken:?} on {scenario}");
    assert!(broken.is_empty(), "{broken:?} on {scenario}");
    assert_eq!(real.decisions, 1);
}
