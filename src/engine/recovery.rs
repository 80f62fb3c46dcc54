//! From what is on disk to a state: the newest sound snapshot, then every record behind it.

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::ports::{Fault, Journal, Record, Snapshots};

/// The version of record bodies that this program writes, and the newest it reads.
const RECORD_VERSION: u32 = 1;

/// A record's body.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body<E> {
    v: u32,
    event: E,
}

#[derive(Deserialize)]
struct VersionOnly {
    v: u32,
}

/// Where a start left off.
pub struct Recovered<M> {
    pub state: M,
    /// The last record that is in the state.
    pub seq: u64,
    /// The last record that is in the newest sound snapshot, 0 without one.
    pub snapshot: u64,
}

/// An event as a record's body.
pub(super) fn encode<E: Serialize>(event: &E) -> String {
    serde_json::to_string(&Body { v: RECORD_VERSION, event }).expect("events are plain data with text keys")
}

/// The event in a record; refuses a version or a kind of event that is newer than this program.
pub fn decode<E: for<'de> Deserialize<'de>>(record: &Record) -> Result<E, Fault> {
    let place = || format!("journal record {}", record.seq);
    let VersionOnly { v } = serde_json::from_str(&record.body).with_context(place)?;
    if v > RECORD_VERSION {
        anyhow::bail!(
            "{} has version {v}, this program reads up to {RECORD_VERSION}: start the newer jacuzzi that wrote it",
            place()
        );
    }
    let body: Body<E> = serde_json::from_str(&record.body)
        .with_context(|| format!("{} is not understood: if a newer jacuzzi wrote it, start that one", place()))?;
    Ok(body.event)
}

/// The part and the name of the event in a record's body, such as `("dispatcher", "run_ended")`, at the
/// cost of its first bytes alone. `None` for what [`decode`] would not understand either.
pub fn kind(body: &str) -> Option<(&str, &str)> {
    let version = body.strip_prefix("{\"v\":")?;
    let event = version.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(",\"event\":{\"")?;
    let (part, rest) = event.split_once('"')?;
    let (name, _) = rest.strip_prefix(":{\"")?.split_once('"')?;
    Some((part, name))
}

/// Rebuilds the state. A damaged snapshot is passed over with a warning; a
/// damaged journal is a fault, and so is one that lacks records which a sound
/// snapshot was taken after: going on would leave a gap in it for ever.
pub fn recover<M: Machine>(journal: &mut dyn Journal, snapshots: &dyn Snapshots) -> Result<Recovered<M>, Fault> {
    let (mut state, snapshot): (M, u64) = newest_snapshot(snapshots)?;
    let last = journal.last_seq()?;
    if last < snapshot {
        // A snapshot is taken of durable records only: they were lost, or this is another journal.
        anyhow::bail!(
            "the journal ends at record {last}, but a snapshot was taken after record {snapshot}: records {} to \
             {snapshot} are lost, or this is not the journal that the snapshot was made of. Nothing was changed; put the \
             right journal back, make a new data folder of a backup with `jacuzzi restore`, or delete the snapshots \
             behind record {last} to go on without what they know",
            last + 1
        );
    }
    let mut seq = snapshot;
    journal.replay(snapshot, &mut |record| {
        state.apply(&decode(&record)?);
        seq = record.seq;
        Ok(())
    })?;
    Ok(Recovered { state, seq, snapshot })
}

fn newest_snapshot<M: Machine>(snapshots: &dyn Snapshots) -> Result<(M, u64), Fault> {
    for seq in snapshots.list()? {
        let read = snapshots.read(seq).and_then(|state| Ok(serde_json::from_slice(&state)?));
        match read {
            Ok(state) => return Ok((state, seq)),
            Err(fault) => tracing::warn!("passing over the snapshot of record {seq}: {fault:#}"),
        }
    }
    Ok((M::default(), 0))
}
