//! Calibration: risks that mean what they say, from commits of which it is known whether they regressed.

use serde::Serialize;
use thiserror::Error;

/// Newton's method doubles the right digits in each step.
const STEPS: usize = 50;

/// A commit whose fate is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelled {
    /// As it was predicted, from 0 to 1.
    pub risk: f64,
    pub regressed: bool,
}

/// A risk becomes 1 / (1 + e^−(slope · logit + intercept)) (Platt: Probabilistic
/// outputs for support vector machines, 1999; without his smoothing of the labels).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibration {
    pub slope: f64,
    pub intercept: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadLabels {
    #[error("a calibration needs commits that regressed and commits that did not")]
    OneKind,
    #[error("a threshold tells the commits that regressed from the others without a fault: no slope is steep enough")]
    Separable,
}

impl Calibration {
    /// The likeliest, by Newton's method on a log-likelihood that has one top only.
    ///
    /// # Errors
    /// Labels without such a top.
    pub fn fit(commits: &[Labelled]) -> Result<Self, BadLabels> {
        let regressed = commits.iter().filter(|commit| commit.regressed).count();
        if regressed == 0 || regressed == commits.len() {
            return Err(BadLabels::OneKind);
        }
        let points: Vec<_> =
            commits.iter().map(|commit| (logit(commit.risk), f64::from(u8::from(commit.regressed)))).collect();
        let mut fit = Self { slope: 0.0, intercept: logit(regressed as f64 / commits.len() as f64) };
        for _ in 0..STEPS {
            let (mut g0, mut g1, mut h00, mut h01, mut h11) = (0.0, 0.0, 0.0, 0.0, 0.0);
            for (x, label) in &points {
                let p = logistic(fit.slope * x + fit.intercept);
                let (miss, weight) = (label - p, p * (1.0 - p));
                (g0, g1) = (g0 + miss, g1 + miss * x);
                (h00, h01, h11) = (h00 + weight, h01 + weight * x, h11 + weight * x * x);
            }
            let determinant = h00 * h11 - h01 * h01;
            fit.intercept += (h11 * g0 - h01 * g1) / determinant;
            fit.slope += (h00 * g1 - h01 * g0) / determinant;
        }
        if fit.slope.is_finite() && fit.intercept.is_finite() { Ok(fit) } else { Err(BadLabels::Separable) }
    }

    /// What a predicted risk from 0 to 1 means.
    pub fn apply(&self, risk: f64) -> f64 {
        logistic(self.slope * logit(risk) + self.intercept)
    }
}

/// Of a certain thing it is that of the nearest doubles that are not.
fn logit(risk: f64) -> f64 {
    let risk = risk.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0);
    libm::log(risk) - libm::log1p(-risk)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(risk: f64, regressed: usize, sound: usize) -> Vec<Labelled> {
        let commit = |regressed| Labelled { risk, regressed };
        std::iter::repeat_n(commit(true), regressed).chain(std::iter::repeat_n(commit(false), sound)).collect()
    }

    #[test]
    fn two_groups_are_told_their_shares() {
        let fit = Calibration::fit(&[labelled(0.5, 2, 18), labelled(0.1, 1, 99)].concat()).unwrap();
        assert!((fit.apply(0.5) - 0.1).abs() < 1e-12 && (fit.apply(0.1) - 0.01).abs() < 1e-12, "{fit:?}");
        assert!(fit.apply(0.0) >= 0.0 && fit.apply(1.0) <= 1.0);
    }

    #[test]
    fn labels_that_teach_nothing_are_refused() {
        assert_eq!(Calibration::fit(&labelled(0.5, 0, 3)), Err(BadLabels::OneKind));
        assert_eq!(Calibration::fit(&[labelled(0.9, 3, 0), labelled(0.1, 0, 3)].concat()), Err(BadLabels::Separable));
    }
}
