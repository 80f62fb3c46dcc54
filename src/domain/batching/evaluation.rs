//! What a strategy's batches cost on a log: how many there are, and how long risk waited for them.

use std::ops::Range;

use serde::Serialize;

use super::cadence::SECONDS_AN_HOUR;
use super::log::Log;
use super::mass::UNITS;
use super::replay::{Found, Mark};

const HOURS_A_DAY: f64 = 24.0;
const HOURS_A_WEEK: f64 = 168.0;

/// A log as batches on it are measured: by its own risks, whatever the strategy took for risks.
#[derive(Debug, Clone)]
pub struct Yardstick {
    /// The place of the first push that is measured.
    first: usize,
    /// Of each push, since the batch before the first; never falling.
    pub(super) hours: Vec<f64>,
    /// Σ risk of the pushes before each, and of all.
    pub(super) risk: Vec<f64>,
    /// Σ risk · hours, likewise.
    pub(super) moment: Vec<f64>,
    pub(super) may_batch: Vec<bool>,
}

/// Commits after the last batch are left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evaluation {
    pub batches: usize,
    /// Σ risk · delay / Σ risk, in hours: how long a regression waits for its batch.
    pub delay_hours: f64,
    /// The longest time between two batches, in hours.
    pub longest_gap_hours: f64,
}

impl Yardstick {
    /// Of the pushes at `places`, the first of which comes right after the batch `from`.
    pub fn new(log: &Log, from: Mark, places: Range<usize>) -> Self {
        let mut made = Self {
            first: places.start,
            hours: Vec::with_capacity(places.len()),
            risk: vec![0.0],
            moment: vec![0.0],
            may_batch: Vec::with_capacity(places.len()),
        };
        let (mut clock, mut risk, mut moment) = (from.at, 0.0, 0.0);
        for push in &log.entries[places] {
            clock = clock.max(push.at);
            let hours = clock.abs_diff(from.at) as f64 / SECONDS_AN_HOUR;
            risk += push.risk as f64 / UNITS;
            moment += push.risk as f64 / UNITS * hours;
            made.hours.push(hours);
            made.risk.push(risk);
            made.moment.push(moment);
            made.may_batch.push(push.may_batch);
        }
        made
    }

    /// The same without the pushes after the last of these batches, which other batches must not be charged for either.
    pub fn up_to_last(&self, batches: &[Found]) -> Self {
        let pushes = batches.last().map_or(0, |found| found.place + 1 - self.first);
        Self {
            first: self.first,
            hours: self.hours[..pushes].to_vec(),
            risk: self.risk[..=pushes].to_vec(),
            moment: self.moment[..=pushes].to_vec(),
            may_batch: self.may_batch[..pushes].to_vec(),
        }
    }

    /// From the batch before the first push to the last one.
    pub fn days(&self) -> f64 {
        self.hours.last().copied().unwrap_or_default() / HOURS_A_DAY
    }

    pub fn evaluate(&self, batches: &[Found]) -> Evaluation {
        self.measure(batches.iter().map(|found| found.place - self.first))
    }

    /// `batches` are places among the measured pushes.
    pub(super) fn measure(&self, batches: impl IntoIterator<Item = usize>) -> Evaluation {
        let (mut count, mut delay, mut longest) = (0, 0.0, 0.0_f64);
        let (mut first, mut last) = (0, 0.0);
        for place in batches {
            count += 1;
            delay += self.delay(first, place);
            longest = longest.max(self.hours[place] - last);
            (first, last) = (place + 1, self.hours[place]);
        }
        let risk = self.risk[first];
        let delay_hours = if risk > 0.0 { delay / risk } else { 0.0 };
        Evaluation { batches: count, delay_hours, longest_gap_hours: longest }
    }

    /// Σ risk · hours of the pushes from `first` to `batch` if they wait for that one.
    pub(super) fn delay(&self, first: usize, batch: usize) -> f64 {
        let (risk, moment) = (self.risk[batch + 1] - self.risk[first], self.moment[batch + 1] - self.moment[first]);
        (risk * self.hours[batch] - moment).max(0.0)
    }

    /// What each week's batches cost in risk-hours, at this price of a batch.
    pub(super) fn weekly(&self, batches: impl IntoIterator<Item = usize>, price: f64) -> Vec<f64> {
        let week = |hours: f64| (hours / HOURS_A_WEEK) as usize;
        let mut weeks = vec![0.0; self.hours.last().map_or(0, |hours| week(*hours) + 1)];
        let mut first = 0;
        for place in batches {
            weeks[week(self.hours[place])] += price + self.delay(first, place);
            first = place + 1;
        }
        weeks
    }

    /// Each week's cost beside that of the optimum, at this price of a batch:
    /// the greatest such ratio, and that of the sums. Weeks without cost are left out.
    pub fn weekly_against_optimum(&self, batches: &[Found], price: f64) -> (f64, f64) {
        let ours = self.weekly(batches.iter().map(|found| found.place - self.first), price);
        let known = self.up_to_last(batches);
        let optimum = known.weekly(known.optimum(price), price);
        let ratios = ours.iter().zip(&optimum).filter(|(_, best)| **best > 0.0).map(|(ours, best)| ours / best);
        (ratios.fold(0.0, f64::max), ours.iter().sum::<f64>() / optimum.iter().sum::<f64>())
    }

    /// Whether a regressing push (its place in the log) has a batch on it, or
    /// on one of the `within` − 1 pushes after it.
    pub fn catches(&self, batches: &[Found], push: usize, within: usize) -> bool {
        let next = batches.partition_point(|found| found.place < push);
        batches.get(next).is_some_and(|found| found.place < push + within)
    }

    /// The fewest batches that catch every regressing push, `regressions` being their places in the log in order.
    pub fn label_oracle(&self, regressions: &[usize], within: usize) -> usize {
        let (mut batches, mut last) = (0, None);
        for push in regressions.iter().map(|place| place - self.first) {
            if last.is_some_and(|batch| batch >= push) {
                continue;
            }
            let end = (push + within).min(self.may_batch.len());
            if let Some(batch) = (push..end).rev().find(|place| self.may_batch[*place]) {
                (batches, last) = (batches + 1, Some(batch));
            }
        }
        batches
    }
}
