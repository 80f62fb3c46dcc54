//! `rasb_la`: a batch once the risks of the waiting commits add up to a threshold (linear accumulation).

use super::cadence::{Due, Since};
use super::log::Entry;
use super::mass::{self, UNITS};

/// Due when Σ risk reaches a threshold.
#[derive(Debug, Clone)]
pub struct RasbLa {
    /// In units of risk.
    risk: u64,
}

impl RasbLa {
    /// `threshold` is positive.
    pub(super) fn new(threshold: f64) -> Self {
        Self { risk: mass::linear_threshold(threshold) }
    }
}

impl Due for RasbLa {
    /// Units of risk.
    type Waiting = u64;

    const READS_SCORES: bool = true;

    fn add(&self, risk: &mut u64, _: u64, push: &Entry) {
        *risk = risk.saturating_add(push.risk);
    }

    fn is_due(&self, risk: &u64, _: &Since<'_>) -> bool {
        *risk >= self.risk
    }

    fn score(&self, risk: &u64, _: &Since<'_>) -> f64 {
        *risk as f64 / UNITS
    }
}
