//! Bodies of 100 MB: refused by their size, however they come, and without harm to anybody else.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::desk::{bearer, desk};
use crate::suite::reads::boxes::Boxes;

const HUNDRED_MB: usize = 100 << 20;
const PIECE: usize = 1 << 16;

/// How a body is sent.
#[derive(Debug, Clone, Copy)]
enum Sent {
    WithItsLength,
    InChunks,
}

/// Sends a body of this size for as long as the server takes it, and gives the status that came back.
fn send(boxes: &Boxes, sent: Sent, authorization: &str, size: usize) -> u16 {
    let mut stream = TcpStream::connect(boxes.server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let length = match sent {
        Sent::WithItsLength => format!("Content-Length: {size}"),
        Sent::InChunks => "Transfer-Encoding: chunked".to_owned(),
    };
    let head = format!("PUT /v1/allocations HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n{length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut writing = stream.try_clone().unwrap();
    let writer = thread::spawn(move || {
        let mut piece = b"{\"builders\":{\"".to_vec();
        piece.resize(PIECE, b'x');
        for _ in 0..size / PIECE {
            let written = match sent {
                Sent::WithItsLength => writing.write_all(&piece),
                Sent::InChunks => writing.write_all(&[format!("{PIECE:x}\r\n").as_bytes(), &piece, b"\r\n"].concat()),
            };
            // It need not listen to the end.
            if written.is_err() {
                return;
            }
        }
        if let Sent::InChunks = sent {
            drop(writing.write_all(b"0\r\n\r\n"));
        }
    });
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap_or_else(|error| panic!("{sent:?}: no answer to be seen: {error}"));
    // So that what is still being written comes to an end.
    drop(stream.shutdown(std::net::Shutdown::Both));
    writer.join().unwrap();
    std::str::from_utf8(&first[9..]).unwrap().parse().unwrap()
}

fn resident_kib(boxes: &Boxes) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", boxes.server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_hundred_megabytes_are_too_large() {
    let boxes = desk();
    let before = boxes.known();
    let operator = bearer(&boxes.token);
    for sent in [Sent::WithItsLength, Sent::InChunks] {
        let memory = resident_kib(&boxes);
        assert_eq!(send(&boxes, sent, &operator, HUNDRED_MB), 413, "{sent:?}");
        assert_eq!(send(&boxes, sent, "X-No: token", HUNDRED_MB), 401, "{sent:?}");
        assert!(resident_kib(&boxes) < memory + (100 << 10), "{memory} KiB to {} KiB", resident_kib(&boxes));
    }
    assert_eq!(send(&boxes, Sent::WithItsLength, &operator, 20 << 20), 413);
    assert_eq!(boxes.known(), before);
}

#[test]
fn reads_stay_quick_while_the_hugest_bodies_come() {
    let boxes = desk();
    let operator = bearer(&boxes.token);
    thread::scope(|scope| {
        let senders: Vec<_> =
            (0..4).map(|_| scope.spawn(|| send(&boxes, Sent::InChunks, &operator, HUNDRED_MB))).collect();
        let begun = Instant::now();
        let mut reads = 0;
        while !senders.iter().all(thread::ScopedJoinHandle::is_finished) && begun.elapsed() < Duration::from_secs(30) {
            let asked = Instant::now();
            assert_eq!(boxes.server.get("/v1/builders/Mac%20central").status, 200);
            assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
            reads += 1;
        }
        assert!(reads > 5, "{reads}");
        for sender in senders {
            assert_eq!(sender.join().unwrap(), 413);
        }
    });
}

#[test]
fn thousands_of_builders_on_one_machine_are_refused_in_proportion() {
    let boxes = desk();
    let set: serde_json::Map<_, _> = (0..5000).map(|at| (format!("Linux {at}"), json!(["lin09"]))).collect();
    let begun = Instant::now();
    let response = boxes.ask("PATCH", "/v1/allocations", &[], &json!({"set": set}).to_string());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(response.status, 422);
    // Each breaks two rules: too many builders, and isolation from all others, of which some are named.
    let problem = response.json();
    assert_eq!(problem["faults"].as_array().unwrap().len(), 10_000);
    assert!(response.body.len() < 3 << 20, "{} bytes", response.body.len());
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.ends_with("and 9900 more") && detail.len() < 100 << 10, "{} bytes", detail.len());
}

#[test]
fn a_body_that_breaks_off_changes_nothing() {
    let boxes = desk();
    let before = boxes.known();
    let whole = r#"{"set":{"Mac a":["mac1"]}}"#;
    for promised in [whole.len() + 1, 1 << 20] {
        let mut stream = TcpStream::connect(boxes.server.address()).unwrap();
        let head = format!(
            "PATCH /v1/allocations HTTP/1.1\r\nHost: localhost\r\n{}\r\nContent-Length: {promised}\r\n\r\n{whole}",
            bearer(&boxes.token)
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer));
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    assert_eq!(boxes.known(), before);
}
