//! Where a builder last succeeded: a worker that has run it lately has its checkout and caches.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

/// So many workers are remembered for each builder at least. With twice as many
/// on the books, those are forgotten whose success is longest ago, which are the
/// least warm of all.
pub const MIN_WARM_WORKERS: usize = 1_000;

/// The latest success of each builder on each worker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Warm {
    builders: Table<BuilderName, Table<WorkerName, Timestamp>>,
}

impl Warm {
    /// The workers on which the builder has succeeded, in no order that means anything.
    pub fn workers(&self, builder: &BuilderName) -> impl ExactSizeIterator<Item = (&WorkerName, Timestamp)> {
        let workers = self.builders.get(builder).map(Table::iter).unwrap_or_default();
        workers.map(|(worker, at)| (worker, *at))
    }

    /// The same for these builders alone.
    pub fn of(&self, builders: &BTreeSet<BuilderName>) -> Self {
        let of = |builder: &BuilderName| Some((builder.clone(), self.builders.get(builder)?.clone()));
        Self { builders: builders.iter().filter_map(of).collect() }
    }

    /// When the builder last succeeded on the worker.
    pub fn since(&self, builder: &BuilderName, worker: &WorkerName) -> Option<Timestamp> {
        self.builders.get(builder)?.get(worker).copied()
    }

    /// Takes in a success; an older one than is known changes nothing.
    pub fn succeeded(&mut self, builder: &BuilderName, worker: &WorkerName, at: Timestamp) {
        let workers = match self.builders.get_mut(builder) {
            Some(workers) => workers,
            None => self.builders.entry(builder.clone()).or_default(),
        };
        match workers.get_mut(worker) {
            Some(latest) => *latest = at.max(*latest),
            None => drop(workers.insert(worker.clone(), at)),
        }
        if workers.len() >= 2 * MIN_WARM_WORKERS {
            workers.sort_unstable_by(|one, since_one, other, since_other| (since_other, one).cmp(&(since_one, other)));
            workers.truncate(MIN_WARM_WORKERS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_success_counts_and_the_oldest_are_forgotten() {
        let builder = BuilderName::parse("b").unwrap();
        let worker = |number: usize| WorkerName::parse(&format!("w{number:04}")).unwrap();
        let at = Timestamp::from_unix_seconds;
        let mut warm = Warm::default();
        for (number, seconds) in [(3, 10), (1, 20), (2, 20), (3, 30), (3, 5)] {
            warm.succeeded(&builder, &worker(number), at(seconds));
        }
        let since = |warm: &Warm, number| warm.since(&builder, &worker(number));
        assert_eq!([1, 2, 3, 4].map(|number| since(&warm, number)), [Some(at(20)), Some(at(20)), Some(at(30)), None]);
        for number in 0..2 * MIN_WARM_WORKERS - 4 {
            warm.succeeded(&builder, &worker(100 + number), at(40 + number as i64));
        }
        assert_eq!(since(&warm, 1), Some(at(20)));
        warm.succeeded(&builder, &worker(99), at(25));
        assert_eq!(warm.workers(&builder).len(), MIN_WARM_WORKERS);
        assert_eq!([1, 3, 99].map(|number| since(&warm, number)), [None; 3]);
        assert!(since(&warm, 99 + 2 * MIN_WARM_WORKERS - 4).is_some());
    }
}
