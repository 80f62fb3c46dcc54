//! 64 writers at once, each on the generation that it read: no update is lost, and each that was acknowledged is one generation.

use std::thread;

use serde_json::json;

use super::desk::bearer;
use crate::suite::reads::boxes::{Boxes, FARM};

const WRITERS: usize = 64;
const INCREMENTS: usize = 4;

/// What a builder's list spells: the bits of a number, with one box that is always there.
fn number(machines: &serde_json::Value) -> usize {
    let bit = |machine: &serde_json::Value| machine.as_str().unwrap()[3..].parse::<u32>().unwrap();
    machines.as_array().into_iter().flatten().map(bit).filter(|bit| *bit < 9).map(|bit| 1 << bit).sum()
}

fn spelled(number: usize) -> Vec<String> {
    (0..10).filter(|bit| *bit == 9 || number >> bit & 1 == 1).map(|bit| format!("box{bit}")).collect()
}

/// Adds one to the shared number again and again; gives the generations that were acknowledged.
fn increment(boxes: &Boxes, writer: usize) -> (Vec<u64>, usize) {
    let mut connection = boxes.server.connect();
    let token = bearer(&boxes.token);
    let (mut acknowledged, mut lost) = (Vec::new(), 0);
    while acknowledged.len() < INCREMENTS {
        let read = connection.request("GET", "/v1/builders/counter", &["Host: localhost"]);
        let machines = if read.status == 404 { json!([]) } else { read.json()["machines"].take() };
        // Without an allocation, the tag is the blob's.
        let tag = match read.header("etag") {
            Some(tag) => tag.to_owned(),
            None => {
                connection.request("HEAD", "/v1/allocations", &["Host: localhost"]).header("etag").unwrap().to_owned()
            }
        };
        if read.status == 404 && !tag.ends_with("-0\"") {
            continue;
        }
        let body =
            json!({"machines": spelled(number(&machines) + 1), "reason": format!("writer {writer}")}).to_string();
        let head = format!(
            "PUT /v1/builders/counter HTTP/1.1\r\nHost: localhost\r\n{token}\r\nIf-Match: {tag}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        connection.send(head.as_bytes());
        let response = connection.receive("PUT");
        match response.status {
            200 => acknowledged.push(response.json()["generation"].as_u64().unwrap()),
            412 => lost += 1,
            _ => panic!("{response:?}"),
        }
    }
    (acknowledged, lost)
}

#[test]
fn no_update_is_lost() {
    let boxes = Boxes::with(FARM, |start| start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "1000000"));
    let made: Vec<_> = thread::scope(|scope| {
        let boxes = &boxes;
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || increment(boxes, writer))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let lost: usize = made.iter().map(|(_, lost)| lost).sum();
    assert!(lost > WRITERS, "they were in each other's way: {lost} times");
    let mut generations: Vec<u64> = made.into_iter().flat_map(|(acknowledged, _)| acknowledged).collect();
    generations.sort_unstable();
    let expected = (WRITERS * INCREMENTS) as u64;
    assert_eq!(generations, (1..=expected).collect::<Vec<_>>(), "one generation for each, and no others");
    let counter = boxes.read("/v1/builders/counter");
    assert_eq!(number(&counter["machines"]), WRITERS * INCREMENTS);
    assert_eq!(boxes.read("/v1/allocations")["generation"], json!(expected));
}
