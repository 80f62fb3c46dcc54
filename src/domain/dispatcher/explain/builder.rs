//! One builder explained: whose workers it has, what waits for them, and why its next job does not start.

use std::time::Duration;

use serde::Serialize;

use super::Scene;
use super::job::{self, Explained};
use crate::domain::dispatcher::board::{Place, paused};
use crate::domain::names::{BuilderName, PoolName, WorkerName};

/// Where a builder stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedBuilder {
    pub builder: BuilderName,
    pub pool: PoolName,
    /// The rule of the farm file that it falls under, as its pattern.
    pub rule: String,
    /// Its dedicated workers; `None` when it uses those of the pool that no builder has.
    pub allocation: Option<Vec<WorkerName>>,
    /// The reason in one sentence.
    pub reason: String,
    /// How many of its jobs wait.
    pub pending: usize,
    /// Seconds that its runs have taken on average, the latest ones above all.
    pub mean_run: Option<f64>,
    /// Its most important job, explained.
    pub next: Option<Explained>,
}

/// Explains a builder; the error says that no rule of the farm file matches it.
pub fn builder(scene: &Scene<'_>, name: &BuilderName) -> Result<ExplainedBuilder, String> {
    let definition = scene.farm.fleet.definition();
    let Some(rule) = scene.rule_of(name) else { return Err(definition.unmatched(name)) };
    let rule = &definition.builders[rule];
    let (mut pending, mut first): (usize, Option<Place>) = (0, None);
    for line in scene.board.waiting_at(name).iter().flat_map(|waiting| waiting.lines()) {
        pending += line.jobs().count();
        let head = line.jobs().next().map(|key| scene.board.place(key, line.project.as_ref()));
        first = first.into_iter().chain(head).min();
    }
    let next = first.and_then(|place| job::job(scene, place.key.id));
    let reason = match (&next, paused(scene.farm, name, &rule.pool)) {
        (_, Some(paused)) => paused,
        (Some(next), None) => format!("{pending} of its jobs wait; of the next, job {}: {}", next.job, next.reason),
        (None, None) => "none of its jobs waits".into(),
    };
    Ok(ExplainedBuilder {
        builder: name.clone(),
        pool: rule.pool.clone(),
        rule: rule.pattern.clone(),
        allocation: scene.farm.allocations.workers_of(name).map(<[_]>::to_vec),
        reason,
        pending,
        mean_run: scene.farm.jobs.paces().of(name).map(|pace| Duration::as_secs_f64(&pace.mean())),
        next,
    })
}
