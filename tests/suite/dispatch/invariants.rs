//! The two invariants of DESIGN.md, checked on what really started, whatever the oracle would have chosen.

use serde_json::Value;

use super::moment::Moment;
use super::oracle::play_by;
use super::outcome::{Assignment, Outcome};

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
    let turns = moment.turns(&starts);
    let before = |a: usize, b: usize| turns[a] < turns[b];
    for (job, waiting) in moment.waiting.iter().enumerate().filter(|(job, _)| starts[*job].is_none()) {
        let mut left: Vec<usize> = moment.calls.iter().map(|call| call.max).collect();
        let call_of = |worker: usize| moment.calls.iter().position(|call| call.workers.contains(&worker));
        let greater = starts.iter().enumerate().filter(|(other, _)| before(*other, job));
        for call in greater.filter_map(|(_, start)| call_of((*start)?)) {
            left[call] = left[call].saturating_sub(1);
        }
        let mut could_have = Vec::new();
        for &worker in &waiting.wishes {
            let what = match starts.iter().position(|start| *start == Some(worker)) {
                None => "stays idle",
                Some(other) if before(job, other) => "goes to a lesser job",
                Some(_) => continue,
            };
            let claims = call_of(worker).map(|call| &mut left[call]);
            if claims.is_none_or(|left| left.checked_sub(1).map(|less| *left = less).is_some()) {
                could_have.push((worker, what));
            }
        }
        // With fewer its like would have no reserve.
        if could_have.len() > moment.reserve(waiting.job) {
            faults.extend(could_have.into_iter().map(|(worker, what)| {
                format!("{} waits @{} while {} {what}", waiting.job.id, moment.at, moment.idle[worker])
            }));
        }
    }
    faults
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

#[test]
fn a_reserve_and_a_share_are_no_broken_promise() {
    use super::story::{farm, idle, submit};
    use serde_json::json;

    let start = |job: &str, worker: &str| Assignment { at: 0, job: job.into(), worker: worker.into(), attempt: 1 };
    let judged = |farm: Value, starts: &[Assignment]| {
        let of_project =
            |id: &str, project: &str| json!({"at": 0, "submit": {"id": id, "builder": "b", "project": project}});
        let jobs = [of_project("A", "one"), of_project("B", "one"), of_project("C", "two"), submit(0, "D", "d", 9)];
        let events = [&jobs[..], &[idle(0, &["W1", "W2"])]].concat();
        check(&json!({"farm": farm, "events": events, "until": 0}), starts).1.join("; ")
    };
    let mut reserved = farm(&["W1", "W2"]);
    reserved["builders"] = json!([{"match": "^b", "pool": "pool", "reserve": 1}, {"match": "^d", "pool": "pool"}]);
    assert_eq!(judged(reserved.clone(), &[start("A", "W1"), start("D", "W2")]), "");
    let broken = judged(reserved.clone(), &[start("D", "W2")]);
    assert!(broken.starts_with("A waits @0 while W1 stays idle; A waits @0 while W2 goes to a lesser job"), "{broken}");
    let idle = judged(reserved, &[start("A", "W1")]);
    assert_eq!(idle, "D waits @0 while W2 stays idle");

    let mut fair = farm(&["W1", "W2"]);
    assert_eq!(judged(fair.clone(), &[start("A", "W1"), start("C", "W2")]), "B waits @0 while W2 goes to a lesser job");
    fair["farm"]["fair_share_by"] = json!("project");
    assert_eq!(judged(fair.clone(), &[start("A", "W1"), start("C", "W2")]), "");
    assert_eq!(judged(fair, &[start("A", "W1"), start("B", "W2")]), "C waits @0 while W2 goes to a lesser job");
}
