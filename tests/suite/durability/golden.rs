//! Journals of released versions are read for ever: each has a golden file of records, and the state that they lead to.
//!
//! A golden file is never changed. When the format of records is extended, a new
//! file is added, made with `jacuzzi journal export`.

use std::fs;
use std::path::{Path, PathBuf};

use jacuzzi::domain::{Event, Timestamp};
use jacuzzi::engine::decode;
use jacuzzi::ports::Record;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::damage::{NO_SNAPSHOT, journal, write_record};
use super::load::{Client, FARM, serve};
use super::{run_well, verify};
use crate::suite::server::Home;

/// A line of a golden file, which is one of `jacuzzi journal export`.
#[derive(Deserialize)]
struct Line {
    seq: u64,
    time: Timestamp,
    body: Box<RawValue>,
}

fn golden(file: &str) -> PathBuf {
    crate::suite::in_checkout("tests/data/golden").join(file)
}

fn lines(text: &str) -> Vec<Line> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The journal file of the first release, as it made it.
fn make_journal_v1(file: &Path, lines: &[Line]) {
    let connection = Connection::open(file).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection
        .execute_batch(
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
             CREATE TABLE journal (
                 seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL);
             INSERT INTO meta (key, value) VALUES ('epoch', 'b361dd90');
             PRAGMA application_id = 0x4A435A49;
             PRAGMA user_version = 1;",
        )
        .unwrap();
    for line in lines {
        write_record(&connection, line.seq, line.time.unix_micros(), line.body.get());
    }
}

#[test]
fn the_journal_of_version_1_leads_to_the_state_that_it_led_to() {
    let text = fs::read_to_string(golden("journal-v1.jsonl")).unwrap();
    let home = Home::new(FARM);
    fs::create_dir(home.data_dir()).unwrap();
    make_journal_v1(&journal(&home), &lines(&text));
    verify(&home);

    let server = serve(&home, NO_SNAPSHOT).start();
    let blob = server.get("/v1/allocations").json();
    let history = server.get("/v1/allocations/history").json();
    let expected: Value = serde_json::from_slice(&fs::read(golden("journal-v1.state.json")).unwrap()).unwrap();
    assert_eq!(json!({"allocations": blob, "history": history}), expected);

    // Old records stay as they are, and today's are written behind them.
    Client::new(&home, &server).write_generations("today", 2);
    let exported = String::from_utf8(run_well(&home, &["journal", "export"]).stdout).unwrap();
    assert!(exported.starts_with(&text), "{exported}");
    assert!(server.stop().success());
    verify(&home);
}

#[test]
fn nothing_in_a_record_of_version_1_is_passed_over() {
    for line in lines(&fs::read_to_string(golden("journal-v1.jsonl")).unwrap()) {
        let record = Record { seq: line.seq, time: line.time, body: line.body.get().to_owned(), beside: Vec::new() };
        let event: Event = decode(&record).unwrap();
        let body: Value = serde_json::from_str(&record.body).unwrap();
        assert_eq!(serde_json::to_value(event).unwrap(), body["event"], "record {}", line.seq);
    }
}
