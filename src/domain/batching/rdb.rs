//! `rdb`: a batch once the regression-hours that have been waited reach the price of a batch.
//!
//! This is the greedy rule of the TCP acknowledgement problem, whose form with
//! a timer costs at most twice the offline optimum (Dooly, Goldman, Scott:
//! On-line analysis of the TCP acknowledgment delay problem, 2001).

use super::cadence::{Due, SECONDS_AN_HOUR, Since};
use super::forecast::Forecast;
use super::log::Entry;
use super::mass::{self, UNITS};

/// Due when Σ risk · hours reaches a price; with a forecast, when what will
/// have been waited at the next push does.
#[derive(Debug, Clone)]
pub struct Rdb {
    /// In units of risk, times seconds.
    price: u128,
    forecast: Option<Forecast>,
}

/// What gathers.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Units of risk.
    risk: u64,
    /// Σ units · seconds waited.
    waited: u128,
}

impl Rdb {
    /// `price` is positive, in risk-hours.
    pub(super) fn new(price: f64, forecast: Option<Forecast>) -> Self {
        Self { price: u128::from(mass::linear_threshold(price)) * SECONDS_AN_HOUR as u128, forecast }
    }

    /// Σ units · seconds that will have been waited at the next push, or have been by now without a forecast.
    fn reached(&self, waiting: &Waiting, since: &Since<'_>) -> u128 {
        let to_next = self.forecast.as_ref().map_or(0, |forecast| forecast.seconds_to_next(since.now));
        waiting.waited + u128::from(waiting.risk) * u128::from(to_next)
    }
}

impl Due for Rdb {
    type Waiting = Waiting;

    const READS_SCORES: bool = true;

    fn add(&self, waiting: &mut Waiting, seconds: u64, push: &Entry) {
        waiting.waited = waiting.waited.saturating_add(u128::from(waiting.risk) * u128::from(seconds));
        waiting.risk = waiting.risk.saturating_add(push.risk);
    }

    fn is_due(&self, waiting: &Waiting, since: &Since<'_>) -> bool {
        self.reached(waiting, since) >= self.price
    }

    fn score(&self, waiting: &Waiting, since: &Since<'_>) -> f64 {
        self.reached(waiting, since) as f64 / UNITS / SECONDS_AN_HOUR
    }
}
