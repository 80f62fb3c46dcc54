//! Durable generations per second by concurrent writers, beside the bound of one sync a write.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::future::join_all;
use hdrhistogram::Histogram;
use tempfile::TempDir;

use crate::adapters::clock::SystemClock;
use crate::adapters::data_folder::DataFolder;
use crate::config::FarmFile;
use crate::domain::allocator::{self, Builders, Write as Change, WriteCommand};
use crate::domain::{Author, BuilderName, Farm, fleet};
use crate::engine::views::Publisher;
use crate::engine::{Engine, Parts, recover};
use crate::sim;

/// A list grows to so many workers, then starts again with one.
const WORKERS_EACH: usize = 8;

/// As much as a record of a small generation.
const RECORD_BYTES: usize = 300;

/// Durable generations per second by concurrent writers, beside one sync a write
#[derive(Debug, Args)]
pub(super) struct Writes {
    /// Seconds of load for each figure
    #[arg(long, default_value_t = 5, value_name = "N")]
    seconds: u64,
}

impl Writes {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let bound = self.one_sync_a_write()?;
        writeln!(out, "   one sync a write (a plain file): {bound:>7.0} writes/s")?;
        out.flush()?;
        for writers in [1, 8, 64, 256] {
            let (rate, p99_ms, commits) = self.generations(writers)?;
            writeln!(
                out,
                "{writers:>4} writers: {rate:>7.0} generations/s, p99 {p99_ms:.2} ms, {commits:.0} syncs/s; ratio to one sync a write {:.2}",
                rate / bound
            )?;
            out.flush()?;
        }
        Ok(())
    }

    fn one_sync_a_write(&self) -> anyhow::Result<f64> {
        let folder = TempDir::with_prefix_in("jacuzzi-bench-", ".")?;
        let mut file = File::create(folder.path().join("file"))?;
        let (begun, mut writes) = (Instant::now(), 0u32);
        while begun.elapsed() < Duration::from_secs(self.seconds) {
            file.write_all(&[b'x'; RECORD_BYTES])?;
            file.sync_data()?;
            writes += 1;
        }
        Ok(f64::from(writes) / begun.elapsed().as_secs_f64())
    }

    /// The rate, the 99th percentile in milliseconds, and the syncs per second.
    fn generations(&self, writers: usize) -> anyhow::Result<(f64, f64, f64)> {
        let folder = TempDir::with_prefix_in("jacuzzi-bench-", ".")?;
        let data = DataFolder::open(folder.path())?;
        let mut journal = data.journal()?;
        let snapshots = data.snapshots(2)?;
        let recovered = recover::<Farm>(&mut journal, &snapshots)?;
        let (publisher, _views) = Publisher::start(&journal.epoch()?, &recovered.state)?;
        let (engine, threads) = Engine::start(Parts {
            recovered,
            journal: Box::new(journal),
            snapshots: Box::new(snapshots),
            clock: Arc::new(SystemClock),
            publisher,
            snapshot_every: 10_000,
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (latencies, took) = runtime.block_on(self.load(&engine, writers))?;
        let commits: u64 = engine.stats().append.buckets().iter().map(|(_, count)| count).sum();
        let generations = engine.stats().records.load(Ordering::Relaxed);
        drop(engine);
        threads.stop()?;
        let seconds = took.as_secs_f64();
        let p99_ms = latencies.value_at_quantile(0.99) as f64 / 1e3;
        Ok((generations as f64 / seconds, p99_ms, commits as f64 / seconds))
    }

    async fn load(&self, engine: &Engine<Farm>, writers: usize) -> anyhow::Result<(Histogram<u64>, Duration)> {
        let farm = FarmFile::from_json(&sim::farm_file(WORKERS_EACH * writers))
            .map_err(|faults| anyhow::anyhow!("{faults}"))?;
        let author = Author::new("bench");
        let define = fleet::Command::Define { definition: Box::new(farm.definition), author: author.clone() };
        engine.submit(define.into()).await?;
        let begun = Instant::now();
        let end = begun + Duration::from_secs(self.seconds);
        let all = (0..writers).map(|writer| write_until(engine, writer, end));
        let mut latencies = Histogram::new(3)?;
        for result in join_all(all).await {
            result?.into_iter().try_for_each(|micros| latencies.record(micros))?;
        }
        Ok((latencies, begun.elapsed()))
    }
}

/// One writer with a builder and workers of its own, changing it again and again.
async fn write_until(engine: &Engine<Farm>, writer: usize, end: Instant) -> anyhow::Result<Vec<u64>> {
    let builder = BuilderName::parse(&format!("builder {writer}"))?;
    let workers: Vec<_> = (0..WORKERS_EACH).map(|at| sim::worker(writer * WORKERS_EACH + at)).collect();
    let (mut latencies, mut size) = (Vec::new(), 1);
    while Instant::now() < end {
        size = size % workers.len() + 1;
        let set = Builders::from([(builder.clone(), workers[..size].to_vec())]);
        let command = allocator::Command::Write(WriteCommand {
            write: Change::Patch { set, unset: BTreeSet::new() },
            author: Author::new("bench"),
            reason: None,
            expected: None,
            // The load is about durability; sizes go up and down at will.
            force: true,
            bad_names: Vec::new(),
        });
        let called = Instant::now();
        engine.submit(command.into()).await?;
        latencies.push(u64::try_from(called.elapsed().as_micros())?);
    }
    Ok(latencies)
}
