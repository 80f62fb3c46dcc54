//! Risks as whole numbers, so that a sum does not depend on its order and a tie is one everywhere.
//!
//! The unit is 2⁻⁴⁰, of a risk or of a nat: −ln(1 − risk), which adds up where
//! chances of no regression multiply. What is summed is rounded up and what it
//! must reach is rounded down, so a tie is always due.

/// Units in 1.
pub(super) const UNITS: f64 = (1_u64 << 40) as f64;

/// Nats of a certain regression: more than of any threshold below 1, which have 37 at most.
const CERTAIN: u64 = 1 << 50;

/// Units of −ln(1 − risk), for a risk from 0 to 1.
pub(super) fn nats(risk: f64) -> u64 {
    if risk == 1.0 { CERTAIN } else { (-libm::log1p(-risk) * UNITS).ceil() as u64 }
}

/// Units of the risk itself, from 0 to 1.
pub(super) fn linear(risk: f64) -> u64 {
    (risk * UNITS).ceil() as u64
}

/// Units that nats must reach for the chance of a regression to be `threshold`, from 0 to below 1.
pub(super) fn nats_threshold(threshold: f64) -> u64 {
    (-libm::log1p(-threshold) * UNITS).floor() as u64
}

/// Units that a sum must reach to be `threshold`, which is positive.
pub(super) fn linear_threshold(threshold: f64) -> u64 {
    (threshold * UNITS).floor() as u64
}

/// The chance of a regression among what has these units of nats.
pub(super) fn chance(nats: f64) -> f64 {
    -libm::expm1(-nats / UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_up_and_what_they_must_reach_down() {
        for share in [0.1, 0.3, 0.51, 0.7] {
            assert_eq!(nats(share), nats_threshold(share) + 1);
            assert_eq!(linear(share), linear_threshold(share) + 1);
        }
        assert_eq!((nats(0.0), linear(0.25), linear_threshold(0.25)), (0, 1 << 38, 1 << 38));
        assert!(nats(1.0) > nats_threshold(1.0 - f64::EPSILON / 2.0));
    }
}
