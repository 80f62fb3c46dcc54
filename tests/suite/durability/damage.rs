//! Ways to damage a data folder, and to see that a start that refused it has left it as it was.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::ledger::Ledger;
use super::load::{Client, FARM, serve};
use crate::suite::server::Home;

/// Never by itself.
pub const NO_SNAPSHOT: u32 = 1_000_000;

/// A home where so many generations were made before the server was killed: all
/// of it is in the journal's write-ahead log, and there is no snapshot.
pub fn killed_after(generations: u64) -> (Home, Ledger) {
    let (home, mut ledger) = (Home::new(FARM), Ledger::default());
    let server = serve(&home, NO_SNAPSHOT).start();
    ledger.note(Client::new(&home, &server).write_generations("before", generations));
    ledger.check(&home, &server);
    server.kill9();
    (home, ledger)
}

pub fn journal(home: &Home) -> PathBuf {
    home.data_dir().join("journal.sqlite")
}

pub fn log_file(home: &Home) -> PathBuf {
    home.data_dir().join("journal.sqlite-wal")
}

/// The snapshots, oldest first.
pub fn snapshots(home: &Home) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.data_dir().join("snapshots")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Changes the journal as SQLite would, and leaves all of it in the one file.
pub fn with_sql(home: &Home, change: impl FnOnce(&Connection)) {
    let connection = Connection::open(journal(home)).unwrap();
    change(&connection);
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

/// Appends a record with a checksum that fits.
pub fn append(connection: &Connection, body: &str) {
    let last: u64 = connection.query_row("SELECT max(seq) FROM journal", [], |row| row.get(0)).unwrap();
    write_record(connection, last + 1, 1_700_000_000_000_000, body);
}

/// What version 1 of the journal's format keeps of a record.
pub fn write_record(connection: &Connection, seq: u64, unix_micros: i64, body: &str) {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&seq.to_le_bytes());
    sum.update(&unix_micros.to_le_bytes());
    sum.update(body.as_bytes());
    let sql = "INSERT INTO journal (seq, time, body, checksum) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![seq, unix_micros, body, sum.finalize()]).unwrap();
}

/// Changes one bit of a file, right where this text begins.
pub fn flip_a_bit(file: &Path, text: &str) {
    let mut content = fs::read(file).unwrap();
    let at = content.windows(text.len()).position(|window| window == text.as_bytes());
    content[at.unwrap_or_else(|| panic!("{text:?} is not in {}", file.display()))] ^= 1;
    fs::write(file, content).unwrap();
}

/// Takes so many bytes off a file's end.
pub fn cut_off(file: &Path, bytes: u64) {
    let file = OpenOptions::new().write(true).open(file).unwrap();
    file.set_len(file.metadata().unwrap().len() - bytes).unwrap();
}

/// Tries to start on a damaged folder. It must refuse with exit code 1 and all of
/// these words, and leave every file that holds anything as it is.
pub fn assert_refused(home: &Home, words: &[&str]) {
    let before = contents(home.data_dir());
    let refused = serve(home, NO_SNAPSHOT).try_start().err().expect("a damaged folder is not served");
    assert_eq!(refused.status.and_then(|status| status.code()), Some(1), "{refused:?}");
    let folder = home.data_dir().display().to_string();
    for word in words.iter().chain(&[folder.as_str()]) {
        assert!(refused.stderr.contains(word), "not a word of {word:?}: {}", refused.stderr);
    }
    assert!(contents(home.data_dir()) == before, "something was changed");
}

/// All files but the lock and SQLite's index of the log, which is made anew at each start.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else if !path.ends_with("lock") && !path.ends_with("journal.sqlite-shm") {
            let content = fs::read(&path).unwrap();
            // A log without a record says nothing, and may come and go.
            if !(content.is_empty() && path.ends_with("journal.sqlite-wal")) {
                found.insert(path, content);
            }
        }
    }
    found
}
