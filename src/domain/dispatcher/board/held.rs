//! Why a job does not start, in the words of a person.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::queues::Eligibility;
use super::settle::Farm;
use super::stages::Stage;
use super::{Board, Key};
use crate::domain::fleet::Pause;
use crate::domain::names::{BuilderName, PoolName, WorkerName};
use crate::domain::time::Timestamp;

impl Board {
    /// Why a job of this builder, with this key, did not start just now. `idle`: the workers that were.
    pub(in crate::domain::dispatcher) fn why_held(
        &self,
        farm: Farm<'_>,
        builder: &BuilderName,
        key: Key,
        now: Timestamp,
        idle: &BTreeSet<WorkerName>,
    ) -> String {
        let Some((at, _, known)) = self.builders.get_full(builder) else {
            return farm.fleet.definition().unmatched(builder);
        };
        if let Some(paused) = paused(farm, builder, &farm.fleet.definition().builders[known.rule].pool) {
            return paused;
        }
        let stage = self.stage(at, key, now);
        let Some(eligibility) = known.stages.get(stage).map(|stage| &stage.eligibility) else {
            return "it was not looked at yet".into();
        };
        let in_set = |name: &WorkerName| {
            let own = eligibility.dedicated.as_ref().is_some_and(|own| own.contains(name));
            let common = eligibility.uses_common() && farm.allocations.builders_of(name).is_none();
            let worker = farm.fleet.worker(name);
            worker.is_some_and(|worker| {
                (own || common && worker.pool == eligibility.pool)
                    && eligibility.takes(worker.class, &worker.attributes)
            })
        };
        let registered = farm.fleet.workers().filter(|(name, _)| in_set(name)).count();
        let idle = idle.iter().filter(|name| in_set(name)).count();
        shortage(eligibility, registered, idle) + &outlook(eligibility, &known.stages[stage + 1..], key.submitted_at())
    }
}

/// Who lets nothing of the builder start.
pub fn paused(farm: Farm<'_>, builder: &BuilderName, pool: &PoolName) -> Option<String> {
    let (what, Pause { author, reason, since }) = farm.fleet.pauses().of(builder, pool)?;
    let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    Some(format!("{what} is paused by {} since {since}{reason}", author.as_str()))
}

/// What the worker set lacks, of which so many workers are registered, and so many idle.
pub fn shortage(eligibility: &Eligibility, registered: usize, idle: usize) -> String {
    let set = match &eligibility.dedicated {
        Some(_) if eligibility.overflows => "of its allocation and the pool's common workers",
        Some(_) => "of its allocation",
        None => "of the pool that no builder has",
    };
    let mut which = String::new();
    if let Some(class) = eligibility.only {
        write!(which, " {class}").expect("a string takes every text");
    }
    for (key, value) in &eligibility.requires {
        write!(which, " {key}={value}").expect("a string takes every text");
    }
    match (registered, idle) {
        (0, _) => format!("there is no{which} worker {set} in the farm"),
        (1, 0) => format!("the one{which} worker {set} is not idle"),
        (all, 0) => format!("none of the {all}{which} workers {set} is idle"),
        (_, idle) if eligibility.reserve > 0 => format!(
            "{idle}{which} workers {set} are idle, but it keeps {} in reserve and more important jobs go first",
            eligibility.reserve
        ),
        (_, 1) => format!("the one idle{which} worker {set} goes to a more important job"),
        (_, idle) => format!("the {idle} idle{which} workers {set} go to more important jobs"),
    }
}

/// What waiting longer brings.
pub fn outlook(eligibility: &Eligibility, later: &[Stage], submitted_at: Timestamp) -> String {
    let mut words = String::new();
    for next in later {
        let from = submitted_at.after(next.from);
        let gains = match (eligibility.only, next.eligibility.overflows) {
            (Some(_), _) if next.eligibility.only.is_none() => "it takes workers of every class",
            (_, true) if !eligibility.overflows => "it may also use workers that no builder has",
            _ => "its worker set changes",
        };
        write!(words, "; from {from} on {gains}").expect("a string takes every text");
    }
    words
}
