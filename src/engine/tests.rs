//! The engine's promises, held against a journal that fails at a random append.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::{Arc, Mutex};

use anyhow::bail;
use futures_util::future::join_all;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::*;
use crate::domain::Timestamp;
use crate::ports::Record;

/// A machine whose every event depends on all before it, so that none can go missing unseen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Ledger {
    entries: Vec<u64>,
    sum: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entered {
    amount: u64,
    sum: u64,
}

impl Machine for Ledger {
    type Command = Vec<u64>;
    type Event = Entered;
    type Refusal = String;
    type Volatile = ();
    type Reply = ();

    fn volatile(&self, _: Timestamp) {}

    /// As many events as there are amounts; a zero refuses all of them.
    fn carry_out(&mut self, (): &mut (), _: Timestamp, amounts: Vec<u64>) -> Result<(Vec<Entered>, ()), String> {
        if amounts.contains(&0) {
            return Err("nothing to enter".into());
        }
        let entered = amounts.into_iter().map(|amount| {
            let entered = Entered { amount, sum: self.sum + amount };
            self.apply(&entered);
            entered
        });
        Ok((entered.collect(), ()))
    }

    fn apply(&mut self, event: &Entered) {
        self.entries.push(event.amount);
        self.sum += event.amount;
        assert_eq!(self.sum, event.sum, "an event was left out, or came twice");
    }
}

/// How an append fails: nothing is known about its records then.
#[derive(Debug, Clone, Copy)]
enum Failure {
    BeforeAnythingIsKept,
    AfterAllIsKept,
}

#[derive(Clone, Default)]
struct Disk {
    records: Arc<Mutex<Vec<Record>>>,
    /// Also counts appends after the failure, of which there must be none.
    appends: Arc<Mutex<u64>>,
}

struct FailingJournal {
    disk: Disk,
    fails_at: u64,
    failure: Failure,
}

impl Journal for FailingJournal {
    fn append(&mut self, records: &[Record]) -> Result<(), Fault> {
        let mut appends = self.disk.appends.lock().unwrap();
        *appends += 1;
        let fails = *appends == self.fails_at;
        if !fails || matches!(self.failure, Failure::AfterAllIsKept) {
            self.disk.records.lock().unwrap().extend_from_slice(records);
        }
        if fails { bail!("the disk is gone") } else { Ok(()) }
    }

    fn replay(&mut self, after: u64, each: &mut dyn FnMut(Record) -> Result<(), Fault>) -> Result<(), Fault> {
        let records = self.disk.records.lock().unwrap().clone();
        records.into_iter().filter(|record| record.seq > after).try_for_each(each)
    }

    fn last_seq(&mut self) -> Result<u64, Fault> {
        Ok(self.disk.records.lock().unwrap().len() as u64)
    }

    fn tidier(&self) -> Result<Box<dyn FnMut() -> Result<(), Fault> + Send>, Fault> {
        Ok(Box::new(|| bail!("nothing is tidied here")))
    }
}

/// Every other snapshot fails, half written.
#[derive(Clone, Default)]
struct FailingSnapshots {
    kept: Arc<Mutex<BTreeMap<u64, Vec<u8>>>>,
    tries: u64,
}

impl Snapshots for FailingSnapshots {
    fn keep(&mut self, seq: u64, state: &mut dyn FnMut(&mut dyn Write) -> Result<(), Fault>) -> Result<(), Fault> {
        self.tries += 1;
        let mut bytes = Vec::new();
        state(&mut bytes)?;
        if self.tries.is_multiple_of(2) {
            bail!("the disk is full");
        }
        self.kept.lock().unwrap().insert(seq, bytes);
        Ok(())
    }

    fn list(&self) -> Result<Vec<u64>, Fault> {
        Ok(self.kept.lock().unwrap().keys().rev().copied().collect())
    }

    fn read(&self, seq: u64) -> Result<Vec<u8>, Fault> {
        Ok(self.kept.lock().unwrap()[&seq].clone())
    }
}

struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
}

#[derive(Clone, Default)]
struct Published {
    events: Arc<Mutex<Vec<Entered>>>,
    /// After so many events it panics.
    panics_after: Option<usize>,
}

impl Publish<Ledger> for Published {
    fn publish(&mut self, state: &Ledger, events: &[&Entered]) {
        let mut published = self.events.lock().unwrap();
        assert!(self.panics_after.is_none_or(|most| published.len() < most), "this publisher has had enough");
        published.extend(events.iter().map(|event| (*event).clone()));
        assert_eq!(state.entries.len(), published.len(), "the state has exactly what was published");
    }
}

