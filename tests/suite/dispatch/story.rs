//! Scenarios written by hand, and the one way to tell them: the real dispatcher, the oracle and the table must agree.

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::{oracle, play};

/// Plays the scenario, and holds the oracle to the same outcome.
pub fn tell(scenario: &Value) -> Outcome {
    let real = Outcome::read(&play::play(scenario).unwrap());
    assert_eq!(real, oracle::play(scenario), "the dispatcher (left) and the oracle (right) differ on {scenario}");
    real
}

/// One pool of these workers, which takes any builder; a worker may be that of four.
pub fn farm(workers: &[&str]) -> Value {
    json!({
        "farm": {"name": "story"},
        "pools": [{"name": "pool", "workers": workers}],
        "builders": [{"match": "^", "pool": "pool"}],
        "allocations": {"max_builders_per_machine": 4},
    })
}

/// The same with so many seconds of waiting for one step of priority.
pub fn ageing(workers: &[&str], seconds: u64) -> Value {
    let mut farm = farm(workers);
    farm["farm"]["ageing_seconds_per_priority"] = json!(seconds);
    farm
}

pub fn submit(at: i64, id: &str, builder: &str, priority: i64) -> Value {
    json!({"at": at, "submit": {"id": id, "builder": builder, "priority": priority}})
}

pub fn idle(at: i64, workers: &[&str]) -> Value {
    json!({"at": at, "idle": workers})
}

/// A call for these workers, and what it says beyond them: `max`, `wait`.
pub fn claim(at: i64, workers: &[&str], mut call: Value) -> Value {
    call["workers"] = json!(workers);
    json!({"at": at, "claim": call})
}

pub fn finish(at: i64, worker: &str, result: &str) -> Value {
    json!({"at": at, "finish": {"worker": worker, "result": result}})
}
