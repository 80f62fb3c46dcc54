//! What a strategy is told: the name of its cadence, and the numbers that this one takes.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::forecast::Forecast;

/// The cadences by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Pushes,
    Time,
    Backstop,
    EveryNth,
    Expanded,
    Rasb,
    RasbLa,
    Rapb,
    RapbLa,
    Rdb,
    RdbSteady,
}

impl Kind {
    pub const ALL: [Self; 11] = [
        Self::Pushes,
        Self::Time,
        Self::Backstop,
        Self::EveryNth,
        Self::Expanded,
        Self::Rasb,
        Self::RasbLa,
        Self::Rapb,
        Self::RapbLa,
        Self::Rdb,
        Self::RdbSteady,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pushes => "pushes",
            Self::Time => "time",
            Self::Backstop => "backstop",
            Self::EveryNth => "every_nth",
            Self::Expanded => "expanded",
            Self::Rasb => "rasb",
            Self::RasbLa => "rasb_la",
            Self::Rapb => "rapb",
            Self::RapbLa => "rapb_la",
            Self::Rdb => "rdb",
            Self::RdbSteady => "rdb_steady",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where pushes go to, as far as a backstop cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// Batches as the backstop says.
    #[default]
    Integration,
    /// Every push is a batch.
    Other,
    /// No push is one.
    Try,
}

/// The parameters of all cadences; each takes its own, and refuses the others.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Parameters {
    /// Pushlog ids, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pushes: Option<u64>,
    /// At least a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<f64>,
    /// A chance between 0 and 1; of linear forms, a positive sum of risks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// An hour, from 0 up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aging: Option<f64>,
    /// Of a batch, in risk-hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// Every chain of batches begins anew in each block of so many ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<NonZeroU64>,
}

/// What is wrong with one parameter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{parameter}: {problem}")]
pub struct BadParameter {
    pub parameter: &'static str,
    pub problem: String,
}

/// All that is wrong with the parameters of a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct BadStrategy(pub Vec<BadParameter>);

impl fmt::Display for BadStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&faults.join("; "))
    }
}

/// Takes parameters one by one, and notes every fault on the way. What is
/// missing or wrong is replaced by a stand-in, so that the rest is looked at too.
pub(super) struct Taking {
    kind: Kind,
    left: Parameters,
    faults: Vec<BadParameter>,
}

impl Taking {
    pub fn from(kind: Kind, parameters: Parameters) -> Self {
        Self { kind, left: parameters, faults: Vec::new() }
    }

    pub fn pushes(&mut self) -> NonZeroU64 {
        let given = self.left.pushes.take();
        let given = self.needed("pushes", given);
        self.checked("pushes", given.map(NonZeroU64::new), "a whole number from 1 up", NonZeroU64::MIN)
    }

    /// Whole seconds.
    pub fn hours(&mut self) -> u64 {
        let given = self.left.hours.take();
        let seconds = |hours: f64| (hours * 3_600.0).round();
        let given = self
            .needed("hours", given)
            .map(|hours| (hours.is_finite() && seconds(hours) >= 1.0).then(|| seconds(hours) as u64));
        self.checked("hours", given, "a number of hours, of one second at least", 1)
    }

    pub fn chance(&mut self) -> f64 {
        let given = self.left.threshold.take();
        let given = self.needed("threshold", given).map(|t| (t > 0.0 && t < 1.0).then_some(t));
        self.checked("threshold", given, "a number between 0 and 1, neither of them", 0.5)
    }

    pub fn sum(&mut self) -> f64 {
        let given = self.left.threshold.take();
        self.positive("threshold", given)
    }

    pub fn price(&mut self) -> f64 {
        let given = self.left.price.take();
        self.positive("price", given)
    }

    pub fn aging(&mut self) -> f64 {
        let given = self.left.aging.take();
        let given = self.needed("aging", given).map(|a| (a.is_finite() && a >= 0.0).then_some(a));
        self.checked("aging", given, "a number from 0 up", 0.0)
    }

    pub fn forecast(&mut self) -> Option<Forecast> {
        self.left.forecast.take()
    }

    pub fn needed_forecast(&mut self) -> Option<Forecast> {
        let given = self.left.forecast.take();
        self.needed("forecast", given)
    }

    pub fn branch(&mut self) -> Branch {
        self.left.branch.take().unwrap_or_default()
    }

    pub fn anchor(&mut self) -> Option<NonZeroU64> {
        self.left.anchor.take()
    }

    /// # Errors
    /// All faults, among them parameters that nobody took.
    pub fn finish<T>(mut self, made: T) -> Result<T, BadStrategy> {
        let Parameters { pushes, hours, threshold, aging, price, forecast, branch, anchor } = &self.left;
        let left = [
            ("pushes", pushes.is_some()),
            ("hours", hours.is_some()),
            ("threshold", threshold.is_some()),
            ("aging", aging.is_some()),
            ("price", price.is_some()),
            ("forecast", forecast.is_some()),
            ("branch", branch.is_some()),
            ("anchor", anchor.is_some()),
        ];
        for (parameter, _) in left.into_iter().filter(|(_, is_left)| *is_left) {
            self.faults.push(BadParameter { parameter, problem: format!("{} takes none", self.kind) });
        }
        if self.faults.is_empty() { Ok(made) } else { Err(BadStrategy(self.faults)) }
    }

    fn positive(&mut self, parameter: &'static str, given: Option<f64>) -> f64 {
        let given = self.needed(parameter, given).map(|x| (x.is_finite() && x > 0.0).then_some(x));
        self.checked(parameter, given, "a number above 0", 1.0)
    }

    fn needed<T>(&mut self, parameter: &'static str, given: Option<T>) -> Option<T> {
        if given.is_none() {
            self.faults.push(BadParameter { parameter, problem: format!("{} needs one", self.kind) });
        }
        given
    }

    /// `given` is `Some(None)` for a value that is there, and is wrong.
    fn checked<T>(&mut self, parameter: &'static str, given: Option<Option<T>>, wanted: &str, stand_in: T) -> T {
        if let Some(None) = given {
            self.faults.push(BadParameter { parameter, problem: format!("{} takes {wanted}", self.kind) });
        }
        given.flatten().unwrap_or(stand_in)
    }
}
