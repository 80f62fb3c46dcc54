//! A cadence with its parameters, ready to decide.

use std::ops::Range;

use super::backstop::Backstop;
use super::cadence::Cadence;
use super::every_nth::Never;
use super::log::{BadScore, Log, PushId};
use super::parameters::{BadStrategy, Branch, Kind, Parameters, Taking};
use super::pushes::Pushes;
use super::rapb::Rapb;
use super::rapb_la::RapbLa;
use super::rasb::Rasb;
use super::rasb_la::RasbLa;
use super::rdb::Rdb;
use super::rdb_steady::RdbSteady;
use super::replay::{Beside, Decision, Found, Mark, Observer, Passed, Reason, Replay, walk};
use super::time::Time;

/// What the backstop has where it is told nothing else, as Firefox's integration branches.
const BACKSTOP_PUSHES: u64 = 20;
const BACKSTOP_HOURS: f64 = 4.0;

/// `expanded` adds every push whose id is a multiple of this.
const EXPANDED: u64 = 10;

/// Scores are told to so many parts of 1.
const SHOWN: f64 = 1e6;

/// A cadence that can replay a log.
#[derive(Debug, Clone)]
pub struct Strategy {
    kind: Kind,
    parameters: Parameters,
    cadence: Cadence,
    pub(super) beside: Beside,
}

