//! What a start does with a data folder that is not as the last server left it.
//!
//! What is guaranteed of a torn log: it is whole transactions that are gone, from
//! the end, and the disk can only tear what was not yet synced and acknowledged.

use std::fs::{self, OpenOptions};
use std::io::Write;

use rusqlite::Connection;

use super::damage::{
    NO_SNAPSHOT, append, assert_refused, cut_off, flip_a_bit, journal, killed_after, log_file, snapshots, with_sql,
};
use super::ledger::Ledger;
use super::load::{Client, FARM, serve};
use super::{run, verify};
use crate::suite::server::Home;

/// Starts, and sees that the first so many generations are there, exactly, and that writing goes on behind them.
fn starts_with(home: &Home, ledger: &mut Ledger) {
    let server = serve(home, NO_SNAPSHOT).start();
    ledger.check(home, &server);
    ledger.note(Client::new(home, &server).write_generations("after", 3));
    ledger.check(home, &server);
    assert!(server.stop().success());
    verify(home);
}

#[test]
fn a_log_that_is_cut_short_loses_whole_transactions_from_its_end() {
    for (bytes, lost) in [(1, 1), (24 + 4096, 1)] {
        let (home, _) = killed_after(5);
        cut_off(&log_file(&home), bytes);
        let server = serve(&home, NO_SNAPSHOT).start();
        let blob = server.get("/v1/allocations").json();
        assert_eq!(blob["generation"], 5 - lost, "{bytes} bytes cut off");
        let before = server.get(&format!("/v1/allocations?since=0&until={}", 5 - lost)).json();
        assert_eq!(before["set"], blob["builders"], "what is left is whole");
        Client::new(&home, &server).write_generations("after", 3);
        assert_eq!(server.get("/v1/allocations").json()["generation"], 5 - lost + 3);
        assert!(server.stop().success());
        verify(&home);
    }
}

#[test]
fn garbage_behind_the_log_is_passed_over() {
    for garbage in [b"torn".to_vec(), b"torn page".repeat(1000), vec![0; 8192]] {
        let (home, mut ledger) = killed_after(5);
        OpenOptions::new().append(true).open(log_file(&home)).unwrap().write_all(&garbage).unwrap();
        starts_with(&home, &mut ledger);
    }
}

#[test]
fn a_damaged_record_is_named_and_nothing_is_changed() {
    let (home, _) = killed_after(5);
    with_sql(&home, |_| ());
    // The farm's definition is record 1.
    flip_a_bit(&journal(&home), "before-2");
    assert_refused(&home, &["journal.sqlite is damaged", "record 5 ", "checksum", "jacuzzi restore"]);
    let verdict = run(&home, &["journal", "verify"]);
    let words = String::from_utf8(verdict.stderr).unwrap();
    assert_eq!(verdict.status.code(), Some(1), "{words}");
    assert!(words.contains("record 5 does not fit its checksum"), "{words}");
}

#[test]
fn a_damaged_page_is_said_and_nothing_is_changed() {
    let (home, _) = killed_after(40);
    with_sql(&home, |_| ());
    let mut content = fs::read(journal(&home)).unwrap();
    for page in content.chunks_mut(4096).skip(1) {
        page[..8].fill(0xff);
    }
    fs::write(journal(&home), content).unwrap();
    assert_refused(&home, &["journal.sqlite is damaged", "jacuzzi restore"]);
}

#[test]
fn a_missing_record_is_named_and_nothing_is_changed() {
    let (home, _) = killed_after(5);
    with_sql(&home, |sql| assert_eq!(sql.execute("DELETE FROM journal WHERE seq = 3", []), Ok(1)));
    assert_refused(&home, &["journal.sqlite is damaged", "record 3 is missing", "jacuzzi restore"]);
}

