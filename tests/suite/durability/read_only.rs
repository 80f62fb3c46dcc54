//! A disk that fails under load: writes stop and say so, reads go on, and nothing acknowledged is lost.

use std::time::Duration;

use serde_json::json;

use super::ledger::Ledger;
use super::load::{Client, FARM, Heard, Said, Writers, serve};
use super::verify;
use crate::suite::dice::Dice;
use crate::suite::faults::{Fault, Kind, SmallDisk};
use crate::suite::server::{Home, Server};
use crate::suite::wire::Connection;

/// Never by itself: these tests take none, or are about one that fails.
const NO_SNAPSHOT: u32 = 1_000_000;

#[test]
fn a_failing_sync_stops_writes_only() {
    let fault = Fault::new(Kind::Sync, "journal.sqlite");
    let home = Home::new(FARM);
    let server = serve(&home, NO_SNAPSHOT).envs(fault.env()).start();
    breaks_under_load(&home, server, || fault.arm(), || fault.disarm());
}

#[test]
fn a_write_that_finds_no_space_stops_writes_only() {
    let fault = Fault::new(Kind::Space, "journal.sqlite");
    let home = Home::new(FARM);
    let server = serve(&home, NO_SNAPSHOT).envs(fault.env()).start();
    breaks_under_load(&home, server, || fault.arm(), || fault.disarm());
}

#[test]
fn a_full_disk_stops_writes_only() {
    let Some(disk) = SmallDisk::mount(16) else { return };
    let home = Home::with_data_dir(FARM, &disk.path().join("data"));
    let server = serve(&home, NO_SNAPSHOT).start();
    breaks_under_load(&home, server, || disk.fill(), || disk.drain());
}

#[test]
fn a_disk_too_full_for_a_snapshot_stops_nothing() {
    let fault = Fault::new(Kind::Space, "snapshots/");
    let (home, mut ledger) = (Home::new(FARM), Ledger::default());
    let server = serve(&home, 5).envs(fault.env()).start();
    let client = Client::new(&home, &server);
    fault.arm();
    ledger.note(client.write_generations("full", 40));
    ledger.check(&home, &server);
    assert_eq!(server.get("/readyz?for=writes").status, 200);
    assert!(server.stop().success());
    let log = home.log();
    assert!(log.contains("WARN") && log.contains("taking a snapshot at record"), "{log}");
    assert!(log.contains("No space left on device"), "{log}");
    assert!(!log.contains("took a snapshot"), "{log}");

    fault.disarm();
    let server = serve(&home, 5).envs(fault.env()).start();
    ledger.check(&home, &server);
    assert!(server.stop().success());
    assert!(home.log().contains("took a snapshot"));
}

fn breaks_under_load(home: &Home, server: Server, break_disk: impl FnOnce(), mend_disk: impl FnOnce()) {
    let mut ledger = Ledger::default();
    let mut stream = open_stream(&server);
    let writers = Writers::start(home, &server, "before", &mut Dice::seeded(3));
    writers.wait(30, Duration::ZERO);
    break_disk();
    let said = writers.join();
    let made = said.iter().filter_map(Said::generation).count() as u64;
    for said in said.iter().filter(|said| !said.is_made() && !said.is_refused_lawfully()) {
        assert_refused(&said.heard);
    }
    ledger.note(said);
    ledger.check(home, &server);
    assert_eq!(ledger.generation(), made, "what was refused is not to be seen");

    later_writes_are_refused(home, &server);
    reads_go_on(&server, made);
    let events = (1..=made).map(|_| next_event(&mut stream));
    assert!(events.eq(1..=made), "a stream has had every generation");
    assert!(stream.stays_open(Duration::from_millis(200)), "and is still open");

    assert!(server.stop().success());
    mend_disk();
    let server = serve(home, NO_SNAPSHOT).start();
    ledger.check(home, &server);
    assert!(server.get("/metrics").text().contains("\njacuzzi_read_only 0\n"));
    assert_eq!(server.get("/readyz?for=writes").status, 200);
    ledger.note(Client::new(home, &server).write_generations("after", 20));
    ledger.check(home, &server);
    verify(home);
}

