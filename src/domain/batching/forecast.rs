//! What pushes will come: how long it will be until the next one, and what risk it will bring.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cadence::SECONDS_AN_HOUR;
use super::log::Log;
use super::mass::UNITS;

/// Hours of a week, from Monday 00:00 UTC on.
pub const HOURS: usize = 168;

const MINUTES: usize = HOURS * 60;
const SECONDS_A_WEEK: i64 = 604_800;

/// From Monday 00:00 to the epoch, which was a Thursday.
const EPOCH: i64 = 3 * 86_400;

/// The longest wait that is foreseen, in seconds.
const LONGEST: f64 = SECONDS_A_WEEK as f64;

/// The pushes of a mean week, taken as a Poisson process whose rate changes with the hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rates", into = "Rates")]
pub struct Forecast {
    pushes_an_hour: Arc<[f64]>,
    risk_a_push: f64,
    /// For each minute of the week, from its beginning to the next push.
    seconds: Arc<[u32]>,
}

/// A forecast as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    /// From Monday 00:00 UTC on.
    pushes_per_hour: Vec<f64>,
    risk_per_push: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum BadForecast {
    #[error("a forecast has the pushes of {HOURS} hours, from Monday 00:00 UTC on, not of {0}")]
    Hours(usize),
    #[error("the pushes of an hour are a number from 0 up, not {0}")]
    Rate(f64),
    #[error("the mean risk of a push is a number above 0, not {0}")]
    Risk(f64),
    #[error("a forecast of no pushes foresees nothing")]
    Nothing,
}

impl Forecast {
    /// From the mean number of pushes in each hour of a week, Monday 00:00 UTC first,
    /// and the mean risk that one brings.
    ///
    /// # Errors
    /// Another number of hours, a rate or risk that is none, or no push at all.
    pub fn new(pushes_an_hour: Vec<f64>, risk_a_push: f64) -> Result<Self, BadForecast> {
        if pushes_an_hour.len() != HOURS {
            return Err(BadForecast::Hours(pushes_an_hour.len()));
        }
        if let Some(bad) = pushes_an_hour.iter().find(|rate| !(rate.is_finite() && **rate >= 0.0)) {
            return Err(BadForecast::Rate(*bad));
        }
        if pushes_an_hour.iter().all(|rate| *rate == 0.0) {
            return Err(BadForecast::Nothing);
        }
        if !(risk_a_push.is_finite() && risk_a_push > 0.0) {
            return Err(BadForecast::Risk(risk_a_push));
        }
        let seconds = waits(&pushes_an_hour).into_iter().map(|wait| wait.min(LONGEST).ceil() as u32).collect();
        Ok(Self { pushes_an_hour: pushes_an_hour.into(), risk_a_push, seconds })
    }

    /// From the pushes of a log, as if each of its weeks were like the others, and each hour much like its neighbours.
    ///
    /// # Errors
    /// A log whose risks are all 0 or unknown.
    pub fn of(log: &Log) -> Result<Self, BadForecast> {
        let (mut pushes, mut weeks, mut risk) = (vec![0.0; HOURS], vec![0.0; HOURS], 0.0);
        for push in &log.entries {
            pushes[minute_of_week(push.at) / 60] += 1.0;
            risk += push.risk as f64 / UNITS;
        }
        let hours = || log.entries.iter().map(|push| push.at.div_euclid(SECONDS_AN_HOUR as i64));
        let (first, last) = (hours().min().unwrap_or_default(), hours().max().unwrap_or_default());
        for hour in first..=last {
            weeks[minute_of_week(hour * SECONDS_AN_HOUR as i64) / 60] += 1.0;
        }
        // A few weeks say little of one hour alone. On the reference trace a forecast learnt from
        // five others leads to 184.6 batches like this, and to 185.3 by itself.
        let rate = |hour: usize| if weeks[hour] > 0.0 { pushes[hour] / weeks[hour] } else { 0.0 };
        let (before, after) = (|hour| (hour + HOURS - 1) % HOURS, |hour| (hour + 1) % HOURS);
        let smooth = |hour: usize| (rate(before(hour)) + 2.0 * rate(hour) + rate(after(hour))) / 4.0;
        Self::new((0..HOURS).map(smooth).collect(), risk / log.len().max(1) as f64)
    }

