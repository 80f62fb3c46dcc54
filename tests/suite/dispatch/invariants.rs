//! The two invariants of DESIGN.md, checked on what really started, whatever the oracle would have chosen.

use serde_json::Value;

use super::law::Call;
use super::oracle::play_by;
use super::outcome::{Assignment, Outcome};
use super::world::Moment;

/// Plays the scenario by the law, and holds against it what really started: the
/// law's outcome, and every promise that was broken up to the first difference.
pub fn check(scenario: &Value, real: &[Assignment]) -> (Outcome, Vec<String>) {
    let mut broken = Vec::new();
    let mut ahead = real;
    let law = play_by(scenario, |moment| {
        let now = ahead.iter().take_while(|start| start.at == moment.at).count();
        let (made, later) = ahead.split_at(now);
        ahead = later;
        let starts = moment.decide();
        if broken.is_empty() {
            broken = faults(moment, made);
        }
        starts
    });
    broken.extend(ahead.first().map(|start| format!("{start} is a start when nothing happened")));
    (law, broken)
}

fn faults(moment: &Moment<'_>, made: &[Assignment]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut starts = vec![None; moment.waiting.len()];
    for start in made {
        let job = moment.waiting.iter().position(|waiting| waiting.job.id == start.job);
        let worker = moment.idle.iter().position(|idle| *idle == start.worker);
        match (job, worker) {
            (Some(job), Some(worker)) if !moment.waiting[job].wishes.contains(&worker) => {
                faults.push(format!("{start}: it may not use it"));
            }
            (Some(job), Some(worker)) if starts[job].is_none() && !starts.contains(&Some(worker)) => {
                starts[job] = Some(worker);
            }
            _ => faults.push(format!("{start}: the job does not wait, or the worker is not idle")),
        }
    }
    for (job, waiting) in moment.waiting.iter().enumerate().filter(|(job, _)| starts[*job].is_none()) {
        for &worker in &waiting.wishes {
            let what = match starts.iter().position(|start| *start == Some(worker)) {
                None if is_kept_by_greater(moment, &starts, job, worker) => continue,
                None => "stays idle",
                Some(other) if other > job => "goes to a lesser job",
                Some(_) => continue,
            };
            faults.push(format!("{} waits @{} while {} {what}", waiting.job.id, moment.at, moment.idle[worker]));
        }
    }
    faults
}

/// Whether all the claims that the worker's call may have went to more important jobs.
fn is_kept_by_greater(moment: &Moment<'_>, starts: &[Option<usize>], job: usize, worker: usize) -> bool {
    let greater = |call: &Call| starts[..job].iter().flatten().filter(|start| call.workers.contains(start)).count();
    moment.calls.iter().any(|call| call.workers.contains(&worker) && greater(call) >= call.max)
}

#[test]
fn a_broken_promise_is_seen() {
    use super::story::{claim, farm, idle, submit};
    use serde_json::json;

    let scenario = json!({
        "farm": farm(&["W1", "W2"]),
        "allocations": {"b": ["W2"]},
        "events": [
            submit(0, "A", "a", 1), submit(0, "B", "b", 3), submit(0, "C", "a", 2), idle(10, &["W1"]),
            idle(20, &["W2"]),
        ],
        "until": 30,
    });
    let judged = |scenario: &Value, starts: &[(i64, &str, &str)]| {
        let start = |&(at, job, worker): &(i64, &str, &str)| Assignment {
            at: at * 1_000_000,
            job: job.into(),
            worker: worker.into(),
            attempt: 1,
        };
        check(scenario, &starts.iter().map(start).collect::<Vec<_>>()).1.join("; ")
    };
    assert_eq!(judged(&scenario, &[(10, "A", "W1"), (20, "B", "W2")]), "");
    let broken = [
        (vec![(10, "C", "W1"), (20, "B", "W2")], "A waits @10000000 while W1 goes to a lesser job"),
        (vec![(10, "A", "W1")], "B waits @20000000 while W2 stays idle"),
        (vec![(10, "A", "W1"), (20, "C", "W2")], "C→W2 @20: it may not use it"),
        (vec![(10, "A", "W2"), (20, "B", "W2")], "A→W2 @10: the job does not wait, or the worker is not idle"),
        (vec![(10, "A", "W1"), (10, "C", "W1"), (20, "B", "W2")], "C→W1 @10: the job does not wait"),
        (vec![(10, "A", "W1"), (20, "B", "W2"), (20, "A", "W2")], "A→W2 @20: the job does not wait"),
        (vec![(10, "A", "W1"), (15, "B", "W2")], "B→W2 @15 is a start when nothing happened"),
    ];
    for (starts, fault) in broken {
        let judged = judged(&scenario, &starts);
        assert!(judged.contains(fault), "{judged:?} of {starts:?}, not {fault:?}");
    }
    let mut in_a_call = scenario;
    in_a_call["events"][3] = claim(10, &["W1", "W2"], json!({"max": 1}));
    in_a_call["until"] = json!(15);
    assert_eq!(judged(&in_a_call, &[(10, "A", "W1")]), "", "B and C wait, for the call has but one claim");
    let broken = judged(&in_a_call, &[(10, "B", "W2")]);
    assert_eq!(broken, "A waits @10000000 while W1 stays idle; C waits @10000000 while W1 stays idle");
}