fn assert_refused(heard: &Heard) {
    let Heard::Refused { status: 503, retry_after: Some(seconds), media_type, body } = heard else {
        panic!("not a 503 with Retry-After: {heard:?}")
    };
    assert!(seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0), "Retry-After: {seconds}");
    assert_eq!(media_type, "application/problem+json");
    assert_eq!((&body["status"], &body["code"]), (&json!(503), &json!("read_only")));
    let detail = body["detail"].as_str().unwrap();
    assert!(detail.contains("restart") && detail.contains("reads go on"), "{detail}");
}

fn later_writes_are_refused(home: &Home, server: &Server) {
    let client = Client::new(home, server);
    let machines = br#"{"machines":["w-01"]}"#.as_slice();
    for (method, target, body) in [
        ("PATCH", "/v1/allocations", br#"{"unset":[]}"#.as_slice()),
        ("PUT", "/v1/allocations", br#"{"builders":{}}"#),
        ("PUT", "/v1/builders/build%200%2F0", machines),
        ("PUT", "/v1/builders?name=build%200/0", machines),
        ("POST", "/v1/allocations/rollback", br#"{"generation":0}"#),
        ("POST", "/v1/allocations/import", br#"{"set":{"build 0/0":["w-01"]},"unset":[]}"#),
        ("DELETE", "/v1/builders/build%200%2F0", b""),
        ("PUT", "/v1/workers/loan", br#"{"pool":"linux"}"#),
        ("DELETE", "/v1/workers/loan-0-0", b""),
        ("POST", "/v1/workers/w-01/drain", b"{}"),
        ("POST", "/v1/workers/w-01/quarantine", b""),
        ("POST", "/v1/workers/w-01/release", b""),
        ("POST", "/v1/tokens", br#"{"name":"late","role":"master"}"#),
        ("DELETE", "/v1/tokens/token-0", b""),
    ] {
        let heard = client.write(method, target, body);
        assert!(matches!(heard, Heard::Refused { .. }), "{method} {target}: {heard:?}");
        assert_refused(&heard);
    }
    let Heard::Made(_) = client.write("PATCH", "/v1/allocations?dry_run=true", br#"{"unset":[]}"#) else {
        panic!("what writes nothing is answered")
    };
}

fn reads_go_on(server: &Server, generation: u64) {
    let blob = server.get("/v1/allocations");
    assert_eq!(blob.status, 200);
    assert_eq!(blob.header("x-jacuzzi-generation"), Some(generation.to_string().as_str()));
    let (builder, machines) =
        blob.json()["builders"].as_object().unwrap().iter().next().map(|(b, m)| (b.clone(), m.clone())).unwrap();
    assert_eq!(server.get(&format!("/v1/builders?name={builder}").replace(' ', "%20")).json()["machines"], machines);
    for path in [
        "/v1/builders",
        "/v1/machines",
        "/v1/allocated/all",
        "/v1/allocations/history",
        "/v1/workers",
        "/readyz",
        "/livez",
    ] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    let delta = server.get(&format!("/v1/allocations?since={}", generation - 1)).json();
    assert_eq!(delta["generation"], generation);
    let poll = server.get(&format!("/v1/allocations?since={generation}&wait=0.3"));
    assert_eq!(poll.status, 204, "{poll:?}");
    let mut late = server.connect();
    late.send(
        format!("GET /v1/allocations/events?since={} HTTP/1.1\r\nHost: localhost\r\n\r\n", generation - 1).as_bytes(),
    );
    assert_eq!(late.receive_head().0, 200);
    assert_eq!(next_event(&mut late), generation);

    let not_ready = server.get("/readyz?for=writes");
    assert_eq!((not_ready.status, &not_ready.json()["code"]), (503, &json!("read_only")));
    assert!(not_ready.header("retry-after").is_some());
    let metrics = server.get("/metrics");
    assert!(metrics.text().contains("\njacuzzi_read_only 1\n"), "{}", metrics.text());
}

fn open_stream(server: &Server) -> Connection {
    let mut stream = server.connect();
    stream.send(b"GET /v1/allocations/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(stream.receive_head().0, 200);
    stream
}

/// The generation of the next event; the lines that only say that the stream lives are passed over.
fn next_event(stream: &mut Connection) -> u64 {
    loop {
        let chunk = String::from_utf8(stream.chunk()).unwrap();
        match chunk.lines().find_map(|line| line.strip_prefix("id: ")) {
            Some(id) => return id.parse().unwrap(),
            None => assert_eq!(chunk, ":\n\n", "not an event"),
        }
    }
}
