//! What ran where and when: the arrivals, played first come first served on the farm's own workers.
//!
//! This is not the dispatcher, and knows neither priority nor class: it makes a
//! past for a farm, and a yardstick that shares no code with what is measured.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::iter::Peekable;

use super::Workload;
use super::arrivals::{Arrival, End, RunResult};
use super::pushes::PushId;
use crate::domain::{BuilderName, Timestamp, WorkerName};

/// A warm run's time beside a cold one's.
const WARM_PERCENT: u64 = 60;

/// A worker is warm for a builder if its last success of it ended so many
/// seconds ago at most, and no push to the branch asked for a build from nothing since.
const WARM_FOR: i64 = 12 * 3_600;

/// A job that broke or is to be retried runs so many times at most.
const MAX_ATTEMPTS: u32 = 5;

/// One run of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRow {
    /// The number of its arrival, from 1.
    pub job: u64,
    /// The number of its start, from 1.
    pub claim: u64,
    pub builder: BuilderName,
    pub worker: WorkerName,
    pub branch: &'static str,
    pub project: &'static str,
    pub push: PushId,
    /// From 1.
    pub attempt: u32,
    pub submitted_at: Timestamp,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub result: RunResult,
    pub warm: bool,
}

/// Runs in the order in which they finish. Goes on until all jobs are done.
pub(super) struct History<'a, A: Iterator<Item = Arrival>> {
    arrivals: Peekable<A>,
    workers: Vec<Worker<'a>>,
    /// By builder: its workers.
    sets: Vec<Vec<usize>>,
    /// By builder: the jobs that wait, by their numbers.
    waiting: Vec<BTreeMap<u64, Job>>,
    last_claim: u64,
    /// When workers will have finished.
    running: BinaryHeap<Reverse<(i64, usize)>>,
}

struct Job {
    arrival: Arrival,
    attempt: u32,
}

struct Worker<'a> {
    name: &'a WorkerName,
    /// Its builders, each with its last success here.
    builders: Vec<(usize, Option<Success>)>,
    run: Option<Run>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Success {
    finished_at: i64,
    clobbers: u32,
}

struct Run {
    job: Job,
    claim: u64,
    started_at: i64,
    result: RunResult,
    warm: bool,
}

impl<'a, A: Iterator<Item = Arrival>> History<'a, A> {
    pub(super) fn new(workload: &'a Workload, arrivals: A) -> Self {
        let mut places = BTreeMap::new();
        let (mut workers, mut sets) = (Vec::new(), Vec::new());
        for (builder, profile) in workload.builders.list.iter().enumerate() {
            let mut set = Vec::new();
            for name in &workload.allocations[&profile.name] {
                let place = *places.entry(name).or_insert_with(|| {
                    workers.push(Worker { name, builders: Vec::new(), run: None });
                    workers.len() - 1
                });
                workers[place].builders.push((builder, None));
                set.push(place);
            }
            sets.push(set);
        }
        let waiting = sets.iter().map(|_| BTreeMap::new()).collect();
        Self { arrivals: arrivals.peekable(), workers, sets, waiting, last_claim: 0, running: BinaryHeap::new() }
    }

    /// Starts a job of this builder, if one waits and a worker is idle.
    fn offer(&mut self, builder: usize, now: i64) {
        let idle = self.sets[builder].iter().copied().filter(|worker| self.workers[*worker].run.is_none());
        // The warmest; of equals the first by name.
        let best = idle.rev().max_by_key(|worker| self.workers[*worker].last_success(builder));
        if let Some(worker) = best {
            self.start_next(worker, now);
        }
    }

    /// Gives an idle worker the oldest job that waits for it.
    fn start_next(&mut self, worker: usize, now: i64) {
        let heads = self.workers[worker].builders.iter();
        let heads = heads.filter_map(|(builder, _)| Some((*self.waiting[*builder].first_key_value()?.0, *builder)));
        let Some((number, builder)) = heads.min() else { return };
        let mut job = self.waiting[builder].remove(&number).expect("was just found");
        let worker_now = &mut self.workers[worker];
        let warm = worker_now
            .last_success(builder)
            .is_some_and(|success| success.clobbers == job.arrival.clobbers && now - success.finished_at <= WARM_FOR);
        let End { result, part } = job.arrival.next_end();
        let whole = if warm { (job.arrival.service * WARM_PERCENT + 50) / 100 } else { job.arrival.service };
        let seconds = ((whole as f64 * part).round() as i64).max(1);
        self.last_claim += 1;
        worker_now.run = Some(Run { job, claim: self.last_claim, started_at: now, result, warm });
        self.running.push(Reverse((now + seconds, worker)));
    }

    fn finish(&mut self, worker: usize, now: i64) -> HistoryRow {
        let run = self.workers[worker].run.take().expect("a worker that finishes has a run");
        let row = self.row(worker, &run, now);
        let Run { mut job, result, .. } = run;
        let builder = job.arrival.place;
        match result {
            RunResult::Success => {
                let success = Success { finished_at: now, clobbers: job.arrival.clobbers };
                self.workers[worker].succeeded(builder, success);
            }
            RunResult::Failure => {}
            RunResult::Exception | RunResult::Retry if job.attempt == MAX_ATTEMPTS => {}
            RunResult::Exception | RunResult::Retry => {
                job.attempt += 1;
                self.waiting[builder].insert(job.arrival.number, job);
            }
        }
        self.start_next(worker, now);
        // A job that runs again may have found an older one on this worker, and another worker idle.
        self.offer(builder, now);
        row
    }

    fn row(&self, worker: usize, run: &Run, now: i64) -> HistoryRow {
        let arrival = &run.job.arrival;
        HistoryRow {
            job: arrival.number,
            claim: run.claim,
            builder: arrival.builder.clone(),
            worker: self.workers[worker].name.clone(),
            branch: arrival.branch,
            project: arrival.project,
            push: arrival.push,
            attempt: run.job.attempt,
            submitted_at: arrival.submitted_at,
            started_at: Timestamp::from_unix_seconds(run.started_at),
            finished_at: Timestamp::from_unix_seconds(now),
            result: run.result,
            warm: run.warm,
        }
    }
}

impl Worker<'_> {
    fn last_success(&self, builder: usize) -> Option<Success> {
        self.builders.iter().find(|(other, _)| *other == builder)?.1
    }

    fn succeeded(&mut self, builder: usize, success: Success) {
        let entry = self.builders.iter_mut().find(|(other, _)| *other == builder);
        entry.expect("a worker runs its own builders only").1 = Some(success);
    }
}

impl<A: Iterator<Item = Arrival>> Iterator for History<'_, A> {
    type Item = HistoryRow;

    fn next(&mut self) -> Option<HistoryRow> {
        loop {
            let finish = self.running.peek().map(|Reverse((at, _))| *at);
            let next = self.arrivals.peek().map(|arrival| arrival.submitted_at.unix_micros() / 1_000_000);
            match (finish, next) {
                (Some(at), next) if next.is_none_or(|next| at <= next) => {
                    let Reverse((at, worker)) = self.running.pop()?;
                    return Some(self.finish(worker, at));
                }
                (_, Some(at)) => {
                    let arrival = self.arrivals.next()?;
                    let builder = arrival.place;
                    self.waiting[builder].insert(arrival.number, Job { arrival, attempt: 1 });
                    self.offer(builder, at);
                }
                (_, None) => return None,
            }
        }
    }
}
