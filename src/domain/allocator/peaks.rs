//! How many workers were allocated lately: what a shrink is measured against, however many generations are kept.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::GenerationMade;
use crate::domain::time::Timestamp;

/// A shrink is measured against the most workers in force since this long ago,
/// so that many small writes do not evade the rule.
const WINDOW: Duration = Duration::from_secs(3600);

/// So many distinct workers were in force, until a later generation replaced them.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Peak {
    allocated: u64,
    /// `None`: they are in force.
    until: Option<Timestamp>,
}

/// The most workers in force within any part of the window that ends now.
///
/// What a later generation matched or exceeded is left out, so the numbers
/// fall from the oldest to the newest, and there are never many.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Peaks(VecDeque<Peak>);

impl Peaks {
    /// Notes a new last generation; a forced one makes what was before it forgotten.
    pub(super) fn push(&mut self, made: &GenerationMade, allocated: u64) {
        if made.forced {
            self.0.clear();
        }
        if let Some(last) = self.0.back_mut() {
            last.until = Some(made.time);
        }
        while self.0.front().is_some_and(|peak| !peak.is_within(made.time)) {
            self.0.pop_front();
        }
        while self.0.back().is_some_and(|peak| peak.allocated <= allocated) {
            self.0.pop_back();
        }
        self.0.push_back(Peak { allocated, until: None });
    }

    /// The most distinct workers that were in force at once since an hour
    /// before `now`, or since the last forced generation if that was later.
    pub(super) fn most(&self, now: Timestamp) -> u64 {
        self.0.iter().find(|peak| peak.is_within(now)).map_or(0, |peak| peak.allocated)
    }
}

impl Peak {
    fn is_within(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now.before(WINDOW))
    }
}
