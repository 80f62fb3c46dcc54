//! Writes the run history out of the journal, behind the writer's back, so that no claim ever waits for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::domain::Event;
use crate::domain::dispatcher::{self, JobId, JobSpec, Run, RunResult};
use crate::engine::{Stats, decode, kind};
use crate::ports::{Clock, Fault, PastRun, Record, Records, Runs};

/// The history may be so far behind.
const INTERVAL: Duration = Duration::from_millis(250);

/// After a fault, such as a full disk.
const RETRY: Duration = Duration::from_secs(1);

/// Records that are looked through at once, and rows of one transaction at most.
const CHUNK: u64 = 10_000;

/// Rows that are forgotten at once.
const PRUNED_AT_ONCE: usize = 10_000;

/// Keeps the history as far as the journal. What it has done is in the history
/// alone, so it goes on from there after every crash: no row is lost, none is there twice.
pub struct RunRecorder {
    pub records: Arc<dyn Records>,
    pub runs: Arc<dyn Runs>,
    pub stats: Arc<Stats>,
    pub clock: Arc<dyn Clock>,
    /// How long rows are kept.
    pub keep: Duration,
}

/// The recorder at work.
pub struct RunRecorderThread {
    /// Dropped to stop it.
    running: Sender<()>,
    thread: JoinHandle<()>,
}

impl RunRecorderThread {
    /// Lets it end. What little is new in the journal is recorded before; a longer rest, and a fault, are for the next start.
    pub fn stop(self) {
        drop(self.running);
        if self.thread.join().is_err() {
            tracing::error!("the recorder of runs panicked; its last words are on stderr");
        }
    }
}

impl RunRecorder {
    pub fn spawn(self) -> Result<RunRecorderThread, Fault> {
        let (running, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("recorder".into()).spawn(move || {
            let mut works = true;
            loop {
                let step = self.step();
                works = say_if_new(&step, works);
                let pause = match step {
                    Ok(true) => Duration::ZERO,
                    Ok(false) => INTERVAL,
                    Err(_) => RETRY,
                };
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    say_if_new(&self.step(), works);
                    return;
                }
            }
        })?;
        Ok(RunRecorderThread { running, thread })
    }

    /// Records the next piece of the journal, and forgets some of what is too old; answers whether there is more to record.
    pub fn step(&self) -> Result<bool, Fault> {
        let last = self.stats.last_seq.load(Ordering::Acquire);
        let mut recorded = self.runs.recorded()?;
        if recorded > last {
            tracing::warn!(
                "the run history tells of record {recorded}, but the journal ended at {last}; it is made anew"
            );
            self.runs.clear()?;
            recorded = self.runs.recorded()?;
        }
        let oldest = self.clock.now().before(self.keep);
        let to = last.min(recorded + CHUNK);
        if to > recorded {
            let mut rows = Vec::new();
            for record in self.records.wanted(recorded + 1..=to, usize::MAX, &ends_a_run)? {
                rows.extend(self.row(&record)?.filter(|row| row.ended_at >= oldest));
            }
            self.runs.append(&rows, recorded, to)?;
        }
        self.stats.runs_recorded.store(to, Ordering::Release);
        self.runs.prune(oldest, PRUNED_AT_ONCE)?;
        Ok(to < last)
    }

    fn row(&self, record: &Record) -> Result<Option<PastRun>, Fault> {
        let Event::Dispatcher(event) = decode(record)? else { return Ok(None) };
        match event {
            dispatcher::Event::RunEnded(run) => Ok(Some(past_run(record.seq, run))),
            dispatcher::Event::Cancelled { job, author, reason, time } => {
                let Some(spec) = self.submission(job, record.seq)? else {
                    tracing::warn!("job {job} was cancelled, but the journal does not reach back to its submission");
                    return Ok(None);
                };
                Ok(Some(PastRun {
                    seq: record.seq,
                    job,
                    claim: None,
                    builder: spec.builder.clone(),
                    worker: None,
                    branch: spec.branch.clone(),
                    project: spec.project.clone(),
                    push: spec.push.clone(),
                    attempt: 0,
                    submitted_at: spec.submitted_at,
                    started_at: None,
                    ended_at: time,
                    result: RunResult::Cancelled,
                    warm: false,
                    author,
                    reason,
                }))
            }
            dispatcher::Event::Submitted { .. }
            | dispatcher::Event::Claimed { .. }
            | dispatcher::Event::Remembered { .. }
            | dispatcher::Event::Quarantined { .. }
            | dispatcher::Event::Released { .. } => Ok(None),
        }
    }

    /// The job as it was submitted before this record. Jobs are numbered in
    /// the order of their submission, so halving the journal finds it.
    fn submission(&self, job: JobId, before: u64) -> Result<Option<Arc<JobSpec>>, Fault> {
        let (mut after, mut before) = (0, before);
        while after + 1 < before {
            let middle = after + (before - after) / 2;
            let next = self.records.wanted(middle..=before - 1, 1, &submits_jobs)?;
            let Some(record) = next.first() else {
                before = middle;
                continue;
            };
            let Event::Dispatcher(dispatcher::Event::Submitted { jobs, .. }) = decode(record)? else {
                return Ok(None);
            };
            match jobs.binary_search_by_key(&job, |submitted| submitted.id) {
                Ok(at) => return Ok(Some(jobs[at].job.clone())),
                Err(0) => before = middle,
                Err(_) => after = record.seq,
            }
        }
        Ok(None)
    }
}

/// Tells the log when it begins and when it ceases to fail, and no more; answers whether it works.
fn say_if_new(step: &Result<bool, Fault>, worked: bool) -> bool {
    match step {
        Ok(_) if !worked => tracing::info!("the run history is written again"),
        Err(fault) if worked => {
            tracing::warn!("the run history falls behind, and is tried again until it works: {fault:#}");
        }
        Ok(_) | Err(_) => {}
    }
    step.is_ok()
}

fn ends_a_run(body: &str) -> bool {
    matches!(kind(body), Some(("dispatcher", "run_ended" | "cancelled")))
}

fn submits_jobs(body: &str) -> bool {
    kind(body) == Some(("dispatcher", "submitted"))
}

fn past_run(seq: u64, run: Run) -> PastRun {
    PastRun {
        seq,
        job: run.job,
        claim: Some(run.claim),
        builder: run.builder,
        worker: Some(run.worker),
        branch: run.branch,
        project: run.project,
        push: run.push,
        attempt: run.attempt,
        submitted_at: run.submitted_at,
        started_at: Some(run.started_at),
        ended_at: run.ended_at,
        result: run.result,
        warm: run.warm,
        author: run.author,
        reason: run.reason,
    }
}
