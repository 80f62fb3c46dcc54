//! How long the runs of a builder take, from those that have ended: an estimate needs no more, and it costs a few bytes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::names::BuilderName;
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

/// The weight of the latest run once there were enough for all to count alike.
const LATEST: f64 = 0.125;

/// With so many builders on the books, the half that came first is forgotten.
const MOST_BUILDERS: usize = 40_000;

/// The mean run of each builder, which follows the latest ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Paces {
    builders: Table<BuilderName, Pace>,
}

/// How long one builder's runs take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Runs that it was learnt from.
    pub runs: u32,
    /// Seconds.
    mean: f64,
}

impl Pace {
    pub fn mean(self) -> Duration {
        Duration::from_secs_f64(self.mean.max(0.0))
    }
}

impl Paces {
    pub fn of(&self, builder: &BuilderName) -> Option<Pace> {
        self.builders.get(builder).copied()
    }

    /// Takes in a run that ended by itself.
    pub(super) fn ran(&mut self, builder: &BuilderName, started: Timestamp, ended: Timestamp) {
        let took = (ended.unix_micros() - started.unix_micros()) as f64 / 1e6;
        if let Some(pace) = self.builders.get_mut(builder) {
            pace.runs = pace.runs.saturating_add(1);
            pace.mean += (took - pace.mean) * LATEST.max(1.0 / f64::from(pace.runs));
            return;
        }
        if self.builders.len() >= MOST_BUILDERS {
            self.builders.drain(..MOST_BUILDERS / 2);
        }
        self.builders.insert(builder.clone(), Pace { runs: 1, mean: took });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_exact_at_first_and_then_follows_the_latest_runs() {
        let builder = BuilderName::parse("b").unwrap();
        let mut paces = Paces::default();
        let mut run = |seconds| {
            paces.ran(&builder, Timestamp::default(), Timestamp::from_unix_seconds(seconds));
            paces.of(&builder).unwrap().mean().as_secs_f64()
        };
        assert_eq!([run(10), run(20), run(30)], [10.0, 15.0, 20.0]);
        for _ in 0..100 {
            run(100);
        }
        assert!((run(100) - 100.0).abs() < 0.1);
        assert_eq!(run(180).round(), 110.0);
    }

    #[test]
    fn the_books_are_finite() {
        let mut paces = Paces::default();
        let name = |number: usize| BuilderName::parse(&format!("b{number}")).unwrap();
        (0..=MOST_BUILDERS).for_each(|number| paces.ran(&name(number), Timestamp::default(), Timestamp::default()));
        assert_eq!(paces.builders.len(), MOST_BUILDERS / 2 + 1);
        assert!(paces.of(&name(0)).is_none() && paces.of(&name(MOST_BUILDERS)).is_some());
    }
}
