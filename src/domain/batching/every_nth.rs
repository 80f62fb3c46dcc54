//! `every_nth`: every push whose id is a multiple of N, which needs no state; its cadence is that nothing is ever due.

use super::cadence::{Due, Since};
use super::log::Entry;

/// The multiples are found beside the cadence, so that `expanded` can have both.
#[derive(Debug, Clone)]
pub struct Never;

impl Due for Never {
    type Waiting = ();

    const READS_SCORES: bool = false;

    fn add(&self, _: &mut (), _: u64, _: &Entry) {}

    fn is_due(&self, _: &(), _: &Since<'_>) -> bool {
        false
    }

    fn score(&self, _: &(), _: &Since<'_>) -> f64 {
        0.0
    }
}
