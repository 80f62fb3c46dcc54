//! `time`: a batch once so many hours have passed since the last one.

use super::cadence::{Due, Since};
use super::log::Entry;

/// Due this many seconds after the last batch, at least 1.
#[derive(Debug, Clone)]
pub struct Time(pub(super) u64);

impl Due for Time {
    type Waiting = ();

    const READS_SCORES: bool = false;

    fn add(&self, _: &mut (), _: u64, _: &Entry) {}

    fn is_due(&self, _: &(), since: &Since<'_>) -> bool {
        since.seconds() >= self.0
    }

    fn score(&self, _: &(), since: &Since<'_>) -> f64 {
        since.hours()
    }
}
