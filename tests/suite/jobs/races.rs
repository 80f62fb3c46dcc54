//! Masters that claim at the same time: each job goes to one of them, and none is lost.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use super::floor::{claims, floor, id};

const ROUNDS: usize = 150;

#[test]
fn two_masters_race_for_two_jobs() {
    let floor = floor();
    let start = Barrier::new(2);
    for _ in 0..ROUNDS {
        let jobs = floor.submit(&json!([{"builder": "linux a"}, {"builder": "linux b"}]));
        let one = |worker: &str, session: &str| {
            start.wait();
            floor.claim(&json!({"workers": [worker], "session": session}))
        };
        let (first, second) = thread::scope(|scope| {
            let other = scope.spawn(|| one("w2", "n"));
            (one("w1", "m"), other.join().unwrap())
        });
        assert_eq!((first.len(), second.len()), (1, 1));
        let given: BTreeSet<_> = [&first[0], &second[0]].map(|claim| id(&claim["job"]).to_owned()).into();
        assert_eq!(given, jobs.iter().map(|job| id(job).to_owned()).collect());
        for claim in first.iter().chain(&second) {
            assert_eq!(floor.finished(claim, "success"), "ended");
        }
    }
}

#[test]
fn two_masters_race_for_one_job_and_the_other_gets_the_next() {
    let floor = floor();
    for _ in 0..ROUNDS {
        let offer = |worker: &str, session: &str| json!({"workers": [worker], "session": session, "wait": 60});
        let mut polls = [floor.open_claim(&offer("w1", "m")), floor.open_claim(&offer("w2", "n"))];
        let jobs = [floor.submit_one("linux a"), floor.submit_one("linux b")];
        let given: Vec<Value> = polls.iter_mut().flat_map(|poll| claims(&poll.receive("POST"))).collect();
        let got: BTreeSet<_> = given.iter().map(|claim| id(&claim["job"]).to_owned()).collect();
        assert_eq!((given.len(), got), (2, jobs.into()));
        for claim in &given {
            assert_eq!(floor.finished(claim, "success"), "ended");
        }
    }
}

#[test]
fn one_worker_offered_by_two_masters_runs_one_job() {
    let floor = floor();
    let start = Barrier::new(2);
    for _ in 0..ROUNDS {
        let job = floor.submit_one("linux a");
        let one = |session: &str| {
            start.wait();
            floor.ask("POST", "/v1/claims", &[], &json!({"workers": ["w1"], "session": session}).to_string())
        };
        let answers = thread::scope(|scope| {
            let other = scope.spawn(|| one("n"));
            [one("m"), other.join().unwrap()]
        });
        let mut statuses = answers.each_ref().map(|answer| answer.status);
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{answers:?}");
        let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
        let claim = claims(winner)[0].clone();
        assert_eq!(id(&claim["job"]), job);
        assert_eq!(floor.finished(&claim, "success"), "ended");
    }
}
