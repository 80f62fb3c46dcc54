//! No bit of a journal can change unseen: a start refuses it or finds all that was there, or `journal verify` sees it.

use std::fs;

use jacuzzi::adapters::snapshot_files::SnapshotFiles;
use jacuzzi::adapters::sqlite::SqliteJournal;
use jacuzzi::domain::Farm;
use jacuzzi::engine::recover;
use serde_json::Value;
use tempfile::TempDir;

use super::damage::{journal, killed_after, with_sql};
use crate::suite::dice::{Dice, number_from};

/// What a start makes of a journal file, without a snapshot.
fn start_from(content: &[u8]) -> Result<Value, String> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("journal.sqlite");
    fs::write(&file, content).unwrap();
    let snapshots = SnapshotFiles::open(&folder.path().join("snapshots"), 1).unwrap();
    let mut journal = SqliteJournal::open(&file).map_err(|fault| format!("{fault:#}"))?;
    let recovered = recover::<Farm>(&mut journal, &snapshots).map_err(|fault| format!("{fault:#}"))?;
    Ok(serde_json::to_value(recovered.state).unwrap())
}

/// What `jacuzzi journal verify` asks SQLite, too. A start does not, for it
/// reads every page: so a start can miss that the root of the table is a wrong one.
fn is_seen_by_verify(content: &[u8]) -> bool {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("journal.sqlite");
    fs::write(&file, content).unwrap();
    !SqliteJournal::open_to_read(&file).unwrap().damage().unwrap().is_empty()
}

#[test]
fn a_flipped_bit_is_seen_or_means_nothing() {
    let flips = number_from("JACUZZI_FLIPS").unwrap_or(400);
    let (home, _) = killed_after(60);
    with_sql(&home, |_| ());
    let sound = fs::read(journal(&home)).unwrap();
    let state = start_from(&sound).unwrap();
    let mut dice = Dice::seeded(8);
    let (mut refused, mut later, mut unseen) = (0, 0, Vec::new());
    for _ in 0..flips {
        let (at, bit) = (dice.within(0..sound.len() as u64) as usize, dice.within(0..8));
        let mut content = sound.clone();
        content[at] ^= 1 << bit;
        match start_from(&content) {
            Ok(found) if found == state => {}
            Ok(_) if is_seen_by_verify(&content) => later += 1,
            Ok(_) => unseen.push((at, bit)),
            Err(_) => refused += 1,
        }
    }
    eprintln!("{flips} flips in {} bytes: {refused} refused, {later} found by verify only", sound.len());
    assert!(unseen.is_empty(), "another state, and no word of it: (byte, bit) {unseen:?}");
}
