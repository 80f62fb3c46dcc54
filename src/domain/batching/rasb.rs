//! `rasb`: a batch once a regression among the waiting commits is likely enough, their risks being independent.

use super::cadence::{Due, Since};
use super::log::Entry;
use super::mass;

/// Due when 1 − Π(1 − risk) reaches a threshold.
#[derive(Debug, Clone)]
pub struct Rasb {
    /// In units of nats.
    nats: u64,
}

impl Rasb {
    /// `threshold` lies between 0 and 1.
    pub(super) fn new(threshold: f64) -> Self {
        Self { nats: mass::nats_threshold(threshold) }
    }
}

impl Due for Rasb {
    /// Units of nats.
    type Waiting = u64;

    const READS_SCORES: bool = true;

    fn add(&self, nats: &mut u64, _: u64, push: &Entry) {
        *nats = nats.saturating_add(push.nats);
    }

    fn is_due(&self, nats: &u64, _: &Since<'_>) -> bool {
        *nats >= self.nats
    }

    fn score(&self, nats: &u64, _: &Since<'_>) -> f64 {
        mass::chance(*nats as f64)
    }
}
