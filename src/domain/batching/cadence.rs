//! What every cadence is made of: something gathers from push to push, until it is enough.

use std::ops::Range;

use super::backstop::Backstop;
use super::every_nth::Never;
use super::log::{Entry, Log};
use super::pushes::Pushes;
use super::rapb::Rapb;
use super::rapb_la::RapbLa;
use super::rasb::Rasb;
use super::rasb_la::RasbLa;
use super::rdb::Rdb;
use super::rdb_steady::RdbSteady;
use super::replay::Mark;
use super::time::Time;

/// A rule that picks batches, with its parameters.
#[derive(Debug, Clone)]
pub enum Cadence {
    Pushes(Pushes),
    Time(Time),
    Backstop(Backstop),
    Rasb(Rasb),
    RasbLa(RasbLa),
    Rapb(Rapb),
    RapbLa(RapbLa),
    Rdb(Rdb),
    RdbSteady(RdbSteady),
    Never(Never),
}

/// How a cadence comes to its batches. Each is a file of its own.
pub(super) trait Due {
    /// What has gathered since the last batch; the default is nothing.
    type Waiting: Default;

    const READS_SCORES: bool;

    /// What waits grows `seconds` older, and then a push comes.
    fn add(&self, waiting: &mut Self::Waiting, seconds: u64, push: &Entry);

    /// Whether a batch is due on the newest push.
    fn is_due(&self, waiting: &Self::Waiting, since: &Since<'_>) -> bool;

    /// How far it has come, in the unit of the cadence's threshold.
    fn score(&self, waiting: &Self::Waiting, since: &Since<'_>) -> f64;
}

/// The pushes since the last batch, up to the one that is being decided.
pub(super) struct Since<'a> {
    pub log: &'a Log,
    pub batch: Mark,
    /// Their places in the log; the last is the one that is being decided.
    pub places: Range<usize>,
    /// The date of that one in Unix seconds, never before an earlier push's.
    pub now: i64,
}

impl Since<'_> {
    /// From the batch's id to this push's.
    pub fn ids(&self) -> u64 {
        self.log.entries[self.places.end - 1].id.0 - self.batch.id.0
    }

    /// From the batch's date to this push's.
    pub fn seconds(&self) -> u64 {
        self.now.abs_diff(self.batch.at)
    }

    pub fn hours(&self) -> f64 {
        self.seconds() as f64 / SECONDS_AN_HOUR
    }

    /// The risk of each waiting commit, and how many seconds it has waited.
    pub fn risks(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut clock = self.batch.at;
        self.log.entries[self.places.clone()].iter().flat_map(move |push| {
            clock = clock.max(push.at);
            let waited = self.now.abs_diff(clock);
            self.log.risks(push).iter().map(move |risk| (*risk, waited))
        })
    }
}

pub(super) const SECONDS_AN_HOUR: f64 = 3_600.0;
