//! Claim calls that wait: woken by the job that comes, ended by time, by their client, or by the server's stop.

use std::time::{Duration, Instant};

use serde_json::json;

use super::floor::{claims, floor, floor_with, id, until};
use crate::suite::writes::desk::assert_problem;

/// Far less than any wait asked for here.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_poll_is_answered_by_the_submission_that_follows() {
    let floor = floor();
    for round in 0..20 {
        let mut poll = floor.open_claim(&json!({"workers": ["w1", "w2"], "wait": 60}));
        floor.wait_until_offered("w1");
        let begun = Instant::now();
        let job = &floor.submit(&json!({"builder": "linux a", "payload": round}))[0];
        let claims = claims(&poll.receive("POST"));
        assert!(begun.elapsed() < SOON);
        assert_eq!((claims.len(), id(&claims[0]["job"]), &claims[0]["job"]["payload"]), (1, id(job), &json!(round)));
        assert_eq!(floor.finished(&claims[0], "success"), "ended");
        assert!(!floor.is_offered("w1") && !floor.is_offered("w2"), "an answered call offers nothing");
    }
}

#[test]
fn a_poll_is_answered_by_whatever_makes_a_job_available() {
    let floor = floor();
    let job = floor.submit_one("linux a");
    let first = floor.claim_one("w1");
    // By a run that ends and goes back.
    let mut poll = floor.open_claim(&json!({"workers": ["w2"], "wait": 60}));
    floor.wait_until_offered("w2");
    assert_eq!(floor.finished(&first, "retry"), "waits");
    let second = claims(&poll.receive("POST"));
    assert_eq!(id(&second[0]["job"]), job);
    // By an operator who takes the worker back to work.
    assert_eq!(floor.ask("POST", "/v1/workers/w3/drain", &[], "").status, 200);
    let mut poll = floor.open_claim(&json!({"workers": ["w3"], "wait": 60}));
    floor.wait_until_offered("w3");
    let job = floor.submit_one("linux b");
    assert_eq!(floor.state(&job), "pending");
    assert_eq!(floor.ask("POST", "/v1/workers/w3/release", &[], "").status, 200);
    assert_eq!(id(&claims(&poll.receive("POST"))[0]["job"]), job);
    // By an allocation.
    floor.write("PUT", "/v1/builders/linux%20d", &json!({"machines": ["w4"]}));
    let mut poll = floor.open_claim(&json!({"workers": ["w5"], "wait": 60}));
    floor.wait_until_offered("w5");
    let job = floor.submit_one("linux d");
    assert_eq!(floor.state(&job), "pending");
    floor.write("PUT", "/v1/builders/linux%20d", &json!({"machines": ["w5"]}));
    assert_eq!(id(&claims(&poll.receive("POST"))[0]["job"]), job);
}

#[test]
fn a_poll_without_a_job_ends_when_its_time_is_over() {
    let floor = floor();
    floor.submit_one("mac a");
    for wait in [0.0, 0.2] {
        let begun = Instant::now();
        let answer = floor.ask("POST", "/v1/claims", &[], &json!({"workers": ["w1"], "wait": wait}).to_string());
        assert_eq!((answer.status, answer.body), (204, vec![]));
        assert!((Duration::from_secs_f64(wait)..SOON).contains(&begun.elapsed()), "{:?}", begun.elapsed());
        assert!(!floor.is_offered("w1"));
    }
}

#[test]
fn who_goes_away_offers_nothing_any_more() {
    let floor = floor();
    let poll = floor.open_claim(&json!({"workers": ["w1"], "wait": 60}));
    floor.wait_until_offered("w1");
    drop(poll);
    let begun = Instant::now();
    until("the withdrawal", || !floor.is_offered("w1"));
    assert!(begun.elapsed() < SOON);
    let job = floor.submit_one("linux a");
    assert_eq!(floor.state(&job), "pending");
    assert_eq!(id(&floor.claim_one("w2")["job"]), job);
}

#[test]
fn a_session_replaces_its_own_offer_and_no_other_session_does() {
    let floor = floor();
    let offer = |worker: &str, session: &str| json!({"workers": [worker], "session": session, "wait": 60});
    let first = floor.open_claim(&offer("w1", "m"));
    floor.wait_until_offered("w1");
    for wait in [0, 60] {
        let other = json!({"workers": ["w2", "w1"], "session": "n", "wait": wait}).to_string();
        let problem = floor.refused("POST", "/v1/claims", &other, (409, "offered_elsewhere"));
        assert!(problem["detail"].as_str().unwrap().contains("\"w1\""), "{problem}");
    }
    assert!(!floor.is_offered("w2"), "nothing of a refused call stays");
    // The second poll of the session has the worker now, so the end of the first one changes nothing.
    let mut second = floor.open_claim(&json!({"workers": ["w1", "w2"], "session": "m", "wait": 60}));
    floor.wait_until_offered("w2");
    drop(first);
    let job = floor.submit_one("linux a");
    let claim = claims(&second.receive("POST"))[0].clone();
    assert_eq!(id(&claim["job"]), job);

    // The session of a running claim keeps its worker.
    let worker = claim["worker"].as_str().unwrap();
    let other = json!({"workers": [worker], "session": "n"}).to_string();
    floor.refused("POST", "/v1/claims", &other, (409, "offered_elsewhere"));
    assert_eq!(floor.finished(&claim, "success"), "ended");
    assert!(floor.claim(&json!({"workers": [worker], "session": "n"})).is_empty());
}

#[test]
fn the_sessions_of_two_tokens_are_two() {
    let floor = floor();
    let master = floor.add_token("master");
    let _poll = floor.open_claim(&json!({"workers": ["w1"], "wait": 60}));
    floor.wait_until_offered("w1");
    let bearer = format!("Authorization: Bearer {master}");
    let claim = |body: &str| floor.server.request("POST", "/v1/claims", &[&bearer], body.as_bytes());
    assert_problem(&claim(r#"{"workers":["w1"]}"#), 409, "offered_elsewhere", "another token");
    assert_eq!(claim(r#"{"workers":["w1"],"session":"operator"}"#).status, 204, "a session is what is said");
}

#[test]
fn a_stop_answers_open_polls_at_once() {
    let floor = floor();
    let mut poll = floor.open_claim(&json!({"workers": ["w1"], "wait": 60}));
    floor.wait_until_offered("w1");
    let begun = Instant::now();
    floor.server.signal("TERM");
    assert_eq!(poll.receive("POST").status, 204);
    assert!(begun.elapsed() < SOON);
    assert!(floor.server.stop().success());
}

#[test]
fn only_so_many_polls_are_open_at_once() {
    let floor = floor_with(super::floor::FARM, |start| start.env("JACUZZI__LIMITS__STREAMS", "2"));
    let _open: Vec<_> = ["w1", "w2"].map(|worker| floor.open_claim(&json!({"workers": [worker], "wait": 60}))).into();
    floor.wait_until_offered("w1");
    floor.wait_until_offered("w2");
    floor.refused("POST", "/v1/claims", r#"{"workers":["w3"],"wait":1}"#, (503, "too_many_streams"));
    assert!(floor.claim(&json!({"workers": ["w3"]})).is_empty(), "who does not wait needs no place");
}
