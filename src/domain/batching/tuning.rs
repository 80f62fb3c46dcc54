//! Strategies side by side on the same logs, and the parameter at which one costs or delays as much as another.

use serde::Serialize;
use thiserror::Error;

use super::evaluation::{Evaluation, Yardstick};
use super::log::{BadScore, Log};
use super::parameters::{BadStrategy, Kind, Parameters};
use super::replay::{Found, Mark};
use super::strategy::Strategy;

/// Halvings of a parameter: more than its doubles tell apart.
const HALVINGS: usize = 60;

/// A log with the batch before it, and the yardstick for batches on it.
#[derive(Debug, Clone)]
pub struct Trial {
    pub log: Log,
    pub from: Mark,
    /// The place of the first push after that batch.
    pub first: usize,
    pub yardstick: Yardstick,
}

/// Means over trials.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Mean {
    pub batches: f64,
    /// Σ risk · delay / Σ risk.
    pub delay_hours: f64,
    /// The longest of all, not a mean.
    pub longest_gap_hours: f64,
}

/// Strategies that differ in one parameter: the more of it, the fewer batches.
#[derive(Debug, Clone)]
pub struct Family {
    pub kind: Kind,
    /// What they have in common.
    pub parameters: Parameters,
}

/// One of a family, and what it costs.
#[derive(Debug, Clone)]
pub struct Tuned {
    pub parameter: f64,
    pub strategy: Strategy,
    pub mean: Mean,
}

#[derive(Debug, Clone, PartialEq, Error)]
pub enum BadTuning {
    #[error(transparent)]
    Score(#[from] BadScore),
    #[error(transparent)]
    Strategy(#[from] BadStrategy),
}

impl Trial {
    /// Measured by its own risks.
    pub fn new(log: Log, from: Mark) -> Self {
        let first = log.place_after(from.id);
        let yardstick = Yardstick::new(&log, from, first..log.len());
        Self { log, from, first, yardstick }
    }

    /// # Errors
    /// A score that the strategy needs.
    pub fn batches(&self, strategy: &Strategy) -> Result<Vec<Found>, BadScore> {
        strategy.batches(&self.log, self.from, self.first..self.log.len())
    }

    /// # Errors
    /// A score that the strategy needs.
    pub fn evaluate(&self, strategy: &Strategy) -> Result<Evaluation, BadScore> {
        Ok(self.yardstick.evaluate(&self.batches(strategy)?))
    }
}

/// What a strategy costs on each of the trials, on average.
///
/// # Errors
/// A score that the strategy needs.
pub fn mean(trials: &[Trial], strategy: &Strategy) -> Result<Mean, BadScore> {
    let mut mean = Mean::default();
    for trial in trials {
        let of_trial = trial.evaluate(strategy)?;
        mean.batches += of_trial.batches as f64 / trials.len() as f64;
        mean.delay_hours += of_trial.delay_hours / trials.len() as f64;
        mean.longest_gap_hours = mean.longest_gap_hours.max(of_trial.longest_gap_hours);
    }
    Ok(mean)
}

impl Family {
    /// The one with this much of the parameter.
    ///
    /// # Errors
    /// What a strategy refuses.
    pub fn at(&self, parameter: f64) -> Result<Strategy, BadStrategy> {
        let mut parameters = self.parameters.clone();
        match self.kind {
            Kind::Pushes | Kind::Backstop | Kind::EveryNth | Kind::Expanded => {
                parameters.pushes = Some(self.whole(parameter) as u64);
            }
            Kind::Time => parameters.hours = Some(parameter),
            Kind::Rasb | Kind::RasbLa | Kind::Rapb | Kind::RapbLa => parameters.threshold = Some(parameter),
            Kind::Rdb | Kind::RdbSteady => parameters.price = Some(parameter),
        }
        Strategy::new(self.kind, parameters)
    }

    /// Of ids there are whole numbers only.
    fn whole(&self, parameter: f64) -> f64 {
        match self.kind {
            Kind::Pushes | Kind::Backstop | Kind::EveryNth | Kind::Expanded => parameter.round(),
            Kind::Time | Kind::Rasb | Kind::RasbLa | Kind::Rapb | Kind::RapbLa | Kind::Rdb | Kind::RdbSteady => {
                parameter
            }
        }
    }

    /// From a batch at nearly every push to hardly any.
    pub fn range(&self) -> (f64, f64) {
        match self.kind {
            Kind::Pushes | Kind::Backstop | Kind::EveryNth | Kind::Expanded => (1.0, 1_000.0),
            Kind::Time => (0.01, 1_000.0),
            Kind::Rasb | Kind::Rapb => (1e-6, 1.0 - 1e-6),
            Kind::RasbLa | Kind::RapbLa | Kind::Rdb | Kind::RdbSteady => (1e-6, 1_000.0),
        }
    }

    /// So many of them with their parameters, which are evenly spaced by ratio between two.
    ///
    /// # Errors
    /// What a strategy refuses.
    pub fn sweep(&self, (low, high): (f64, f64), points: usize) -> Result<Vec<(f64, Strategy)>, BadStrategy> {
        let step = libm::log(high / low) / points.saturating_sub(1).max(1) as f64;
        let parameters = (0..points).map(|point| self.whole((low * libm::exp(step * point as f64)).clamp(low, high)));
        parameters.map(|parameter| Ok((parameter, self.at(parameter)?))).collect()
    }

    /// The two neighbours between which the mean stops being `within` what is
    /// asked, if more of the parameter only ever leads out of that: the last
    /// one within, and the first one beyond.
    ///
    /// # Errors
    /// A score that the strategy needs, or a parameter that it refuses.
    pub fn edge(&self, trials: &[Trial], within: impl Fn(&Mean) -> bool) -> Result<[Tuned; 2], BadTuning> {
        let (mut low, mut high) = self.range();
        for _ in 0..HALVINGS {
            let middle = libm::sqrt(low * high);
            if within(&mean(trials, &self.at(middle)?)?) { low = middle } else { high = middle }
        }
        Ok([self.tuned(trials, low)?, self.tuned(trials, high)?])
    }

    fn tuned(&self, trials: &[Trial], parameter: f64) -> Result<Tuned, BadTuning> {
        let parameter = self.whole(parameter);
        let strategy = self.at(parameter)?;
        Ok(Tuned { parameter, mean: mean(trials, &strategy)?, strategy })
    }
}
