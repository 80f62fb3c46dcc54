//! Pushes on a clock whose every second is defined, so that figures of two programs can be compared.

use std::f64::consts::TAU;

use super::chance::Chance;

const HOURS_A_DAY: usize = 24;
const HOURS_A_WEEK: usize = 7 * HOURS_A_DAY;

/// Of a mean day of the week.
const PUSHES_A_DAY: f64 = 79.0;

/// How far the day's pace swings about its mean, least of all at two in the morning.
const SWING: f64 = 0.6;

/// A day of the weekend beside a working day.
const WEEKEND: f64 = 0.25;

/// A Monday, 00:00 UTC, in Unix seconds.
const MONDAY: i64 = 345_600;

/// The mean number of pushes in each hour of a week, from Monday 00:00 on.
pub fn pushes_an_hour() -> Vec<f64> {
    let weight = |hour: usize| {
        let of_day = (hour % HOURS_A_DAY) as f64;
        let day = if hour < 5 * HOURS_A_DAY { 1.0 } else { WEEKEND };
        day * (1.0 + SWING * libm::sin(TAU * (of_day - 8.0) / 24.0))
    };
    let sum: f64 = (0..HOURS_A_WEEK).map(weight).sum();
    (0..HOURS_A_WEEK).map(|hour| weight(hour) * 7.0 * PUSHES_A_DAY / sum).collect()
}

/// The dates of so many pushes in Unix seconds, the first of them on a Monday.
///
/// A Poisson process by its inverse: pushes come when the number that is
/// expected by then reaches a sum of exponential numbers of mean 1.
pub fn push_dates(count: usize, seed: u64) -> Vec<i64> {
    let rates = pushes_an_hour();
    let mut chance = Chance::seeded(seed);
    let (mut hour, mut before_hour, mut expected) = (0, 0.0, 0.0);
    let date = |_| {
        expected += chance.exponential(1.0);
        while before_hour + rates[hour % HOURS_A_WEEK] < expected {
            before_hour += rates[hour % HOURS_A_WEEK];
            hour += 1;
        }
        let hours = hour as f64 + (expected - before_hour) / rates[hour % HOURS_A_WEEK];
        MONDAY + (hours * 3_600.0).round() as i64
    };
    (0..count).map(date).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_dates_are_known() {
        let dates: Vec<i64> = push_dates(3, 0).iter().map(|date| date - MONDAY).collect();
        assert_eq!(dates, [3_877, 5_032, 5_086]);
    }

    #[test]
    fn a_week_has_its_pushes() {
        let dates = push_dates(79 * 7 * 100, 1);
        let weeks = (dates[dates.len() - 1] - MONDAY) as f64 / 604_800.0;
        assert!((weeks - 100.0).abs() < 2.0, "{weeks}");
    }
}