impl Strategy {
    /// # Errors
    /// All parameters that the cadence lacks, cannot have, or does not take.
    pub fn new(kind: Kind, mut parameters: Parameters) -> Result<Self, BadStrategy> {
        if matches!(kind, Kind::Backstop | Kind::Expanded) {
            parameters.pushes.get_or_insert(BACKSTOP_PUSHES);
            parameters.hours.get_or_insert(BACKSTOP_HOURS);
        }
        let mut taking = Taking::from(kind, parameters.clone());
        let mut beside = Beside::default();
        let cadence = match kind {
            Kind::Pushes => Cadence::Pushes(Pushes(taking.pushes().get())),
            Kind::Time => Cadence::Time(Time(taking.hours())),
            Kind::EveryNth => {
                beside.every_nth = Some(taking.pushes());
                Cadence::Never(Never)
            }
            Kind::Backstop => backstop(&mut taking, &mut beside),
            Kind::Expanded => {
                let cadence = backstop(&mut taking, &mut beside);
                if matches!(cadence, Cadence::Backstop(_)) {
                    beside.every_nth = EXPANDED.try_into().ok();
                }
                cadence
            }
            Kind::Rasb => Cadence::Rasb(Rasb::new(taking.chance())),
            Kind::RasbLa => Cadence::RasbLa(RasbLa::new(taking.sum())),
            Kind::Rapb => Cadence::Rapb(Rapb::new(taking.chance(), taking.aging())),
            Kind::RapbLa => Cadence::RapbLa(RapbLa::new(taking.sum(), taking.aging())),
            Kind::Rdb => Cadence::Rdb(Rdb::new(taking.price(), taking.forecast())),
            Kind::RdbSteady => {
                let (price, forecast) = (taking.price(), taking.needed_forecast());
                forecast.map_or(Cadence::Never(Never), |forecast| Cadence::RdbSteady(RdbSteady::new(price, forecast)))
            }
        };
        if !matches!(cadence, Cadence::Never(_)) {
            beside.anchor = taking.anchor();
        }
        taking.finish(Self { kind, parameters, cadence, beside })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// With the defaults filled in.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Whether what it decides depends on the batches before.
    pub fn has_state(&self) -> bool {
        !matches!(self.cadence, Cadence::Never(_))
    }

    /// The batches among the pushes at `places`, the first of which comes right after the batch `from`.
    ///
    /// # Errors
    /// A score that the cadence needs, and that is missing or no risk.
    pub fn batches(&self, log: &Log, from: Mark, places: Range<usize>) -> Result<Vec<Found>, BadScore> {
        let mut found = Batches(Vec::new());
        self.walk(log, from, places, &mut found)?;
        Ok(found.0)
    }

    /// The same with what is decided on the pushes from the place `decided` on.
    ///
    /// # Errors
    /// As of [`Strategy::batches`].
    pub(super) fn decisions(
        &self,
        log: &Log,
        from: Mark,
        places: Range<usize>,
        decided: usize,
    ) -> Result<Replay, BadScore> {
        let from_id = self.has_state().then_some(from.id);
        let mut seen = Seen { from: from_id, decided, replay: Replay::default() };
        self.walk(log, from, places, &mut seen)?;
        Ok(seen.replay)
    }

    /// All that is decided on the pushes of a log after the batch `from`;
    /// without one, on all of them, beginning with a cold start.
    ///
    /// # Errors
    /// As of [`Strategy::batches`].
    pub fn replay(&self, log: &Log, from: Option<Mark>) -> Result<Replay, BadScore> {
        if let Some(from) = from {
            return self.decisions(log, from, log.place_after(from.id)..log.len(), 0);
        }
        let Some(from) = log.first_batch() else { return Ok(Replay::cold(log, log.len())) };
        if !self.has_state() {
            return self.decisions(log, from, 0..log.len(), 0);
        }
        let first = log.place_after(from.id);
        let (cold, rest) = (Replay::cold(log, first), self.decisions(log, from, first..log.len(), 0)?);
        Ok(Replay {
            batches: [cold.batches, rest.batches].concat(),
            decisions: [cold.decisions, rest.decisions].concat(),
        })
    }

    fn walk(&self, log: &Log, from: Mark, places: Range<usize>, observer: &mut impl Observer) -> Result<(), BadScore> {
        let beside = self.beside;
        match &self.cadence {
            Cadence::Pushes(due) => walk(due, beside, log, from, places, observer),
            Cadence::Time(due) => walk(due, beside, log, from, places, observer),
            Cadence::Backstop(due) => walk(due, beside, log, from, places, observer),
            Cadence::Rasb(due) => walk(due, beside, log, from, places, observer),
            Cadence::RasbLa(due) => walk(due, beside, log, from, places, observer),
            Cadence::Rapb(due) => walk(due, beside, log, from, places, observer),
            Cadence::RapbLa(due) => walk(due, beside, log, from, places, observer),
            Cadence::Rdb(due) => walk(due, beside, log, from, places, observer),
            Cadence::RdbSteady(due) => walk(due, beside, log, from, places, observer),
            Cadence::Never(due) => walk(due, beside, log, from, places, observer),
        }
    }

    /// A decision in words.
    pub fn explain(&self, decision: &Decision) -> String {
        let score = decision.score.map_or_else(|| self.unmeasured(), |score| self.measured(score));
        match decision.reason {
            Reason::Due => format!("due: {score}"),
            Reason::NotDue => format!("not due: {score}"),
            Reason::DontBuild => format!("due, but the message says DONTBUILD: the next push has it ({score})"),
            Reason::Anchor => "due: the first push of its block of ids that may be a batch".to_owned(),
            Reason::EveryNth => "due: its id is a multiple".to_owned(),
            Reason::NthLost => "its id is a multiple, but the message says DONTBUILD: nothing comes of it".to_owned(),
            Reason::ColdStart => "a cold start: the batches before it are not known".to_owned(),
            Reason::ColdStartWaits => "a cold start, but the message says DONTBUILD: the next push has it".to_owned(),
            Reason::Recorded => "it is recorded, and nothing before it is kept".to_owned(),
            Reason::Stale => "stale: it is older than every batch that is kept".to_owned(),
        }
    }

    /// Why a push is no batch for a strategy without a state.
    fn unmeasured(&self) -> String {
        match self.beside.every_nth {
            Some(n) => format!("its id is no multiple of {n}"),
            None => "no push to such a branch is a batch".to_owned(),
        }
    }

    /// A score beside what it must reach.
    fn measured(&self, score: f64) -> String {
        let Parameters { pushes, hours, threshold, price, .. } = &self.parameters;
        let limit = |limit: Option<f64>| limit.unwrap_or_default();
        let score = (score * SHOWN).round() / SHOWN;
        let pushes = pushes.map(|pushes| pushes as f64);
        match self.kind {
            Kind::Pushes => format!("{score} of {} ids", limit(pushes)),
            Kind::Time => format!("{score} of {} hours", limit(*hours)),
            Kind::Backstop | Kind::Expanded => format!("{score} of {} ids, or {} hours", limit(pushes), limit(*hours)),
            Kind::EveryNth => self.unmeasured(),
            Kind::Rasb | Kind::RasbLa | Kind::Rapb | Kind::RapbLa => format!("risk {score} of {}", limit(*threshold)),
            Kind::Rdb | Kind::RdbSteady => format!("{score} of {} risk-hours", limit(*price)),
        }
    }
}

/// The cadence of a branch's backstop.
fn backstop(taking: &mut Taking, beside: &mut Beside) -> Cadence {
    let cadence = Backstop { interval: Pushes(taking.pushes().get()), hours: Time(taking.hours()) };
    match taking.branch() {
        Branch::Integration => Cadence::Backstop(cadence),
        Branch::Other => {
            beside.every_nth = 1.try_into().ok();
            Cadence::Never(Never)
        }
        Branch::Try => Cadence::Never(Never),
    }
}

/// Keeps the batches only.
struct Batches(Vec<Found>);

impl Observer for Batches {
    fn pass(&mut self, passed: Passed, _: impl FnOnce() -> f64) {
        if passed.batched {
            self.0.push(passed.found);
        }
    }
}

/// Keeps the batches, and all that is decided from a place on.
struct Seen {
    /// `None` for what has no state, and so nothing that gathers.
    from: Option<PushId>,
    decided: usize,
    replay: Replay,
}

impl Observer for Seen {
    fn pass(&mut self, passed: Passed, score: impl FnOnce() -> f64) {
        if passed.found.place >= self.decided {
            self.replay.decisions.push(Decision {
                place: passed.found.place,
                batched: passed.batched,
                cold_start: false,
                score: self.from.map(|_| score()),
                replayed_from: self.from,
                reason: passed.reason,
            });
        }
        if passed.batched {
            self.replay.batches.push(passed.found);
        }
    }
}

impl Replay {
    /// Of the first pushes of a log, without any batch before: the first that may be one is one.
    fn cold(log: &Log, pushes: usize) -> Self {
        let decisions: Vec<_> = (0..pushes).map(|place| Decision::cold(log, place)).collect();
        let batches =
            decisions.iter().filter(|decision| decision.batched).map(|decision| Found::first(log, decision.place));
        Self { batches: batches.collect(), decisions }
    }
}