type Answer = Result<Done<Ledger>, SubmitError<String>>;

/// Starts an engine on the disk, has it asked by several at once, and stops it.
fn run(
    journal: FailingJournal,
    snapshots: &FailingSnapshots,
    publisher: Published,
    commands: Vec<Vec<u64>>,
) -> (Vec<Answer>, Option<String>, Ledger, Result<(), Fault>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async move {
        let (engine, threads) = Engine::start(Parts {
            recovered: Recovered { state: Ledger::default(), seq: 0, snapshot: 0 },
            journal: Box::new(journal),
            snapshots: Box::new(snapshots.clone()),
            clock: Arc::new(NoClock),
            publisher,
            snapshot_every: 3,
        })
        .unwrap();
        let answers = join_all(commands.into_iter().map(|command| engine.submit(command))).await;
        let replica = engine.ask(Ledger::clone).await.unwrap();
        let stats = engine.stats().clone();
        drop(engine);
        let stopped = threads.stop();
        (answers, stats.read_only(), replica, stopped)
    })
}

/// What a start would find.
fn recovered(disk: &Disk, snapshots: &FailingSnapshots) -> Ledger {
    let mut journal = FailingJournal { disk: disk.clone(), fails_at: 0, failure: Failure::BeforeAnythingIsKept };
    let all = recover::<Ledger>(&mut journal, &FailingSnapshots::default()).unwrap().state;
    assert_eq!(recover::<Ledger>(&mut journal, snapshots).unwrap().state, all, "a snapshot changes nothing");
    all
}

fn accepted(answers: &[Answer]) -> BTreeSet<u64> {
    answers.iter().flatten().flat_map(|done| done.events.iter().map(|event| event.sum)).collect()
}

proptest! {
    #[test]
    fn what_was_acknowledged_is_in_the_journal_and_what_was_published_was_appended(
        commands in prop::collection::vec(prop::collection::vec(0u64..20, 0..4), 1..60),
        fails_at in 1u64..40,
        failure in prop_oneof![Just(Failure::BeforeAnythingIsKept), Just(Failure::AfterAllIsKept)],
    ) {
        let (disk, snapshots, published) = (Disk::default(), FailingSnapshots::default(), Published::default());
        let journal = FailingJournal { disk: disk.clone(), fails_at, failure };
        let (answers, read_only, replica, stopped) = run(journal, &snapshots, published.clone(), commands);
        stopped.unwrap();

        let records = disk.records.lock().unwrap().clone();
        prop_assert!(records.iter().map(|record| record.seq).eq(1..=records.len() as u64));
        let journalled: Vec<Entered> = records.iter().map(|record| decode(record).unwrap()).collect();
        let published = published.events.lock().unwrap().clone();
        prop_assert!(journalled.starts_with(&published), "published, but not appended");
        prop_assert_eq!(accepted(&answers), published.iter().map(|event| event.sum).collect::<BTreeSet<_>>());
        prop_assert_eq!(&replica.entries, &published.iter().map(|event| event.amount).collect::<Vec<_>>());
        let failed = answers.iter().any(|answer| matches!(answer, Err(SubmitError::ReadOnly { .. })));
        prop_assert_eq!(read_only.as_deref(), failed.then_some("the disk is gone"));
        prop_assert!(*disk.appends.lock().unwrap() <= fails_at, "appended to after a failure");
        let entries: Vec<_> = journalled.iter().map(|event| event.amount).collect();
        prop_assert_eq!(recovered(&disk, &snapshots).entries, entries);
    }
}

#[test]
fn a_writer_that_panics_says_that_writes_have_stopped() {
    let (disk, snapshots) = (Disk::default(), FailingSnapshots::default());
    let journal = FailingJournal { disk: disk.clone(), fails_at: u64::MAX, failure: Failure::BeforeAnythingIsKept };
    let published = Published { panics_after: Some(0), ..Published::default() };
    let (answers, read_only, _, stopped) = run(journal, &snapshots, published, vec![vec![1]]);
    assert!(matches!(answers[0], Err(SubmitError::ReadOnly { .. })), "{answers:?}");
    assert!(read_only.unwrap().contains("panicked"));
    assert!(stopped.unwrap_err().to_string().contains("the journal holds all that was acknowledged"));
    assert_eq!(recovered(&disk, &snapshots).entries, [1], "it had been appended");
}
