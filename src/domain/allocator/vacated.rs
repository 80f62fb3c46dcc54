//! Allocations of which every worker is gone, and that are to be taken back then.

use super::{Allocations, Event, GenerationMade, Origin};
use crate::domain::author::Author;
use crate::domain::fleet::{self, Fleet, OnEmptySet};
use crate::domain::names::BuilderName;
use crate::domain::time::Timestamp;

/// What follows from a change of the fleet that was taken in: a generation
/// without the sets that have nobody any more, where the farm file wants it so.
pub(in crate::domain) fn vacated(
    fleet: &Fleet,
    allocations: &Allocations,
    now: Timestamp,
    change: &fleet::Event,
) -> Option<Event> {
    let is_vacated = |builder: &BuilderName| {
        let workers = allocations.workers_of(builder).unwrap_or_default();
        let is_gone = !workers.is_empty() && workers.iter().all(|worker| fleet.worker(worker).is_none());
        is_gone && on_empty_set(fleet, builder) == OnEmptySet::Pool
    };
    let touched: Vec<&BuilderName> = match change {
        fleet::Event::Defined { .. } => allocations.builders().map(|(builder, _)| builder).collect(),
        fleet::Event::WorkerRemoved { name, .. } => allocations.builders_of(name).unwrap_or_default().iter().collect(),
        fleet::Event::WorkerPut { .. }
        | fleet::Event::DutySet { .. }
        | fleet::Event::Paused { .. }
        | fleet::Event::Resumed { .. } => Vec::new(),
    };
    let unset: Vec<BuilderName> = touched.into_iter().filter(|builder| is_vacated(builder)).cloned().collect();
    if unset.is_empty() {
        return None;
    }
    Some(Event::GenerationMade(GenerationMade {
        generation: allocations.generation().next(),
        time: now,
        author: Author::new("allocator"),
        reason: Some(reason(&unset)),
        origin: Origin::default(),
        set: super::Builders::new(),
        unset,
        // Nobody takes these machines away: they are gone.
        forced: true,
        broken: Vec::new(),
    }))
}

fn reason(unset: &[BuilderName]) -> String {
    let others = match unset.len() - 1 {
        0 => String::new(),
        others => format!(" and of {others} other builders"),
    };
    format!("every worker of {}{others} is gone: the pool's common workers take over", unset[0])
}

fn on_empty_set(fleet: &Fleet, builder: &BuilderName) -> OnEmptySet {
    let rule = fleet.rule_index(builder);
    rule.and_then(|rule| fleet.definition().options_of(rule).on_empty_set).unwrap_or_default()
}
