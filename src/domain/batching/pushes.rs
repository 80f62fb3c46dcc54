//! `pushes`: a batch every so many pushlog ids; ids that the log lacks count too.

use super::cadence::{Due, Since};
use super::log::Entry;

/// Due this many ids after the last batch, at least 1.
#[derive(Debug, Clone)]
pub struct Pushes(pub(super) u64);

impl Due for Pushes {
    type Waiting = ();

    const READS_SCORES: bool = false;

    fn add(&self, _: &mut (), _: u64, _: &Entry) {}

    fn is_due(&self, _: &(), since: &Since<'_>) -> bool {
        since.ids() >= self.0
    }

    fn score(&self, _: &(), since: &Since<'_>) -> f64 {
        since.ids() as f64
    }
}
