//! Why a worker is not the answer to a job: one reason each, the first that holds.

use std::collections::BTreeMap;

use super::{Scene, Standing};
use crate::domain::dispatcher::board::{Eligibility, Stage};
use crate::domain::fleet::{Options, Worker, WorkerClass};
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// A reason, those first that are the least in the way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Obstacle {
    /// None: it is the job that does not start.
    Idle,
    Busy,
    Away,
    /// Taken out of work.
    Held,
    /// The job waits for workers of a class.
    Class(WorkerClass),
    /// No builder has it, and the job keeps to its allocation.
    Common,
    /// Its own builders have it.
    Dedicated(Vec<BuilderName>),
    /// The rule requires an attribute of another value.
    Lacks(BTreeMap<String, String>),
    /// The allocation names it, the farm does not.
    Gone,
}

/// Whose worker set it is asked of.
#[derive(Clone, Copy)]
pub(super) struct Asker<'a> {
    pub builder: &'a BuilderName,
    pub eligibility: &'a Eligibility,
    /// How its jobs may go on waiting.
    pub later: &'a [Stage],
    pub submitted_at: Timestamp,
}

impl Asker<'_> {
    /// The reason why a worker of the pool, or of the allocation, does not run the job.
    pub fn obstacle(&self, scene: &Scene<'_>, name: &WorkerName, worker: Option<&Worker>) -> Obstacle {
        let Some(worker) = worker else { return Obstacle::Gone };
        let Eligibility { requires, dedicated, only, .. } = self.eligibility;
        let lacks = requires.iter().filter(|(key, value)| worker.attributes.get(*key) != Some(value));
        let lacks: BTreeMap<_, _> = lacks.map(|(key, value)| (key.clone(), value.clone())).collect();
        if !lacks.is_empty() {
            return Obstacle::Lacks(lacks);
        }
        let is_own = dedicated.as_ref().is_some_and(|own| own.binary_search(name).is_ok());
        if !is_own {
            match scene.farm.allocations.builders_of(name) {
                None if !self.eligibility.uses_common() => return Obstacle::Common,
                None => {}
                Some(owners) if !self.is_lent(scene, name, owners) => return Obstacle::Dedicated(owners.to_vec()),
                Some(_) => {}
            }
        }
        if let Some(only) = *only
            && only != worker.class
        {
            return Obstacle::Class(only);
        }
        match scene.standing(name) {
            Standing::Idle => Obstacle::Idle,
            Standing::Busy => Obstacle::Busy,
            Standing::Away => Obstacle::Away,
            Standing::Held => Obstacle::Held,
        }
    }

    fn is_lent(&self, scene: &Scene<'_>, name: &WorkerName, owners: &[BuilderName]) -> bool {
        self.eligibility.dedicated.is_none() && scene.lent_from(name, owners).is_some_and(|from| from <= scene.now)
    }

    /// What is said of all workers with this reason.
    pub fn words(&self, obstacle: &Obstacle) -> String {
        match obstacle {
            Obstacle::Idle if self.eligibility.reserve > 0 => {
                format!("idle, but {} more must be idle for this builder's reserve", self.eligibility.reserve)
            }
            Obstacle::Idle => "idle, but not for this job now".into(),
            Obstacle::Busy => "runs another job".into(),
            Obstacle::Away => "no claim call offers it".into(),
            Obstacle::Held => "taken out of work".into(),
            Obstacle::Class(only) => match self.from(|later| later.only.is_none()) {
                Some(from) => format!("not {only}, which is all that the job takes before {from}"),
                None => format!("not {only}"),
            },
            Obstacle::Common => match self.from(Eligibility::uses_common) {
                Some(from) => format!("outside the allocation of {}; the job may use it from {from} on", self.builder),
                None => format!("outside the allocation of {}, and there is no overflow_after", self.builder),
            },
            Obstacle::Dedicated(owners) => {
                let owners: Vec<_> = owners.iter().map(BuilderName::as_str).collect();
                format!("dedicated to {}", owners.join(" and "))
            }
            Obstacle::Lacks(wanted) => {
                let wanted: Vec<_> = wanted.iter().map(|(key, value)| format!("{key}={value}")).collect();
                format!("the builder's rule requires {}", wanted.join(" and "))
            }
            Obstacle::Gone => "in the allocation, but not in the farm".into(),
        }
    }

    /// What is said of this worker beside that.
    pub fn detail(
        &self,
        scene: &Scene<'_>,
        obstacle: &Obstacle,
        name: &WorkerName,
        worker: Option<&Worker>,
    ) -> Option<String> {
        match obstacle {
            Obstacle::Busy => scene.farm.jobs.claim_of(name).map(|(_, running)| scene.what_runs(running)),
            Obstacle::Held => scene.why_held(name),
            Obstacle::Dedicated(owners) => {
                let lent = scene.lent_from(name, owners).filter(|_| self.eligibility.dedicated.is_none());
                lent.map(|from| format!("lent from {from} on, if it stays idle"))
            }
            Obstacle::Lacks(wanted) => {
                let has = |key: &String| match worker.and_then(|worker| worker.attributes.get(key)) {
                    Some(value) => format!("has {key}={value}"),
                    None => format!("has no {key}"),
                };
                Some(wanted.keys().map(has).collect::<Vec<_>>().join(", "))
            }
            Obstacle::Class(_) => worker.map(|worker| format!("is {}", worker.class)),
            Obstacle::Idle | Obstacle::Away | Obstacle::Common | Obstacle::Gone => None,
        }
    }

    /// When the job's wait gets it into a stage like this.
    fn from(&self, is: impl Fn(&Eligibility) -> bool) -> Option<Timestamp> {
        let stage = self.later.iter().find(|stage| is(&stage.eligibility))?;
        Some(self.submitted_at.after(stage.from))
    }
}

impl Obstacle {
    /// The word that programs know it by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Away => "away",
            Self::Held => "held",
            Self::Class(_) => "class",
            Self::Common => "outside_allocation",
            Self::Dedicated(_) => "dedicated",
            Self::Lacks(_) => "attributes",
            Self::Gone => "gone",
        }
    }
}

impl Scene<'_> {
    /// From when on an idle worker is lent: all its builders have to lend it.
    pub(super) fn lent_from(&self, worker: &WorkerName, owners: &[BuilderName]) -> Option<Timestamp> {
        if self.standing(worker) != Standing::Idle {
            return None;
        }
        let offer = self.offer_of(worker)?;
        let (_, since) = offer.workers.iter().find(|(offered, _)| offered == worker)?;
        let spans = owners.iter().map(|owner| self.options_of(owner)?.lend_after);
        let spans = spans.collect::<Option<Vec<_>>>()?;
        spans.into_iter().map(|span| (*since).map(|since| since.after(span.into()))).max().flatten()
    }

    /// What the farm file says of a builder, if it knows it.
    pub(super) fn options_of(&self, builder: &BuilderName) -> Option<Options> {
        Some(self.farm.fleet.definition().options_of(self.rule_of(builder)?))
    }

    /// The index of a builder's rule.
    pub(super) fn rule_of(&self, builder: &BuilderName) -> Option<usize> {
        let known = self.board.waiting_at(builder).map(|waiting| waiting.rule());
        known.or_else(|| self.farm.fleet.rule_index(builder))
    }
}
