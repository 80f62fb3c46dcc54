//! `rapb_la`: a batch once the aged risks of the waiting commits add up to a threshold.

use super::cadence::{Due, SECONDS_AN_HOUR, Since};
use super::log::Entry;
use super::mass::{self, UNITS};

/// Due when Σ 1 − (1 − risk)·e^(−aging·hours) reaches a threshold. Each stays
/// below 1, so more commits than the threshold must wait.
#[derive(Debug, Clone)]
pub struct RapbLa {
    /// In units of risk.
    risk: u64,
    /// A second.
    aging: f64,
}

/// What gathers, nearly: the exact sum is of whole numbers that change with
/// every second, too many to keep, and needed only close to the threshold.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    commits: u64,
    /// Σ (1 − risk)·e^(−aging·hours).
    survival: f64,
    /// Products that are in it.
    pushes: u64,
}

impl RapbLa {
    /// `threshold` is positive; `aging` is from 0 up, an hour.
    pub(super) fn new(threshold: f64, aging: f64) -> Self {
        Self { risk: mass::linear_threshold(threshold), aging: aging / SECONDS_AN_HOUR }
    }

    /// Units of a risk that has aged. That of a commit that may be good is always less than 1.
    fn aged(&self, risk: f64, seconds: u64) -> u64 {
        let aged = risk - (1.0 - risk) * libm::expm1(-self.aging * seconds as f64);
        if risk < 1.0 { mass::linear(aged).min(UNITS as u64 - 1) } else { UNITS as u64 }
    }

    fn exact(&self, since: &Since<'_>) -> u64 {
        since.risks().map(|(risk, seconds)| self.aged(risk, seconds)).fold(0, u64::saturating_add)
    }
}

impl Due for RapbLa {
    type Waiting = Waiting;

    const READS_SCORES: bool = true;

    fn add(&self, waiting: &mut Waiting, seconds: u64, push: &Entry) {
        waiting.survival *= libm::exp(-self.aging * seconds as f64);
        waiting.survival += f64::from(push.commits) - push.risk as f64 / UNITS;
        waiting.commits += u64::from(push.commits);
        waiting.pushes += 1;
    }

    fn is_due(&self, waiting: &Waiting, since: &Since<'_>) -> bool {
        let commits = waiting.commits as f64;
        let beyond = commits - waiting.survival - self.risk as f64 / UNITS;
        // Each commit is rounded by up to two units, each product by three parts in 2⁵³.
        let doubt = commits * (3.0 / UNITS + waiting.pushes as f64 * f64::EPSILON * 2.0);
        if beyond.abs() > doubt { beyond > 0.0 } else { self.exact(since) >= self.risk }
    }

    fn score(&self, _: &Waiting, since: &Since<'_>) -> f64 {
        self.exact(since) as f64 / UNITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aged_risk_never_reaches_one() {
        let cadence = RapbLa::new(1.0, 0.5);
        assert_eq!(cadence.aged(0.02, u64::MAX), UNITS as u64 - 1);
        assert_eq!(cadence.aged(1.0, 0), UNITS as u64);
        assert_eq!(cadence.aged(0.1, 0), mass::linear(0.1));
    }
}
