//! Where a builder last succeeded: a worker that has run it lately has its checkout and caches.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

/// So many workers are remembered for each builder; beyond them the one whose
/// success is longest ago is forgotten, which is the least warm of all.
pub const MAX_WARM_WORKERS: usize = 1_000;

/// The latest success of each builder on each worker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Warm {
    /// By time of success, the latest last; of two at the same time the lesser name is last.
    builders: Table<BuilderName, Vec<(Timestamp, WorkerName)>>,
}

impl Warm {
    /// The workers on which the builder has succeeded, the warmest first, then by name.
    pub fn workers(&self, builder: &BuilderName) -> impl Iterator<Item = (&WorkerName, Timestamp)> {
        let list = self.builders.get(builder).map_or(&[][..], Vec::as_slice);
        list.iter().rev().map(|(at, worker)| (worker, *at))
    }

    /// The same for these builders alone.
    pub fn of(&self, builders: &BTreeSet<BuilderName>) -> Self {
        let of = |builder: &BuilderName| Some((builder.clone(), self.builders.get(builder)?.clone()));
        Self { builders: builders.iter().filter_map(of).collect() }
    }

    /// When the builder last succeeded on the worker.
    pub fn since(&self, builder: &BuilderName, worker: &WorkerName) -> Option<Timestamp> {
        self.workers(builder).find(|(warm, _)| *warm == worker).map(|(_, at)| at)
    }

    /// Takes in a success; an older one than is known changes nothing.
    pub fn succeeded(&mut self, builder: &BuilderName, worker: &WorkerName, at: Timestamp) {
        let list = match self.builders.get_mut(builder) {
            Some(list) => list,
            None => self.builders.entry(builder.clone()).or_default(),
        };
        // From the end: what ran last will most likely run next.
        if let Some(known) = list.iter().rposition(|(_, warm)| warm == worker) {
            if list[known].0 >= at {
                return;
            }
            list.remove(known);
        }
        let place = list.partition_point(|(other, warm)| (*other, worker) < (at, warm));
        list.insert(place, (at, worker.clone()));
        if list.len() > MAX_WARM_WORKERS {
            list.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warmest_comes_first_and_the_oldest_is_forgotten() {
        let builder = BuilderName::parse("b").unwrap();
        let worker = |number: usize| WorkerName::parse(&format!("w{number:04}")).unwrap();
        let at = Timestamp::from_unix_seconds;
        let mut warm = Warm::default();
        for (number, seconds) in [(3, 10), (1, 20), (2, 20), (3, 30), (3, 5)] {
            warm.succeeded(&builder, &worker(number), at(seconds));
        }
        let order: Vec<_> = warm.workers(&builder).map(|(name, since)| (name.clone(), since)).collect();
        assert_eq!(order, [(worker(3), at(30)), (worker(1), at(20)), (worker(2), at(20))]);
        for number in 0..MAX_WARM_WORKERS {
            warm.succeeded(&builder, &worker(100 + number), at(40));
        }
        assert_eq!(warm.workers(&builder).count(), MAX_WARM_WORKERS);
        assert_eq!(warm.since(&builder, &worker(3)), None);
    }
}
