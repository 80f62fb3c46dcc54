//! A farm like Mozilla's of 2014 and what is asked of it for days or weeks: farm file, allocation, arrivals, and a history of runs.
//!
//! All of it follows from a [`Shape`], bit for bit on every platform.
//!
//! - Pushes to branches are Poisson processes with the cycles of day and week;
//!   a branch that was closed for a while gets its pushes in a burst.
//! - A push submits a job of each of its branch's builders, of some only now
//!   and then; nightly builds submit a job for each language, all at once.
//! - A cold run's time is log-normal about its builder's mean; a warm one takes
//!   0.6 of it. The means are stretched until the machines have as much to do as
//!   a farm's should, so fewer jobs a day are longer jobs. Mozilla's 75,000 jobs
//!   a day ran on thousands of machines, of which 435 were in a jacuzzi; on these
//!   alone a mean cold run has to take five minutes, and an hour with 6,000 jobs.
//! - Each branch's builders share its machines in each pool, two at most on one.
//! - Results are drawn for each run by itself: a bad push does not fail everywhere.

mod arrivals;
mod builders;
mod calendar;
mod catalog;
mod history;
mod machines;
mod pushes;
mod summary;
#[cfg(test)]
mod tests;

use thiserror::Error;

pub use arrivals::{Arrival, RunResult};
pub use history::HistoryRow;
pub use pushes::PushId;
pub use summary::{Part, Summary};

use self::builders::Builders;
use self::history::History;
use self::machines::Farm;
use self::pushes::Push;
use crate::domain::fleet::Definition;
use crate::domain::{Timestamp, allocator};
use crate::sim::chance::Chance;

/// What can be asked for.
pub const MAX_DAYS: u32 = 366;
pub const MAX_JOBS_PER_DAY: u32 = 1_000_000;
pub const MAX_MACHINES: u32 = 100_000;

/// How large a farm is wanted, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// All chance follows from it.
    pub seed: u64,
    /// The first arrivals come after this; the second counts, not its fraction.
    pub start: Timestamp,
    /// 1 to [`MAX_DAYS`].
    pub days: u32,
    /// Mean of Monday to Friday, 1 to [`MAX_JOBS_PER_DAY`].
    pub jobs_per_day: u32,
    /// Those that the catalogue has names for, at most.
    pub builders: u32,
    /// Up to [`MAX_MACHINES`].
    pub machines: u32,
}

/// Why there is no such farm.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadShape {
    #[error("{what}: from {min} to {max}, not {actual}")]
    OutOfRange { what: &'static str, min: u64, max: u64, actual: u64 },
    #[error(
        "{builders} builders need {fewest} machines at least, since two share one at most, and only of one branch and pool"
    )]
    TooFewMachines { builders: u32, fewest: u64 },
}

impl Shape {
    fn check(&self) -> Result<(), BadShape> {
        let most_builders = catalog::ranked().len() as u32;
        for (what, max, actual) in [
            ("days", MAX_DAYS, self.days),
            ("jobs a day", MAX_JOBS_PER_DAY, self.jobs_per_day),
            ("builders", most_builders, self.builders),
            ("machines", MAX_MACHINES, self.machines),
        ] {
            if !(1..=max).contains(&actual) {
                return Err(BadShape::OutOfRange { what, min: 1, max: max.into(), actual: actual.into() });
            }
        }
        Ok(())
    }

    /// The first Unix second, and the one after the last.
    fn span(&self) -> (i64, i64) {
        let start = self.start.unix_micros().div_euclid(1_000_000);
        (start, start + i64::from(self.days) * calendar::SECONDS_A_DAY)
    }
}

/// A farm, and all that is asked of it.
#[derive(Debug)]
pub struct Workload {
    shape: Shape,
    pub definition: Definition,
    /// Every builder has workers, and every worker a builder.
    pub allocations: allocator::Builders,
    builders: Builders,
    pushes: Vec<Push>,
}

impl Workload {
    /// Makes the farm and its pushes; jobs and runs are made as they are read.
    pub fn new(shape: Shape) -> Result<Self, BadShape> {
        shape.check()?;
        let mut chance = Chance::seeded(shape.seed);
        let builders = Builders::new(&shape, &mut chance.split());
        let fewest = machines::fewest(&builders);
        if u64::from(shape.machines) < fewest {
            return Err(BadShape::TooFewMachines { builders: shape.builders, fewest });
        }
        let Farm { definition, allocations } = Farm::new(&shape, &builders);
        let pushes = pushes::pushes(&shape, &builders, &mut chance);
        Ok(Self { shape, definition, allocations, builders, pushes })
    }

    /// Every submitted job, oldest first; the position of one, from 1, is its number in the history.
    pub fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        arrivals::arrivals(self)
    }

    /// Every run of these jobs, first come first served under the allocation, in the order of their ends.
    pub fn history(&self) -> impl Iterator<Item = HistoryRow> {
        History::new(self, self.arrivals())
    }
}
