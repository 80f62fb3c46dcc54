//! `backstop`: what runs in production, a batch every so many ids or hours, whichever comes first.

use super::cadence::{Due, Since};
use super::log::Entry;
use super::pushes::Pushes;
use super::time::Time;

/// Due when either is.
#[derive(Debug, Clone)]
pub struct Backstop {
    pub(super) interval: Pushes,
    pub(super) hours: Time,
}

impl Due for Backstop {
    type Waiting = ();

    const READS_SCORES: bool = false;

    fn add(&self, _: &mut (), _: u64, _: &Entry) {}

    fn is_due(&self, _: &(), since: &Since<'_>) -> bool {
        self.interval.is_due(&(), since) || self.hours.is_due(&(), since)
    }

    /// The ids since the last batch.
    fn score(&self, _: &(), since: &Since<'_>) -> f64 {
        self.interval.score(&(), since)
    }
}
