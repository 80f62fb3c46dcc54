//! What the dispatcher does, in numbers: counted from its events once they are durable, for metrics and for the list of pools.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use crate::domain::dispatcher;
use crate::domain::{Event, Farm, PoolName, Timestamp};
use crate::engine::Publish;

const MICROS_PER_MINUTE: i64 = 60_000_000;

/// How far back starts are counted, in minutes.
const RECENT_MINUTES: i64 = 60;

/// The counts of this run of the server; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Activity(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    pending: AtomicU64,
    running: AtomicU64,
    claims: Counter,
    ended: Family<Labels, Counter>,
    starts: Mutex<BTreeMap<PoolName, Starts>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Labels {
    result: &'static str,
}

/// Starts by minute, oldest first; minutes without one have no entry.
#[derive(Debug, Default)]
struct Starts(VecDeque<(i64, u64)>);

impl Activity {
    /// Of the farm as it was recovered.
    pub fn of(farm: &Farm) -> Self {
        let activity = Self::default();
        activity.note_queue(farm);
        activity
    }

    /// Jobs that wait.
    pub fn pending(&self) -> u64 {
        self.0.pending.load(Ordering::Relaxed)
    }

    /// Claims that have not ended.
    pub fn running(&self) -> u64 {
        self.0.running.load(Ordering::Relaxed)
    }

    /// Claims ever made.
    pub fn claims(&self) -> &Counter {
        &self.0.claims
    }

    /// Runs ever ended, by result.
    pub fn ended(&self) -> &Family<Labels, Counter> {
        &self.0.ended
    }

    /// How many jobs started in each pool within the last hour, to the minute.
    pub fn recent_starts(&self, now: Timestamp) -> BTreeMap<PoolName, u64> {
        let starts = self.0.starts.lock().expect("nobody panics with the lock in hand");
        starts.iter().map(|(pool, starts)| (pool.clone(), starts.since(minute(now) - RECENT_MINUTES))).collect()
    }

    fn note_queue(&self, farm: &Farm) {
        self.0.pending.store(farm.jobs.pending() as u64, Ordering::Relaxed);
        self.0.running.store(farm.jobs.running() as u64, Ordering::Relaxed);
    }
}

impl Starts {
    fn add(&mut self, at: i64) {
        match self.0.back_mut() {
            Some((minute, count)) if *minute >= at => *count += 1,
            _ => self.0.push_back((at, 1)),
        }
        while self.0.front().is_some_and(|(minute, _)| *minute <= at - RECENT_MINUTES) {
            self.0.pop_front();
        }
    }

    fn since(&self, before: i64) -> u64 {
        self.0.iter().filter(|(minute, _)| *minute > before).map(|(_, count)| count).sum()
    }
}

fn minute(time: Timestamp) -> i64 {
    time.unix_micros().div_euclid(MICROS_PER_MINUTE)
}

impl Publish<Farm> for Activity {
    fn publish(&mut self, farm: &Farm, events: &[&Event]) {
        let ours = events.iter().filter_map(|event| match event {
            Event::Dispatcher(event) => Some(event),
            Event::Fleet(_) | Event::Allocator(_) | Event::Access(_) => None,
        });
        let mut any = false;
        for event in ours {
            any = true;
            match event {
                dispatcher::Event::Claimed { claims, time, .. } => {
                    self.0.claims.inc_by(claims.len() as u64);
                    let mut starts = self.0.starts.lock().expect("nobody panics with the lock in hand");
                    for worker in claims.iter().filter_map(|claim| farm.fleet.worker(&claim.worker)) {
                        starts.entry(worker.pool.clone()).or_default().add(minute(*time));
                    }
                }
                dispatcher::Event::RunEnded(run) => {
                    self.0.ended.get_or_create(&Labels { result: run.result.as_str() }).inc();
                }
                dispatcher::Event::Submitted { .. }
                | dispatcher::Event::Cancelled { .. }
                | dispatcher::Event::Quarantined { .. }
                | dispatcher::Event::Released { .. }
                | dispatcher::Event::Remembered { .. } => {}
            }
        }
        if any {
            self.note_queue(farm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_forgotten_after_an_hour() {
        let mut starts = Starts::default();
        for minute in [100, 100, 130, 159] {
            starts.add(minute);
        }
        assert_eq!((starts.since(99), starts.since(100), starts.since(159)), (4, 2, 0));
        starts.add(160);
        assert_eq!((starts.0.len(), starts.since(0)), (3, 3));
        // The clock was set back: it counts as now.
        starts.add(90);
        assert_eq!(starts.since(159), 2);
    }
}
