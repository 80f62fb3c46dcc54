//! The options of giving out jobs: each may stand in `[farm]`, in a pool and in a builder rule, and the narrower one wins.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::definition::{Seconds, WorkerClass};

/// How long a claim lives without a heartbeat, where nothing else is said.
const LEASE: Seconds = Seconds(60.0);

/// How often a job may start before it is given up, where nothing else is said.
const MAX_ATTEMPTS: u32 = 5;

/// So many exceptions in a row quarantine a worker, where nothing else is said.
const QUARANTINE_AFTER: u32 = 3;

/// What one place of the farm file says; `None` leaves it to the wider place,
/// and where none says it, the option is off or has its default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// A dedicated job that has waited so long may also use the pool's workers that no builder has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow_after: Option<Seconds>,
    /// A dedicated worker that had no job for so long may take those of the pool's builders without an allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lend_after: Option<Seconds>,
    /// Which classes of workers go first; those not named go last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefer: Option<Vec<WorkerClass>>,
    /// A job that has waited for less takes only the first preferred class, if its worker set has any of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inhouse_wait: Option<Seconds>,
    /// A job starts only if so many more copies of it could start, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserve: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_empty_set: Option<OnEmptySet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmth: Option<Warmth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantine_after: Option<u32>,
}

/// What happens when every worker of an allocation is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnEmptySet {
    /// Its jobs wait.
    #[default]
    Hold,
    /// It is taken back, so that its jobs use the workers that no builder has.
    Pool,
}

/// Which of the suitable workers goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmth {
    /// The one on which the builder succeeded last.
    #[default]
    RecentSuccess,
    /// The first by name.
    None,
}

impl Options {
    /// What is not said here is taken from a wider place.
    pub fn or(&self, wider: &Self) -> Self {
        Self {
            overflow_after: self.overflow_after.or(wider.overflow_after),
            lend_after: self.lend_after.or(wider.lend_after),
            prefer: self.prefer.as_ref().or(wider.prefer.as_ref()).cloned(),
            inhouse_wait: self.inhouse_wait.or(wider.inhouse_wait),
            reserve: self.reserve.or(wider.reserve),
            on_empty_set: self.on_empty_set.or(wider.on_empty_set),
            warmth: self.warmth.or(wider.warmth),
            lease: self.lease.or(wider.lease),
            max_attempts: self.max_attempts.or(wider.max_attempts),
            quarantine_after: self.quarantine_after.or(wider.quarantine_after),
        }
    }

    pub fn lease(&self) -> Duration {
        self.lease.unwrap_or(LEASE).into()
    }

    pub fn max_attempts(&self) -> u32 {
        self.max_attempts.unwrap_or(MAX_ATTEMPTS)
    }

    pub fn quarantine_after(&self) -> u32 {
        self.quarantine_after.unwrap_or(QUARANTINE_AFTER)
    }

    /// The place of a class among those that go first; smaller goes first.
    pub fn preference(&self, class: WorkerClass) -> usize {
        let preferred = self.prefer.as_deref().unwrap_or_default();
        preferred.iter().position(|listed| *listed == class).unwrap_or(preferred.len())
    }

    /// Every fault of what is said here, with the key that has it.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let spans = [
            ("overflow_after", self.overflow_after),
            ("lend_after", self.lend_after),
            ("inhouse_wait", self.inhouse_wait),
        ];
        for (key, span) in spans {
            found.extend(span.and_then(Seconds::problem).map(|message| (key, message)));
        }
        if let Some(Seconds(seconds)) = self.lease
            && !(1.0..=MAX_LEASE_SECONDS).contains(&seconds)
        {
            found.push(("lease", format!("from 1 to {MAX_LEASE_SECONDS} seconds, not {seconds}")));
        }
        for (key, number) in [("max_attempts", self.max_attempts), ("quarantine_after", self.quarantine_after)] {
            if number == Some(0) {
                found.push((key, "at least 1".to_owned()));
            }
        }
        if let Some(preferred) = &self.prefer {
            let twice = preferred.iter().enumerate().find(|(at, class)| preferred[..*at].contains(class));
            if let Some((_, class)) = twice {
                found.push(("prefer", format!("{class} is listed a second time")));
            } else if preferred.is_empty() {
                found.push(("prefer", "names no class".to_owned()));
            }
        }
        found
    }
}

/// The longest lease, in seconds: a day, after which nobody believes that a worker still runs.
const MAX_LEASE_SECONDS: f64 = 86_400.0;
