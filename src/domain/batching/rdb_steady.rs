//! `rdb_steady`: `rdb` on pushes that come as they are foreseen, not as chance has it.
//!
//! At a steady flow of risk what is best is to batch once the waiting has
//! cost as much as a batch does: the economic order quantity (Harris: How many
//! parts to make at once, 1913). The flow of this hour is the forecast's mean
//! risk of a push over its time to the next one; risk that gathered at that
//! flow has waited half the time that it took to gather.

use super::cadence::{Due, SECONDS_AN_HOUR, Since};
use super::forecast::Forecast;
use super::log::Entry;
use super::mass::{self, UNITS};

/// More risk than this, of thousands of regressions, counts as this much: its
/// square times the seconds of a week is a whole number of 128 bits.
const MOST: u64 = 1 << 53;

/// Due when (Σ risk)² / (2 · flow) reaches a price in risk-hours.
#[derive(Debug, Clone)]
pub struct RdbSteady {
    /// Units of risk, squared, times seconds; divided by the flow's risk and doubled.
    price: u128,
    forecast: Forecast,
}

impl RdbSteady {
    /// `price` is positive, in risk-hours.
    pub(super) fn new(price: f64, forecast: Forecast) -> Self {
        let per_push = mass::linear_threshold(2.0 * forecast.risk_a_push() * price);
        let price = (u128::from(per_push) << 40).saturating_mul(SECONDS_AN_HOUR as u128);
        Self { price, forecast }
    }

    /// Units of risk, squared, times the seconds to the next push.
    fn reached(&self, risk: u64, since: &Since<'_>) -> u128 {
        let risk = u128::from(risk.min(MOST));
        risk * risk * u128::from(self.forecast.seconds_to_next(since.now))
    }
}

impl Due for RdbSteady {
    /// Units of risk.
    type Waiting = u64;

    const READS_SCORES: bool = true;

    fn add(&self, risk: &mut u64, _: u64, push: &Entry) {
        *risk = risk.saturating_add(push.risk);
    }

    fn is_due(&self, risk: &u64, since: &Since<'_>) -> bool {
        self.reached(*risk, since) >= self.price
    }

    fn score(&self, risk: &u64, since: &Since<'_>) -> f64 {
        let reached = self.reached(*risk, since) as f64 / (UNITS * UNITS * SECONDS_AN_HOUR);
        reached / (2.0 * self.forecast.risk_a_push())
    }
}
