//! `rapb`: as `rasb`, with risks that grow while their commits wait, so that nobody waits for ever.

use super::cadence::{Due, SECONDS_AN_HOUR, Since};
use super::log::Entry;
use super::mass::{self, UNITS};

/// Due when 1 − Π(1 − risk)·e^(−aging·hours) reaches a threshold: when
/// Σ −ln(1 − risk) + aging · Σ hours does.
#[derive(Debug, Clone)]
pub struct Rapb {
    /// In units of nats.
    nats: u64,
    aging: Aging,
}

/// What gathers: nats of the commits as they came, and their age.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Units of nats.
    nats: u64,
    commits: u64,
    /// Σ seconds waited.
    seconds: u64,
}

impl Rapb {
    /// `threshold` lies between 0 and 1; `aging` is from 0 up, an hour.
    pub(super) fn new(threshold: f64, aging: f64) -> Self {
        Self { nats: mass::nats_threshold(threshold), aging: Aging::new(aging) }
    }
}

impl Due for Rapb {
    type Waiting = Waiting;

    const READS_SCORES: bool = true;

    fn add(&self, waiting: &mut Waiting, seconds: u64, push: &Entry) {
        waiting.seconds = waiting.seconds.saturating_add(waiting.commits.saturating_mul(seconds));
        waiting.commits += u64::from(push.commits);
        waiting.nats = waiting.nats.saturating_add(push.nats);
    }

    fn is_due(&self, waiting: &Waiting, _: &Since<'_>) -> bool {
        match self.nats.checked_sub(waiting.nats) {
            None | Some(0) => true,
            Some(lacking) => self.aging.makes_up_for(lacking, waiting.seconds),
        }
    }

    fn score(&self, waiting: &Waiting, _: &Since<'_>) -> f64 {
        mass::chance(waiting.nats as f64 + self.aging.hourly * waiting.seconds as f64 / SECONDS_AN_HOUR * UNITS)
    }
}

/// A rate as the exact number that its double is: `significand` · 2^`exponent`.
#[derive(Debug, Clone)]
struct Aging {
    hourly: f64,
    significand: u64,
    exponent: i32,
}

impl Aging {
    fn new(hourly: f64) -> Self {
        let bits = hourly.to_bits();
        let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let (significand, exponent) =
            if biased == 0 { (fraction, -1_074) } else { (fraction | 1 << 52, biased - 1_075) };
        Self { hourly, significand, exponent }
    }

    /// Whether ⌈rate · seconds / 3600 · 2⁴⁰⌉ reaches `lacking`, which is not 0:
    /// whether rate · seconds · 2⁴⁰ exceeds 3600 · (`lacking` − 1), in whole numbers.
    fn makes_up_for(&self, lacking: u64, seconds: u64) -> bool {
        let aged = u128::from(self.significand) * u128::from(seconds);
        let needed = u128::from(lacking - 1) * SECONDS_AN_HOUR as u128;
        match self.exponent + 40 {
            left @ 0.. => aged > needed.unbounded_shr(left as u32),
            right => {
                let right = right.unsigned_abs();
                let whole = aged.unbounded_shr(right);
                whole > needed || whole == needed && whole.unbounded_shl(right) != aged
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aging_is_exact_where_doubles_are_not() {
        // 1 an hour for 3,600 s is one nat, which is 2⁴⁰ units and not one more.
        let one = Aging::new(1.0);
        assert!(one.makes_up_for(1 << 40, 3_600));
        assert!(!one.makes_up_for((1 << 40) + 1, 3_600));
        // A third of a unit is rounded up to one.
        assert!(Aging::new(1.0 / UNITS).makes_up_for(1, 1_200));
        assert!(!Aging::new(1.0 / UNITS).makes_up_for(2, 3_600));
        assert!(Aging::new(1.0 / UNITS).makes_up_for(2, 3_601));
    }

    #[test]
    fn every_rate_has_an_answer() {
        for (hourly, due) in [(0.0, false), (5e-324, true), (1e-300, true), (f64::MAX, true)] {
            assert_eq!(Aging::new(hourly).makes_up_for(1, 1), due, "{hourly}");
        }
        assert!(!Aging::new(5e-324).makes_up_for(2, u64::MAX));
        assert!(Aging::new(f64::MAX).makes_up_for(u64::MAX, 1));
    }
}
