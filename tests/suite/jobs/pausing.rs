//! Pools and builders of which nothing starts until an operator lets them go on.

use serde_json::json;

use super::floor::{claims, floor, id};
use crate::suite::reads::boxes::Boxes;
use crate::suite::writes::desk::assert_problem;

#[test]
fn nothing_of_a_paused_builder_or_pool_starts_until_it_is_resumed() {
    let floor = floor();
    let set = |path: &str, body: &str| {
        let response = floor.ask("POST", path, &[], body);
        assert_eq!(response.status, 200, "{path}: {response:?}");
        response.json()
    };
    let paused = set("/v1/builders/linux%20a/pause", r#"{"reason": "broken since 4 am"}"#);
    assert_eq!(paused["builder"], "linux a");
    assert_eq!(paused["paused"]["reason"], "broken since 4 am");
    set("/v1/pools/mac/pause", "");
    let (a, mac) = (floor.submit_one("linux a"), floor.submit_one("mac b"));
    let b = floor.submit_one("linux b");
    // The more important one is passed over, and so is the other pool.
    let started = floor.claim(&json!({"workers": ["w1", "w2", "m1"]}));
    assert_eq!(started.iter().map(|claim| id(&claim["job"])).collect::<Vec<_>>(), [b.as_str()]);

    let pools = floor.look("/v1/pools");
    assert_eq!(pools["pools"][0]["paused"], json!(null));
    assert!(pools["pools"][1]["paused"]["since"].is_number(), "{pools}");
    assert_eq!(pools["paused_builders"][0]["builder"], "linux a");

    assert_eq!(floor.ask("POST", "/v1/builders/resume?name=linux+a", &[], "").status, 404, "a plus sign is one");
    assert!(floor.claim(&json!({"workers": ["w3"]})).is_empty());
    assert_eq!(set("/v1/builders/resume?name=linux%20a", "")["paused"], json!(null));
    assert_eq!(id(&floor.claim_one("w3")["job"]), a);
    assert_eq!(set("/v1/pools/resume?name=mac", "")["paused"], json!(null));
    assert_eq!(id(&floor.claim_one("m2")["job"]), mac);
    let audit = floor.look("/v1/audit?limit=100").to_string();
    for line in [
        "builder.pause",
        "builder.resume",
        "pool.pause",
        "pool.resume",
        "builder linux a",
        "pool mac",
        "broken since 4 am",
    ] {
        assert!(audit.contains(line), "{line}: {audit}");
    }
}

#[test]
fn a_waiting_claim_is_answered_when_its_builder_is_resumed_and_pauses_outlive_a_restart() {
    let mut floor = floor();
    floor.ask("POST", "/v1/builders/linux%20a/pause", &[], "");
    let job = floor.submit_one("linux a");
    let Boxes { server, home, token } = floor;
    server.kill9();
    floor = Boxes { server: home.start(), home, token };
    let mut waiting = floor.open_claim(&json!({"workers": ["w1"], "wait": 30}));
    floor.wait_until_offered("w1");
    assert_eq!(floor.look("/v1/pools")["paused_builders"][0]["builder"], "linux a");
    floor.ask("POST", "/v1/builders/linux%20a/resume", &[], "");
    assert_eq!(id(&claims(&waiting.receive("POST"))[0]["job"]), job);
}

#[test]
fn what_is_not_there_cannot_be_paused() {
    let floor = floor();
    let refused = |path: &str, body: &str, status, code| {
        assert_problem(&floor.ask("POST", path, &[], body), status, code, path);
    };
    refused("/v1/pools/solaris/pause", "", 404, "nothing_to_pause");
    refused("/v1/builders/solaris/pause", "", 404, "nothing_to_pause");
    refused("/v1/builders/solaris/resume", "", 404, "nothing_to_pause");
    refused("/v1/pools/mac/stop", "", 405, "method_not_allowed");
    refused("/v1/pools/mac/pause", r#"{"why": 1}"#, 400, "malformed");
    let response = floor.ask("POST", "/v1/builders/solaris/pause", &[], "");
    assert!(response.json()["detail"].as_str().unwrap().contains("the closest are"), "{response:?}");
    assert_eq!(floor.ask("POST", "/v1/pools/mac/resume", &[], "").status, 200, "it goes on already");
}
