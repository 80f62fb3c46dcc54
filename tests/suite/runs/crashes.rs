//! Wherever between journal and history a crash comes, each run is recorded once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jacuzzi::adapters::clock::SystemClock;
use jacuzzi::adapters::data_folder::{DataFolder, journal_path, runs_path};
use jacuzzi::adapters::runs::SqliteRuns;
use jacuzzi::adapters::sqlite::SqliteRecords;
use jacuzzi::daemons::RunRecorder;
use jacuzzi::domain::Timestamp;
use jacuzzi::domain::dispatcher::Event;
use jacuzzi::engine::Stats;
use jacuzzi::ports::{Fault, Journal, PastRun, RunFilter, RunPage, Runs, Window};

use super::journal::{append, now, runs};
use super::list::rows;

/// A history whose process dies at its call number `dies_at`, before or after the call has had its effect.
struct Dying {
    history: SqliteRuns,
    calls: AtomicU64,
    dies_at: u64,
    after_effect: bool,
}

impl Dying {
    fn call<T>(&self, effect: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        let dies = self.calls.fetch_add(1, Ordering::Relaxed) >= self.dies_at;
        if dies && !self.after_effect {
            anyhow::bail!("dead before");
        }
        let done = effect()?;
        if dies { anyhow::bail!("dead after") } else { Ok(done) }
    }
}

impl Runs for Dying {
    fn recorded(&self) -> Result<u64, Fault> {
        self.call(|| self.history.recorded())
    }

    fn append(&self, runs: &[PastRun], after: u64, to: u64) -> Result<(), Fault> {
        self.call(|| self.history.append(runs, after, to))
    }

    fn clear(&self) -> Result<(), Fault> {
        self.call(|| self.history.clear())
    }

    fn newest(&self, filter: &RunFilter, before: Option<u64>, limit: usize) -> Result<RunPage, Fault> {
        self.history.newest(filter, before, limit)
    }

    fn oldest(&self, ended: Window, after: Option<&PastRun>, limit: usize) -> Result<Vec<PastRun>, Fault> {
        self.history.oldest(ended, after, limit)
    }

    fn prune(&self, before: Timestamp, limit: usize) -> Result<usize, Fault> {
        self.call(|| self.history.prune(before, limit))
    }
}

/// A recorder as a process would have it that finds this folder.
fn recorder(folder: &Path, runs: impl Runs + 'static, last_seq: u64) -> RunRecorder {
    let stats = Stats::default();
    stats.last_seq.store(last_seq, Ordering::Release);
    RunRecorder {
        records: Arc::new(SqliteRecords::new(journal_path(folder))),
        runs: Arc::new(runs),
        stats: Arc::new(stats),
        clock: Arc::new(SystemClock),
        keep: Duration::from_secs(86_400),
    }
}

/// What a history passes over.
fn others(count: usize) -> Vec<Event> {
    vec![Event::Remembered { successes: Vec::new() }; count]
}

#[test]
fn a_crash_at_any_step_loses_no_run_and_repeats_none() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::open(folder.path()).unwrap();
    let mut journal = data.journal().unwrap();
    let history = || SqliteRuns::new(runs_path(folder.path()), "an epoch".to_owned());
    let (now, mut total) = (now(), 0);
    for dies_at in 0..8 {
        for after_effect in [false, true] {
            // More than one piece of the journal, so that it dies between them too.
            append(&mut journal, [runs(50, now), others(10_000), runs(50, now)].concat());
            total += 10_100;
            let dying = Dying { history: history(), calls: AtomicU64::new(0), dies_at, after_effect };
            let recorder = recorder(folder.path(), dying, total);
            let mut done = recorder.step();
            while let Ok(true) = done {
                done = recorder.step();
            }
        }
    }
    let last = recorder(folder.path(), history(), total);
    while last.step().unwrap() {}
    assert_eq!(journal.last_seq().unwrap(), total);
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let rows = history().oldest(Window::default(), after.as_ref(), 50_000).unwrap();
        let Some(end) = rows.last().cloned() else { break };
        seen.extend(rows.iter().map(|row| row.seq));
        after = Some(end);
    }
    seen.sort_unstable();
    let expected: Vec<_> = (1..=total).filter(|seq| !(51..=10_050).contains(&((seq - 1) % 10_100 + 1))).collect();
    assert_eq!(seen, expected);
}

#[test]
fn rows_that_do_not_follow_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let history = SqliteRuns::new(runs_path(folder.path()), "an epoch".to_owned());
    history.append(&[], 0, 5).unwrap();
    for (after, to) in [(0, 5), (4, 7), (6, 7)] {
        let refused = history.append(&[], after, to).unwrap_err().to_string();
        assert!(refused.contains("reaches to record 5"), "{refused}");
    }
    history.append(&[], 5, 7).unwrap();
    // The last row is there already, so that none of them counts.
    history.append(&rows(8..=9), 7, 9).unwrap();
    assert!(history.append(&[rows(10..=11), rows(9..=9)].concat(), 9, 11).is_err());
    assert_eq!(history.recorded().unwrap(), 9);
    assert_eq!(history.oldest(Window::default(), None, 10).unwrap(), rows(8..=9));
}
