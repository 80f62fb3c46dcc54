//! The pushes of a branch, in the form in which a replay reads them.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::mass;
use super::replay::Mark;

/// The place of a push in its branch's pushlog: rising, with gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PushId(pub u64);

impl fmt::Display for PushId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is known of the risk of a commit that is to be scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// The chance that it holds a regression, from 0 to 1; anything else fails who reads it.
    Risk(f64),
    /// Not there yet.
    Missing,
}

/// A push as it is given. Commits that are not scored by design are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    pub id: PushId,
    /// Unix seconds.
    pub at: i64,
    /// Whether the whole suite may run on it; see [`may_batch`].
    pub may_batch: bool,
    pub scores: Vec<Score>,
}

/// Whether the whole suite may run on a push with this head commit message.
pub fn may_batch(message: &str) -> bool {
    !message.contains("DONTBUILD")
}

/// A score that no risk cadence can use. It is known by the push, and later runs look again.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum BadScore {
    #[error("push {0} cannot be decided yet: a risk of its commits is missing")]
    Missing(PushId),
    #[error("push {push}: a risk is a number from 0 to 1, not {risk}")]
    NoRisk { push: PushId, risk: f64 },
}

impl BadScore {
    pub fn push(self) -> PushId {
        match self {
            Self::Missing(push) | Self::NoRisk { push, .. } => push,
        }
    }
}

/// Why pushes are no log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadLog {
    #[error("push {0} is there twice")]
    Twice(PushId),
    #[error("push {id} comes after push {after}: a log is in the order of its ids")]
    Unsorted { id: PushId, after: PushId },
}

/// Pushes in the order of their ids.
#[derive(Debug, Clone, Default)]
pub struct Log {
    pub(super) entries: Vec<Entry>,
    /// Of all commits, those of one push after those of the one before it.
    risks: Vec<f64>,
    bad: Vec<BadScore>,
}

/// A push as a replay reads it, 48 bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub id: PushId,
    /// Unix seconds.
    pub at: i64,
    /// The sum of its commits, in units of nats.
    pub nats: u64,
    /// The sum of its commits, in units of risk.
    pub risk: u64,
    /// Scored commits.
    pub commits: u32,
    /// Where its risks begin among all.
    first_risk: u32,
    pub may_batch: bool,
    pub has_bad_score: bool,
}

impl Log {
    /// # Errors
    /// Ids that do not rise.
    pub fn new(pushes: impl IntoIterator<Item = Push>) -> Result<Self, BadLog> {
        let mut log = Self::default();
        for push in pushes {
            log.add(&push)?;
        }
        Ok(log)
    }

    /// # Errors
    /// An id that is not beyond the last one.
    pub fn add(&mut self, push: &Push) -> Result<(), BadLog> {
        match self.entries.last() {
            Some(last) if last.id == push.id => return Err(BadLog::Twice(push.id)),
            Some(last) if last.id > push.id => return Err(BadLog::Unsorted { id: push.id, after: last.id }),
            Some(_) | None => {}
        }
        let first_risk = self.risks.len();
        let mut bad = None;
        for score in &push.scores {
            match *score {
                Score::Risk(risk) if (0.0..=1.0).contains(&risk) => self.risks.push(risk),
                Score::Risk(risk) => bad = Some(BadScore::NoRisk { push: push.id, risk }),
                Score::Missing => bad = bad.or(Some(BadScore::Missing(push.id))),
            }
        }
        let risks = &self.risks[first_risk..];
        self.entries.push(Entry {
            id: push.id,
            at: push.at,
            nats: risks.iter().map(|risk| mass::nats(*risk)).fold(0, u64::saturating_add),
            risk: risks.iter().map(|risk| mass::linear(*risk)).fold(0, u64::saturating_add),
            commits: risks.len() as u32,
            first_risk: first_risk as u32,
            may_batch: push.may_batch,
            has_bad_score: bad.is_some(),
        });
        self.bad.extend(bad);
        Ok(())
    }

    /// How many pushes there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn ids(&self) -> impl ExactSizeIterator<Item = PushId> {
        self.entries.iter().map(|entry| entry.id)
    }

    /// The first place whose push has this id or a later one.
    pub(super) fn place_from(&self, id: PushId) -> usize {
        self.entries.partition_point(|entry| entry.id < id)
    }

    /// The first place whose push has a later id.
    pub(super) fn place_after(&self, id: PushId) -> usize {
        self.entries.partition_point(|entry| entry.id <= id)
    }

    /// The first push that may be a batch, as the batch that a replay of the others starts from.
    pub fn first_batch(&self) -> Option<Mark> {
        self.entries.iter().find(|entry| entry.may_batch).map(|entry| Mark { id: entry.id, at: entry.at })
    }

    /// The place of a push.
    pub fn place_of(&self, id: PushId) -> Option<usize> {
        self.entries.binary_search_by_key(&id, |entry| entry.id).ok()
    }

    pub(super) fn risks(&self, entry: &Entry) -> &[f64] {
        let first = entry.first_risk as usize;
        &self.risks[first..first + entry.commits as usize]
    }

    /// What is wrong with the scores of the push at a place that has such.
    pub(super) fn bad_score(&self, place: usize) -> BadScore {
        let id = self.entries[place].id;
        self.bad.iter().copied().find(|bad| bad.push() == id).unwrap_or(BadScore::Missing(id))
    }
}