#[test]
fn what_a_newer_program_wrote_is_left_to_it() {
    let newer = ["start the newer jacuzzi"];
    let (home, _) = killed_after(2);
    with_sql(&home, |sql| sql.pragma_update(None, "user_version", 99).unwrap());
    assert_refused(&home, &["journal.sqlite has journal format 99", "reads up to 1", newer[0]]);

    let (home, _) = killed_after(2);
    with_sql(&home, |sql| append(sql, r#"{"v":99,"event":{"allocator":{"lent":{}}}}"#));
    assert_refused(&home, &["journal.sqlite", "record 5 has version 99", "reads up to 1", newer[0]]);

    let (home, _) = killed_after(2);
    with_sql(&home, |sql| append(sql, r#"{"v":1,"event":{"soothsayer":{"submitted":{}}}}"#));
    assert_refused(&home, &["journal.sqlite", "record 5 is not understood", "`soothsayer`", "newer jacuzzi"]);

    // A field that this program would lose.
    let (home, _) = killed_after(2);
    let revoked = r#"{"v":1,"event":{"access":{"token_revoked":{"name":"x","author":"y","until":3}}}}"#;
    with_sql(&home, |sql| append(sql, revoked));
    assert_refused(&home, &["journal.sqlite", "record 5 is not understood", "`until`", "newer jacuzzi"]);
}

#[test]
fn a_file_that_is_no_journal_is_not_made_one() {
    let (home, _) = killed_after(1);
    fs::remove_file(log_file(&home)).unwrap();
    fs::write(journal(&home), "a diary, not a journal\n".repeat(500)).unwrap();
    assert_refused(&home, &["journal.sqlite", "not an SQLite database"]);

    fs::remove_file(journal(&home)).unwrap();
    Connection::open(journal(&home)).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    assert_refused(&home, &["journal.sqlite", "database of another program"]);
}

#[test]
fn a_second_server_on_the_folder_is_refused_and_the_first_goes_on() {
    let home = Home::new(FARM);
    let first = serve(&home, NO_SNAPSHOT).start();
    let second = serve(&home, NO_SNAPSHOT).try_start().err().expect("the folder is in use");
    assert_eq!(second.status.and_then(|status| status.code()), Some(1));
    let (folder, process) = (home.data_dir().display().to_string(), format!("process {}", first.pid()));
    for word in [folder.as_str(), &process, "in use", "--data-dir"] {
        assert!(second.stderr.contains(word), "not a word of {word:?}: {}", second.stderr);
    }
    Client::new(&home, &first).write_generations("first", 2);
    first.kill9();
    assert_eq!(serve(&home, NO_SNAPSHOT).start().get("/v1/allocations").json()["generation"], 2);
}

/// Two snapshots, from two graceful stops, the newest of everything.
fn stopped_twice() -> (Home, Ledger) {
    let (home, mut ledger) = (Home::new(FARM), Ledger::default());
    for life in ["first", "second"] {
        let server = serve(&home, NO_SNAPSHOT).start();
        ledger.note(Client::new(&home, &server).write_generations(life, 4));
        ledger.check(&home, &server);
        assert!(server.stop().success());
    }
    assert_eq!(snapshots(&home).len(), 2);
    (home, ledger)
}

#[test]
fn a_damaged_snapshot_is_passed_over() {
    let (home, mut ledger) = stopped_twice();
    let newest = snapshots(&home).pop().unwrap();
    cut_off(&newest, 3);
    starts_with(&home, &mut ledger);
    assert!(home.log().contains("passing over the snapshot of record 10"), "{}", home.log());

    let (home, mut ledger) = stopped_twice();
    for snapshot in snapshots(&home) {
        flip_a_bit(&snapshot, "first-1");
    }
    starts_with(&home, &mut ledger);
    for record in ["record 6", "record 10"] {
        assert!(home.log().contains(&format!("passing over the snapshot of {record}: ")), "{}", home.log());
    }
}

#[test]
fn without_snapshots_everything_is_replayed() {
    let (home, mut ledger) = stopped_twice();
    fs::remove_dir_all(home.data_dir().join("snapshots")).unwrap();
    starts_with(&home, &mut ledger);
}

#[test]
fn a_snapshot_that_was_cut_short_by_a_crash_is_no_snapshot() {
    let (home, mut ledger) = stopped_twice();
    fs::write(home.data_dir().join("snapshots/unfinished"), "{\"fleet\":").unwrap();
    starts_with(&home, &mut ledger);
    assert!(!home.log().contains("passing over"), "{}", home.log());
    assert!(!home.data_dir().join("snapshots/unfinished").exists(), "the next snapshot takes its place");
}

#[test]
fn a_journal_that_lacks_what_a_snapshot_has_is_refused() {
    let (home, _) = stopped_twice();
    with_sql(&home, |sql| assert_eq!(sql.execute("DELETE FROM journal WHERE seq > 8", []), Ok(2)));
    assert_refused(&home, &["journal ends at record 8", "after record 10", "records 9 to 10", "jacuzzi restore"]);
    // What the message offers.
    fs::remove_file(snapshots(&home).pop().unwrap()).unwrap();
    let server = serve(&home, NO_SNAPSHOT).start();
    assert_eq!(server.get("/v1/allocations").json()["generation"], 6);
    verify(&home);
}
