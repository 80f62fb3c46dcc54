//! What a history amounts to: how busy each pool was, how long jobs waited, how many ran warm.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::Workload;
use super::history::HistoryRow;
use crate::domain::fleet::Pool;
use crate::domain::{BuilderName, PoolName, Timestamp};

const SECONDS_AN_HOUR: i64 = 3_600;

/// Counts runs as they are read.
#[derive(Debug)]
pub struct Summary<'a> {
    /// The first Unix second, and the one after the last; what runs later is not counted as use.
    span: (i64, i64),
    pool_of: BTreeMap<&'a BuilderName, usize>,
    pools: Vec<(PoolName, Tally)>,
}

/// One pool in figures, or all of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// `None`: all pools together.
    pub pool: Option<PoolName>,
    pub machines: u64,
    pub builders: u64,
    pub jobs: u64,
    /// Share of the machines' time, 0 to 1.
    pub busy: f64,
    /// The same in the hour with the most.
    pub busiest_hour: f64,
    /// Seconds from submission to the first start.
    pub wait_p50: u64,
    pub wait_p90: u64,
    /// Share of the runs, 0 to 1.
    pub warm: f64,
}

#[derive(Debug, Clone)]
struct Tally {
    machines: u64,
    builders: u64,
    runs: u64,
    warm_runs: u64,
    waits: Histogram<u64>,
    /// Seconds of work in each hour.
    hours: Vec<i64>,
}

impl<'a> Summary<'a> {
    pub fn new(workload: &'a Workload) -> Self {
        let span = workload.shape.span();
        let hours = vec![0; ((span.1 - span.0) / SECONDS_AN_HOUR) as usize];
        let pool = |pool: &Pool| {
            let waits = Histogram::new(3).expect("three digits are within what it takes");
            let machines = pool.workers.iter().map(|range| range.count()).sum();
            let tally = Tally { machines, builders: 0, runs: 0, warm_runs: 0, waits, hours: hours.clone() };
            (pool.name.clone(), tally)
        };
        let mut pools: Vec<_> = workload.definition.pools.iter().map(pool).collect();
        let mut pool_of = BTreeMap::new();
        for builder in &workload.builders.list {
            let at = pools.iter().position(|(name, _)| *name == builder.pool).expect("the pool of a builder");
            pools[at].1.builders += 1;
            pool_of.insert(&builder.name, at);
        }
        Self { span, pool_of, pools }
    }

    /// Counts a run of this workload.
    pub fn add(&mut self, row: &HistoryRow) {
        let tally = &mut self.pools[self.pool_of[&row.builder]].1;
        let seconds = |time: Timestamp| time.unix_micros() / 1_000_000;
        let (from, to) = (seconds(row.started_at), seconds(row.finished_at));
        tally.runs += 1;
        tally.warm_runs += u64::from(row.warm);
        if row.attempt == 1 {
            tally.waits.saturating_record((from - seconds(row.submitted_at)).unsigned_abs());
        }
        let (mut at, to) = (from - self.span.0, to.min(self.span.1) - self.span.0);
        while at < to {
            let hour = at / SECONDS_AN_HOUR;
            let until = to.min((hour + 1) * SECONDS_AN_HOUR);
            tally.hours[hour as usize] += until - at;
            at = until;
        }
    }

    /// Each pool, then all together.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = self.pools.iter().map(|(name, tally)| tally.part(Some(name.clone()))).collect();
        let tallies = self.pools.iter().map(|(_, tally)| tally.clone());
        parts.extend(tallies.reduce(Tally::and).map(|all| all.part(None)));
        parts
    }
}

impl Tally {
    fn and(mut self, other: Self) -> Self {
        self.machines += other.machines;
        self.builders += other.builders;
        self.runs += other.runs;
        self.warm_runs += other.warm_runs;
        self.waits += other.waits;
        self.hours.iter_mut().zip(other.hours).for_each(|(seconds, more)| *seconds += more);
        self
    }

    fn part(&self, pool: Option<PoolName>) -> Part {
        let hourly = (self.machines as i64 * SECONDS_AN_HOUR) as f64;
        let most = self.hours.iter().copied().max().unwrap_or(0);
        Part {
            pool,
            machines: self.machines,
            builders: self.builders,
            jobs: self.waits.len(),
            busy: self.hours.iter().sum::<i64>() as f64 / (hourly * self.hours.len() as f64),
            busiest_hour: most as f64 / hourly,
            wait_p50: self.waits.value_at_quantile(0.5),
            wait_p90: self.waits.value_at_quantile(0.9),
            warm: self.warm_runs as f64 / self.runs.max(1) as f64,
        }
    }
}
