//! When people push: the cycles of a day and of a week.
//!
//! The shape is ours: developers all over the world, most of them in America,
//! and a third of a working day's pushes on a day of the weekend.

pub(super) const SECONDS_A_DAY: i64 = 86_400;
const SECONDS_AN_HOUR: i64 = 3_600;

/// From Monday on, in percent of the mean of Monday to Friday.
const DAYS: [u32; 7] = [95, 105, 107, 104, 89, 35, 30];

/// From midnight UTC on; only the proportions count.
const HOURS: [u32; 24] =
    [125, 105, 90, 75, 65, 60, 60, 65, 75, 80, 80, 80, 85, 95, 110, 125, 140, 150, 155, 155, 150, 145, 140, 135];

/// How fast pushes come at a moment (Unix seconds), beside the mean of Monday to Friday.
pub(super) fn pace(at: i64) -> f64 {
    let day = at.div_euclid(SECONDS_A_DAY);
    // The epoch was a Thursday.
    let weekday = (day + 3).rem_euclid(7);
    let hour = at.rem_euclid(SECONDS_A_DAY) / SECONDS_AN_HOUR;
    f64::from(DAYS[weekday as usize]) / 100.0 * f64::from(HOURS[hour as usize]) / mean(&HOURS)
}

/// The fastest that it ever is.
pub(super) fn peak_pace() -> f64 {
    let most = |parts: &[u32]| parts.iter().copied().max().map_or(0.0, f64::from);
    most(&DAYS) / 100.0 * most(&HOURS) / mean(&HOURS)
}

fn mean(parts: &[u32]) -> f64 {
    f64::from(parts.iter().sum::<u32>()) / parts.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Midnight, Monday 2 June 2014.
    const MONDAY: i64 = 1_401_667_200;

    fn mean_pace_of_day(day: i64) -> f64 {
        let hours = (0..24).map(|hour| pace(MONDAY + day * SECONDS_A_DAY + hour * SECONDS_AN_HOUR));
        hours.sum::<f64>() / 24.0
    }

    #[test]
    fn working_days_are_the_measure() {
        let working = (0..5).map(mean_pace_of_day).sum::<f64>() / 5.0;
        assert!((working - 1.0).abs() < 1e-9, "{working}");
        assert!((mean_pace_of_day(5) - 0.35).abs() < 1e-9);
        assert!((mean_pace_of_day(-1) - 0.30).abs() < 1e-9);
    }

    #[test]
    fn no_hour_of_a_week_is_faster_than_the_peak() {
        let fastest = (0..7 * 24).map(|hour| pace(MONDAY + hour * SECONDS_AN_HOUR)).fold(0.0, f64::max);
        assert!((fastest - peak_pace()).abs() < 1e-12);
    }
}
