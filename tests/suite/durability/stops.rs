//! A graceful stop: streams end first, requests under way are answered, and the next start reads the snapshot it left.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::damage::{NO_SNAPSHOT, snapshots};
use super::ledger::Ledger;
use super::load::{Client, FARM, Writers, serve};
use crate::suite::dice::Dice;
use crate::suite::server::Home;

/// Generous for a debug build on a busy machine; the figure itself is printed.
const READY_AT_MOST: Duration = Duration::from_secs(5);

#[test]
fn a_stop_ends_streams_and_polls_first_and_leaves_a_snapshot() {
    let (home, mut ledger) = (Home::new(FARM), Ledger::default());
    let server = serve(&home, NO_SNAPSHOT).start();
    ledger.note(Client::new(&home, &server).write_generations("one", 5));
    let (mut stream, mut poll, mut slow) = (server.connect(), server.connect(), server.connect());
    stream.send(b"GET /v1/allocations/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(stream.receive_head().0, 200);
    poll.send(b"GET /v1/allocations?since=5&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // A write whose second half comes after the signal.
    let body = json!({"set": {"build 0/0": ["w-01"]}, "reason": "slow"}).to_string();
    let (early, late) = body.split_at(20);
    let head = format!(
        "PATCH /v1/allocations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        home.operator_token(),
        body.len()
    );
    slow.send(format!("{head}{early}").as_bytes());
    assert_eq!(server.get("/v1/allocations?since=5&wait=1").status, 204, "the three before it have arrived");

    server.signal("TERM");
    assert!(stream.chunk().is_empty(), "the stream ends as a whole response does");
    assert_eq!(poll.receive("GET").status, 204);
    slow.send(late.as_bytes());
    let answer = slow.receive("PATCH");
    assert_eq!((answer.status, &answer.json()["generation"]), (200, &json!(6)), "{answer:?}");
    let address = server.address();
    assert!(server.stop().success());
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    assert_eq!(snapshots(&home).len(), 1);

    let server = serve(&home, NO_SNAPSHOT).start();
    assert_eq!(server.get("/v1/allocations").json()["builders"]["build 0/0"], json!(["w-01"]));
    assert_eq!(server.get("/v1/allocations").json()["generation"], 6);
}

#[test]
fn a_stop_under_load_loses_nothing() {
    let (home, mut ledger, mut dice) = (Home::new(FARM), Ledger::default(), Dice::seeded(6));
    for life in ["one", "two", "three"] {
        let server = serve(&home, NO_SNAPSHOT).start();
        ledger.check(&home, &server);
        ledger.settle();
        let writers = Writers::start(&home, &server, life, &mut dice);
        writers.wait(40, Duration::ZERO);
        assert!(server.stop().success());
        ledger.note(writers.join());
        assert!(home.log().contains("took a snapshot"), "{}", home.log());
    }
    ledger.check(&home, &serve(&home, NO_SNAPSHOT).start());
}

/// Mozilla's 5,050 generations: from a snapshot, and by a replay of everything.
#[test]
fn a_start_with_all_of_mozillas_generations_is_quick() {
    let data = crate::suite::in_checkout("tests/data/mozilla-jacuzzis-2014-2016.jsonl");
    let home = Home::new(include_str!("../../../config/mozilla.toml"));
    assert!(home.serve().arg("--import").arg(data).start().stop().success());
    for from in ["a snapshot", "the journal alone"] {
        let begun = Instant::now();
        let server = home.start();
        let took = begun.elapsed();
        assert_eq!(server.get("/v1/allocations").json()["generation"], 5050);
        let said = home.log().lines().rev().find_map(ready_after).unwrap_or_default();
        eprintln!("start to ready from {from}: {took:.0?}, of which {said} by its own clock");
        assert!(took < READY_AT_MOST, "{took:?} from {from}");
        server.kill9();
        std::fs::remove_dir_all(home.data_dir().join("snapshots")).unwrap();
    }
}

fn ready_after(line: &str) -> Option<String> {
    Some(line.split_once("ready after ")?.1.split(';').next()?.to_owned())
}
