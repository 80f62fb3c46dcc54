//! The roll call: all workers that a job could be thought to run on, grouped by what keeps them from it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Scene;
use super::obstacle::{Asker, Obstacle};
use crate::domain::fleet::Worker;
use crate::domain::names::WorkerName;

/// So many workers of a group are named; of the rest there is the number.
pub const NAMED: usize = 20;

/// Workers that have the same reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    pub code: &'static str,
    pub reason: String,
    pub count: usize,
    /// The first by name, at most 20.
    pub workers: Vec<Member>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    pub name: WorkerName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A worker that was called.
pub(super) struct Called<'a> {
    pub name: &'a WorkerName,
    /// `None` for one that only the allocation knows.
    pub worker: Option<&'a Worker>,
    pub obstacle: Obstacle,
}

/// The workers of the pool, and those of the builder's own allocation, by name.
pub(super) fn call<'a>(scene: &Scene<'a>, asker: &Asker<'a>) -> Vec<Called<'a>> {
    let fleet = scene.farm.fleet;
    let pool = &asker.eligibility.pool;
    let of_pool = fleet.workers().filter(|(_, worker)| worker.pool == *pool).map(|(name, worker)| (name, Some(worker)));
    let own = asker.eligibility.dedicated.iter().flat_map(|own| own.iter());
    let elsewhere = own.map(|name| (name, fleet.worker(name)));
    let elsewhere = elsewhere.filter(|(_, worker)| worker.is_none_or(|worker| worker.pool != *pool));
    let mut called: Vec<_> = of_pool
        .chain(elsewhere)
        .map(|(name, worker)| Called { name, worker, obstacle: asker.obstacle(scene, name, worker) })
        .collect();
    called.sort_unstable_by_key(|called| called.name);
    called
}

/// The same in groups, those first whose reason is the least in the way.
pub(super) fn grouped(scene: &Scene<'_>, asker: &Asker<'_>, roll: &[Called<'_>]) -> Vec<Group> {
    let mut groups: BTreeMap<&Obstacle, Group> = BTreeMap::new();
    for Called { name, worker, obstacle } in roll {
        let group = groups.entry(obstacle).or_insert_with(|| Group {
            code: obstacle.code(),
            reason: asker.words(obstacle),
            count: 0,
            workers: Vec::new(),
        });
        group.count += 1;
        if group.workers.len() < NAMED {
            let detail = asker.detail(scene, obstacle, name, *worker);
            group.workers.push(Member { name: (*name).clone(), detail });
        }
    }
    groups.into_values().collect()
}
