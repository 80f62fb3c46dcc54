//! What a farm of a million jobs costs the writer: two states, group commit, and a snapshot running.
//!
//! `cargo bench --bench engine [JOBS]`: submits durable commands from 64 tasks,
//! first with the replica at rest, then while it writes snapshots without a
//! pause, and prints the latency that a caller sees in both.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use jacuzzi::adapters::clock::SystemClock;
use jacuzzi::adapters::data_folder::DataFolder;
use jacuzzi::domain::Timestamp;
use jacuzzi::engine::{Engine, Machine, Parts, Publish, recover};
use jacuzzi::ports::Fault;
use serde::{Deserialize, Serialize};

const CALLERS: usize = 64;
const RUN: Duration = Duration::from_secs(10);

/// As much as a pending job needs.
#[derive(Clone, Serialize, Deserialize)]
struct Job {
    builder: u32,
    priority: i32,
    submitted_at: Timestamp,
    attempt: u32,
    idempotency_key: String,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Queue {
    next: u64,
    jobs: BTreeMap<u64, Job>,
}

enum Command {
    Fill(u64),
    Replace,
}

#[derive(Serialize, Deserialize)]
enum Event {
    Submitted { id: u64, job: Job },
    Filled { jobs: u64, at: Timestamp },
    Finished { id: u64 },
}

fn job(id: u64, submitted_at: Timestamp) -> Job {
    Job {
        builder: id as u32 % 10_000,
        priority: 5,
        submitted_at,
        attempt: 1,
        idempotency_key: format!("push-{id:012}"),
    }
}

impl Machine for Queue {
    type Command = Command;
    type Event = Event;
    type Refusal = String;
    type Volatile = ();
    type Reply = ();

    fn volatile(&self, _: Timestamp) {}

    fn carry_out(&mut self, (): &mut (), now: Timestamp, command: Command) -> Result<(Vec<Event>, ()), String> {
        let oldest = || self.jobs.keys().next().copied().ok_or("no job is pending".to_owned());
        let events = match command {
            Command::Fill(jobs) => vec![Event::Filled { jobs, at: now }],
            Command::Replace => {
                vec![Event::Submitted { id: self.next, job: job(self.next, now) }, Event::Finished { id: oldest()? }]
            }
        };
        events.iter().for_each(|event| self.apply(event));
        Ok((events, ()))
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Filled { jobs, at } => {
                self.jobs.extend((self.next..self.next + jobs).map(|id| (id, job(id, *at))));
                self.next += jobs;
            }
            Event::Submitted { id, job } => {
                self.jobs.insert(*id, job.clone());
                self.next = id + 1;
            }
            Event::Finished { id } => drop(self.jobs.remove(id)),
        }
    }
}

struct NoViews;

impl Publish<Queue> for NoViews {
    fn publish(&mut self, _: &Queue, _: &[&Event]) {}
}

fn main() -> Result<(), Fault> {
    let jobs = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(1_000_000);
    println!("{jobs} jobs, {CALLERS} callers, {} s each; load {}", RUN.as_secs(), load());
    for (name, snapshot_every) in [("replica at rest", u64::MAX), ("snapshots without a pause", 1)] {
        run(name, jobs, snapshot_every)?;
    }
    Ok(())
}

fn run(name: &str, jobs: u64, snapshot_every: u64) -> Result<(), Fault> {
    let folder = tempfile::tempdir_in(".")?;
    let data = DataFolder::open(folder.path())?;
    let mut journal = data.journal()?;
    let snapshots = data.snapshots(2)?;
    let recovered = recover::<Queue>(&mut journal, &snapshots)?;
    let (engine, threads) = Engine::start(Parts {
        recovered,
        journal: Box::new(journal),
        snapshots: Box::new(snapshots),
        clock: Arc::new(SystemClock),
        publisher: NoViews,
        snapshot_every,
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (latency, took) = runtime.block_on(load_up(&engine, jobs));
    let (stats, seq) = (engine.stats(), engine.stats().last_seq.load(Ordering::Acquire));
    println!(
        "{name:>26}: {:>7.0} commands/s  p50 {:.2} ms  p99 {:.2} ms  max {:.1} ms  ({} appends, last record {seq}, last snapshot {})",
        latency.len() as f64 / took.as_secs_f64(),
        latency.value_at_quantile(0.5) as f64 / 1e3,
        latency.value_at_quantile(0.99) as f64 / 1e3,
        latency.max() as f64 / 1e3,
        stats.append.buckets().iter().map(|(_, count)| count).sum::<u64>(),
        stats.last_snapshot.load(Ordering::Acquire),
    );
    drop(engine);
    threads.stop()
}

async fn load_up(engine: &Engine<Queue>, jobs: u64) -> (Histogram<u64>, Duration) {
    engine.submit(Command::Fill(jobs)).await.expect("a fresh engine writes");
    let begun = Instant::now();
    let callers = (0..CALLERS).map(|_| async {
        let mut latencies = Vec::new();
        while begun.elapsed() < RUN {
            let called = Instant::now();
            engine.submit(Command::Replace).await.expect("a job is pending");
            latencies.push(called.elapsed().as_micros() as u64);
        }
        latencies
    });
    let all = futures_util::future::join_all(callers).await;
    let took = begun.elapsed();
    let mut histogram = Histogram::new(3).expect("three digits are allowed");
    for micros in all.into_iter().flatten() {
        histogram.record(micros).expect("an auto-resizing histogram takes any value");
    }
    (histogram, took)
}

fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
