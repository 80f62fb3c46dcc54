//! The place of a job in the order: one constant key, so that no heap is ever re-keyed.

use super::job::{JobId, JobSpec};
use crate::domain::fleet::{JobClass, Seconds};
use crate::domain::time::Timestamp;

/// `(class, submitted_at + a · priority, submitted_at, id)`, or with strict
/// priority `(class, priority, submitted_at, id)`; smaller goes first.
///
/// Waiting counts the same for every job, so two keys never change places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    class: JobClass,
    /// Microseconds, or a priority.
    rank: i64,
    submitted_at: Timestamp,
    pub id: JobId,
}

/// How waiting and priority are weighed against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ageing {
    #[default]
    /// Priority alone, then age.
    Strict,
    /// So many microseconds of waiting outweigh one priority step; more than 0.
    MicrosPerPriority(i64),
}

impl From<Seconds> for Ageing {
    fn from(Seconds(seconds): Seconds) -> Self {
        match (seconds * 1e6).round() as i64 {
            micros if micros > 0 => Self::MicrosPerPriority(micros),
            _ => Self::Strict,
        }
    }
}

impl Key {
    /// Class and priority (with ageing, class and rank).
    pub(super) fn level(&self) -> (JobClass, i64) {
        (self.class, self.rank)
    }

    pub(super) fn is_level_with(&self, other: Self) -> bool {
        self.level() == other.level()
    }

    pub(super) fn submitted_at(&self) -> Timestamp {
        self.submitted_at
    }
}

impl Ageing {
    pub fn key(self, id: JobId, spec: &JobSpec) -> Key {
        self.place(id, spec.class, spec.priority, spec.submitted_at)
    }

    /// The same for a job that may have ended.
    pub fn place(self, id: JobId, class: JobClass, priority: i64, submitted_at: Timestamp) -> Key {
        let rank = match self {
            Self::Strict => priority,
            Self::MicrosPerPriority(micros) => {
                submitted_at.unix_micros().saturating_add(micros.saturating_mul(priority))
            }
        };
        Key { class, rank, submitted_at, id }
    }
}