    /// The mean risk that a push brings.
    pub(super) fn risk_a_push(&self) -> f64 {
        self.risk_a_push
    }

    /// The expected time from this moment (Unix seconds, taken to the minute) to the next push.
    pub(super) fn seconds_to_next(&self, now: i64) -> u32 {
        self.seconds[minute_of_week(now)]
    }
}

fn minute_of_week(now: i64) -> usize {
    now.saturating_add(EPOCH).rem_euclid(SECONDS_A_WEEK) as usize / 60
}

/// For each minute of the week, the expected seconds from its beginning to the next push.
///
/// Within a minute of `p` expected pushes there is none with chance e^(−p),
/// and then the wait of the next minute follows; going twice round the week
/// forgets where it began.
fn waits(pushes_an_hour: &[f64]) -> Vec<f64> {
    let mut waits = vec![0.0; MINUTES];
    let mut next = 0.0;
    for minute in (0..2 * MINUTES).rev().map(|minute| minute % MINUTES) {
        let pushes = pushes_an_hour[minute / 60] / 60.0;
        let none = libm::exp(-pushes);
        let within = if pushes > 0.0 { 60.0 * (1.0 - none) / pushes } else { 60.0 };
        next = within + none * next;
        waits[minute] = next;
    }
    waits
}

impl TryFrom<Rates> for Forecast {
    type Error = BadForecast;

    fn try_from(rates: Rates) -> Result<Self, BadForecast> {
        Self::new(rates.pushes_per_hour, rates.risk_per_push)
    }
}

impl From<Forecast> for Rates {
    fn from(forecast: Forecast) -> Self {
        Self { pushes_per_hour: forecast.pushes_an_hour.to_vec(), risk_per_push: forecast.risk_a_push }
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::{Push, PushId, Score};
    use super::*;

    #[test]
    fn an_even_pace_waits_its_mean_interval() {
        let even = Forecast::new(vec![4.0; HOURS], 0.01).unwrap();
        assert!((0..7 * 24).all(|hour| even.seconds_to_next(hour * 3_600) == 900));
    }

    #[test]
    fn a_quiet_weekend_is_waited_out() {
        // Pushes from Monday to Friday only; the epoch was a Thursday.
        let rates = (0..HOURS).map(|hour| if hour < 120 { 60.0 } else { 0.0 }).collect();
        let forecast = Forecast::new(rates, 0.01).unwrap();
        let friday_night = 2 * 86_400;
        assert_eq!(forecast.seconds_to_next(friday_night), 2 * 86_400 + 60);
        assert_eq!(forecast.seconds_to_next(friday_night - 43_200), 60);
        assert_eq!(forecast.seconds_to_next(-12 * 3_600), 60, "before the epoch");
    }

    #[test]
    fn a_log_is_what_it_foresees() {
        // A push every quarter of an hour, for nine days and a half; the log ends with an hour.
        let push =
            |n: i64| Push { id: PushId(n as u64), at: n * 900, may_batch: true, scores: vec![Score::Risk(0.25)] };
        let log = Log::new((0..9 * 96 + 48).map(push)).unwrap();
        let forecast = Forecast::of(&log).unwrap();
        assert_eq!(forecast.risk_a_push, 0.25);
        let off = forecast.seconds.iter().map(|seconds| seconds.abs_diff(900)).max();
        assert_eq!(off, Some(0));
    }

    #[test]
    fn what_foresees_nothing_is_refused() {
        assert_eq!(Forecast::new(vec![1.0; 24], 0.01), Err(BadForecast::Hours(24)));
        assert_eq!(Forecast::new(vec![0.0; HOURS], 0.01), Err(BadForecast::Nothing));
        assert_eq!(Forecast::new(vec![-1.0; HOURS], 0.01), Err(BadForecast::Rate(-1.0)));
        assert_eq!(Forecast::new(vec![1.0; HOURS], 0.0), Err(BadForecast::Risk(0.0)));
        assert!(Forecast::of(&Log::default()).is_err());
    }
}
