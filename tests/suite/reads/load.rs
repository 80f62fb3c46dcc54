//! What is refused when there is too much to do: reads that do work, and never a plain one.

use serde_json::json;

use super::boxes::{Boxes, FARM};
use super::events::Events;

const PLAIN: [&str; 6] =
    ["/v1/builders", "/v1/builders/b1", "/v1/machines", "/v1/machines/box1", "/v1/allocated/all", "/v1/allocations"];

#[test]
fn plain_reads_have_no_rate_limit() {
    let boxes = Boxes::with(FARM, |start| start.env("JACUZZI__LIMITS__READS_PER_SECOND", "1"));
    boxes.write("PUT", "/v1/builders/b1", &json!({"machines": ["box1"]}));
    let mut connection = boxes.server.connect();
    let mut status = |target: &str| {
        let response = connection.request("GET", target, &["Host: localhost"]);
        assert_eq!(response.header("retry-after").is_some(), response.status == 429, "{target}: {response:?}");
        response.status
    };
    let refused = (0..20).map(|_| status("/v1/allocations?since=0")).filter(|status| *status == 429).count();
    assert!(refused > 0, "twenty deltas in a row, at one a second");
    for _ in 0..50 {
        PLAIN.iter().for_each(|target| assert_eq!(status(target), 200, "{target}"));
    }
}

#[test]
fn streams_have_a_limit_and_leave_room_for_reads() {
    let boxes = Boxes::with(FARM, |start| start.env("JACUZZI__LIMITS__STREAMS", "2"));
    boxes.write("PUT", "/v1/builders/b1", &json!({"machines": ["box1"]}));
    let streams = [0, 1].map(|_| Events::open(&boxes.server, "/v1/allocations/events", &["Last-Event-ID: 0"]));
    for target in ["/v1/allocations/events", "/v1/allocations?since=1&wait=5"] {
        let response = boxes.server.get(target);
        assert_eq!((response.status, &response.json()["code"]), (503, &json!("too_many_streams")), "{target}");
        assert!(response.header("retry-after").is_some(), "{target}");
    }
    // Neither of these waits.
    for target in ["/v1/allocations?since=0&wait=5", "/v1/allocations?since=1"].iter().chain(&PLAIN) {
        assert_eq!(boxes.server.get(target).status, 200, "{target}");
    }
    // A stream that its reader closed is noticed when there is more to write to it, and makes room.
    drop(streams);
    let made_room = (0..50).any(|at| {
        let generation = boxes.write("PUT", "/v1/builders/b2", &json!({"machines": [format!("box{}", at % 10)]}));
        boxes.server.get(&format!("/v1/allocations?since={generation}&wait=0.1")).status == 204
    });
    assert!(made_room, "the places of closed streams are never given back");
}
