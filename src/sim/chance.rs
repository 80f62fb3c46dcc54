//! Chance that is the same on every platform, bit for bit, since all of it follows from a seed.

use std::f64::consts::TAU;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
///
/// Logarithms and the like come from `libm`: those of the standard library are
/// the platform's, and differ in their last bits.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Another source of chance, whose draws these do not depend on.
    pub(crate) fn split(&mut self) -> Self {
        Self(self.bits())
    }

    /// From 0 to below 1, evenly.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True so many times in 1,000.
    pub(crate) fn in_thousand(&mut self, times: u32) -> bool {
        self.unit() * 1_000.0 < f64::from(times)
    }

    /// The wait for the next of events that come on their own, `mean` apart (inverse transform).
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Positive and skewed, as run times are; `sigma` is the deviation of the logarithm.
    /// The normal deviate is of Box and Muller (A note on the generation of random normal deviates, 1958).
    pub(crate) fn log_normal(&mut self, mean: f64, sigma: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        let normal = radius * libm::cos(TAU * self.unit());
        mean * libm::exp(sigma * normal - sigma * sigma / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of many draws.
    fn mean(mut draw: impl FnMut(&mut Chance) -> f64) -> f64 {
        const DRAWS: u32 = 100_000;
        let mut chance = Chance::seeded(7);
        (0..DRAWS).map(|_| draw(&mut chance)).sum::<f64>() / f64::from(DRAWS)
    }

    #[test]
    fn draws_have_the_mean_that_was_asked_for() {
        assert!((mean(Chance::unit) - 0.5).abs() < 0.005);
        assert!((mean(|chance| f64::from(chance.in_thousand(250))) - 0.25).abs() < 0.005);
        assert!((mean(|chance| chance.exponential(10.0)) - 10.0).abs() < 0.1);
        assert!((mean(|chance| chance.log_normal(10.0, 0.4)) - 10.0).abs() < 0.1);
        let above_median = mean(|chance| f64::from(chance.log_normal(10.0, 0.4) > 10.0 * libm::exp(-0.08)));
        assert!((above_median - 0.5).abs() < 0.005, "{above_median}");
    }

    /// The first outputs of the authors' reference implementation for this seed.
    #[test]
    fn bits_are_those_of_the_reference() {
        let mut chance = Chance::seeded(1_234_567);
        let bits: Vec<u64> = (0..3).map(|_| chance.bits()).collect();
        assert_eq!(bits, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
