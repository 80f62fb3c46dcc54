//! The replay: from a batch on, push by push, a batch wherever one is due.

use std::num::NonZeroU64;
use std::ops::Range;

use super::cadence::{Due, Since};
use super::log::{BadScore, Log, PushId};

/// The batch that a replay starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub id: PushId,
    /// Its date in Unix seconds; pushes with an earlier one count as of then.
    pub at: i64,
}

/// A batch that a replay came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its place in the log.
    pub place: usize,
    /// Its date in Unix seconds, never before an earlier push's since the last anchor.
    pub at: i64,
    /// Whether the cadence starts over from it; the batch of an every-nth push is beside the cadence.
    pub starts_over: bool,
}

/// What was decided on one push.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// Its place in the log.
    pub place: usize,
    pub batched: bool,
    /// A batch only because nothing was known of those before it.
    pub cold_start: bool,
    /// How far the cadence had come, in its unit; without a batch before it there is none.
    pub score: Option<f64>,
    /// The recorded batch that the replay started from.
    pub replayed_from: Option<PushId>,
    pub reason: Reason,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replay {
    /// From old to new.
    pub batches: Vec<Found>,
    /// Of every push, or of those that were asked for.
    pub decisions: Vec<Decision>,
}

/// Why a push is a batch, or is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Due,
    NotDue,
    /// A batch is due, but may not be on this push: it waits for the next one.
    DontBuild,
    /// The first push of its block of ids that may be a batch.
    Anchor,
    /// Its id is a multiple of N.
    EveryNth,
    /// The same, but it may not be a batch: nothing comes of it.
    NthLost,
    /// No batch before it is known.
    ColdStart,
    /// The same, but it may not be a batch.
    ColdStartWaits,
    /// It is recorded as a batch, and nothing before it is kept.
    Recorded,
    /// It is older than everything that is kept.
    Stale,
}

impl Reason {
    /// What becomes of it on a push that may not be a batch.
    fn of_dontbuild(self) -> Self {
        match self {
            Self::Due | Self::Anchor => Self::DontBuild,
            Self::EveryNth => Self::NthLost,
            Self::NotDue
            | Self::DontBuild
            | Self::NthLost
            | Self::ColdStart
            | Self::ColdStartWaits
            | Self::Recorded
            | Self::Stale => self,
        }
    }
}

impl Found {
    /// A batch from which a chain begins, and with it the dates that count.
    pub(super) fn first(log: &Log, place: usize) -> Self {
        Self { place, at: log.entries[place].at, starts_over: true }
    }
}

impl Decision {
    /// Without a replay.
    pub(super) fn alone(place: usize, batched: bool, reason: Reason) -> Self {
        Self { place, batched, cold_start: reason == Reason::ColdStart, score: None, replayed_from: None, reason }
    }

    /// Without any batch before the push: it is one, if it may be.
    pub(super) fn cold(log: &Log, place: usize) -> Self {
        let may_batch = log.entries[place].may_batch;
        Self::alone(place, may_batch, if may_batch { Reason::ColdStart } else { Reason::ColdStartWaits })
    }
}

/// What goes on beside the cadence.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beside {
    /// A batch is due on the first push of each block of so many ids, and
    /// dates count anew from there, so that whatever came before is forgotten.
    pub anchor: Option<NonZeroU64>,
    /// Ids that are multiples of this are batches, from which nothing starts over.
    pub every_nth: Option<NonZeroU64>,
}

/// A push as a replay passes it.
pub(super) struct Passed {
    pub found: Found,
    pub batched: bool,
    pub reason: Reason,
}

/// Looks on while a replay passes its pushes.
pub(super) trait Observer {
    fn pass(&mut self, passed: Passed, score: impl FnOnce() -> f64);
}

/// Replays the pushes at `places`, the first of which comes right after the batch `from`.
///
/// # Errors
/// A score that the cadence needs, and that is missing or no risk.
pub(super) fn walk<D: Due>(
    due: &D,
    beside: Beside,
    log: &Log,
    from: Mark,
    places: Range<usize>,
    observer: &mut impl Observer,
) -> Result<(), BadScore> {
    let (mut batch, mut first, mut clock) = (from, places.start, from.at);
    let mut waiting = D::Waiting::default();
    for place in places {
        let push = &log.entries[place];
        if D::READS_SCORES && push.has_bad_score {
            return Err(log.bad_score(place));
        }
        let now = clock.max(push.at);
        due.add(&mut waiting, now.abs_diff(clock), push);
        clock = now;
        let since = Since { log, batch, places: first..place + 1, now };
        let reason = if beside.is_anchor(push.id, batch.id) {
            Reason::Anchor
        } else if due.is_due(&waiting, &since) {
            Reason::Due
        } else if beside.is_nth(push.id) {
            Reason::EveryNth
        } else {
            Reason::NotDue
        };
        let reason = if push.may_batch { reason } else { reason.of_dontbuild() };
        let starts_over = matches!(reason, Reason::Anchor | Reason::Due);
        let batched = starts_over || reason == Reason::EveryNth;
        if reason == Reason::Anchor {
            clock = push.at;
        }
        let found = Found { place, at: clock, starts_over };
        observer.pass(Passed { found, batched, reason }, || due.score(&waiting, &since));
        if starts_over {
            (batch, first, waiting) = (Mark { id: push.id, at: clock }, place + 1, D::Waiting::default());
        }
    }
    Ok(())
}

impl Beside {
    /// The newest push up to this place from which every chain begins anew.
    pub fn newest_anchor(&self, log: &Log, place: usize) -> Option<usize> {
        let ids = self.anchor?;
        let mut block = log.entries[place].id.0 / ids;
        loop {
            let first = log.place_from(PushId(block * ids.get()));
            let anchor = (first..=place).find(|place| log.entries[*place].may_batch);
            if anchor.is_some() || first == 0 {
                return anchor;
            }
            block = log.entries[first - 1].id.0 / ids;
        }
    }

    /// Whether a batch is of the block whose anchor a push would be replayed
    /// from, or newer: the anchor is older than the batch then, wherever the log begins.
    pub fn is_current(&self, log: &Log, place: usize, batch: PushId) -> bool {
        let anchor = self.newest_anchor(log, place);
        anchor.is_some_and(|anchor| !self.is_anchor(log.entries[anchor].id, batch))
    }

    /// Every block's anchor is a batch, so the last batch tells whether this block has had its own.
    fn is_anchor(&self, id: PushId, batch: PushId) -> bool {
        self.anchor.is_some_and(|ids| id.0 / ids > batch.0 / ids)
    }

    fn is_nth(&self, id: PushId) -> bool {
        self.every_nth.is_some_and(|n| id.0.is_multiple_of(n.get()))
    }
}
