//! Numbers about the engine, readable at any time without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;

/// Bounds of the latency buckets, in microseconds.
const BOUNDS_MICROS: [u64; 12] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000];

/// What the writer, the replica and the recorder of runs count.
#[derive(Debug, Default)]
pub struct Stats {
    /// The last durable record.
    pub last_seq: AtomicU64,
    /// The record up to which this process took its newest snapshot, 0 before the first.
    pub last_snapshot: AtomicU64,
    /// The record up to which the run history reaches.
    pub runs_recorded: AtomicU64,
    pub records: AtomicU64,
    pub append: LatencyHistogram,
    stopped: ArcSwapOption<String>,
}

impl Stats {
    pub(super) fn appended(&self, records: usize, took: Duration) {
        self.records.fetch_add(records as u64, Ordering::Relaxed);
        self.append.observe(took);
    }

    pub(super) fn stop_writes(&self, why: String) {
        self.stopped.store(Some(why.into()));
    }

    /// Why writes have stopped for good, if they have.
    pub fn read_only(&self) -> Option<String> {
        self.stopped.load().as_deref().cloned()
    }
}

/// How long something took, how often.
#[derive(Debug, Default)]
pub struct LatencyHistogram {
    /// One a bound, then one for everything beyond the last.
    counts: [AtomicU64; BOUNDS_MICROS.len() + 1],
    total_micros: AtomicU64,
}

impl LatencyHistogram {
    pub fn observe(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MICROS.partition_point(|bound| *bound < micros);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.total_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Upper bounds in seconds (infinite for the last) with the count in each bucket.
    pub fn buckets(&self) -> Vec<(f64, u64)> {
        let bounds = BOUNDS_MICROS.iter().map(|micros| *micros as f64 / 1e6).chain([f64::INFINITY]);
        bounds.zip(self.counts.iter().map(|count| count.load(Ordering::Relaxed))).collect()
    }

    /// The sum of everything observed, in seconds.
    pub fn total_seconds(&self) -> f64 {
        self.total_micros.load(Ordering::Relaxed) as f64 / 1e6
    }
}
