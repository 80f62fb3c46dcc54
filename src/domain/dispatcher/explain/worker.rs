//! One worker explained: what it does, and why none of the jobs that wait runs on it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::obstacle::{Asker, Obstacle};
use super::{Scene, Standing};
use crate::domain::dispatcher::board::{Place, Waiting, paused};
use crate::domain::fleet::WorkerClass;
use crate::domain::names::{BuilderName, PoolName, WorkerName};

/// So many builders of a group are named; of the rest there is the number of jobs.
const NAMED: usize = 20;

/// What a worker does, and what waits that could be thought to run on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedWorker {
    pub worker: WorkerName,
    pub pool: PoolName,
    pub class: WorkerClass,
    pub state: Standing,
    /// The reason in one sentence.
    pub reason: String,
    /// The builders that have it; empty for a worker that no builder has.
    pub builders: Vec<BuilderName>,
    /// The most important job that could run on it, were it idle.
    pub next: Option<String>,
    /// The jobs of its pool and its builders that wait, by what keeps them from it.
    pub waiting: Vec<WaitingGroup>,
}

/// Builders whose jobs have the same reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitingGroup {
    pub code: &'static str,
    pub reason: String,
    /// How many jobs wait.
    pub jobs: usize,
    /// The first by name, at most 20.
    pub builders: Vec<BuilderName>,
}

/// Explains a worker; `None` for one that the farm does not have.
pub fn worker(scene: &Scene<'_>, name: &WorkerName) -> Option<ExplainedWorker> {
    let worker = scene.farm.fleet.worker(name)?;
    let owners = scene.farm.allocations.builders_of(name).unwrap_or_default();
    let waiting = Waiters::of(scene, name);
    let state = scene.standing(name);
    let reason = match state {
        Standing::Busy => {
            let running = scene.farm.jobs.claim_of(name);
            running.map_or(String::new(), |(_, running)| format!("it runs {}", scene.what_runs(running)))
        }
        Standing::Held => scene.why_held(name).unwrap_or_default(),
        Standing::Away => "no claim call offers it: its master does not ask for jobs for it".into(),
        Standing::Idle => waiting.why_idle(scene, name, owners),
    };
    Some(ExplainedWorker {
        worker: name.clone(),
        pool: worker.pool.clone(),
        class: worker.class,
        state,
        reason,
        builders: owners.to_vec(),
        next: waiting.next.map(|place| (scene.name)(place.key.id)),
        waiting: waiting.groups.into_values().map(|(group, _)| group).collect(),
    })
}

/// Who waits in a worker's pool, and why not for this worker.
#[derive(Default)]
struct Waiters {
    groups: BTreeMap<(&'static str, String), (WaitingGroup, BTreeSet<BuilderName>)>,
    next: Option<Place>,
}

impl Waiters {
    fn of(scene: &Scene<'_>, name: &WorkerName) -> Self {
        let mut waiters = Self::default();
        let Some(worker) = scene.farm.fleet.worker(name) else { return waiters };
        for builder in scene.board.waiting_in(scene.farm.fleet, &worker.pool) {
            waiters.add(scene, name, &builder);
        }
        waiters
    }

    fn add(&mut self, scene: &Scene<'_>, name: &WorkerName, waiting: &Waiting<'_>) {
        let definition = scene.farm.fleet.definition();
        for line in waiting.lines() {
            let Some(first) = line.jobs().next() else { continue };
            let jobs = line.jobs().count();
            let Some(eligibility) = waiting.eligibility(line) else {
                let why = paused(scene.farm, waiting.name, &definition.builders[waiting.rule()].pool);
                self.group("paused", why.unwrap_or_default(), waiting.name, jobs);
                continue;
            };
            let later = waiting.stages().get(line.stage + 1..).unwrap_or_default();
            let submitted_at = first.submitted_at();
            let asker = Asker { builder: waiting.name, eligibility, later, submitted_at };
            let obstacle = asker.obstacle(scene, name, scene.farm.fleet.worker(name));
            if matches!(obstacle, Obstacle::Idle | Obstacle::Busy | Obstacle::Away | Obstacle::Held) {
                let place = scene.board.place(first, line.project.as_ref());
                self.next = Some(self.next.map_or(place, |next| next.min(place)));
            }
            let words = match &obstacle {
                Obstacle::Busy | Obstacle::Away | Obstacle::Held => "could run on it if it were idle".into(),
                other => asker.words(other),
            };
            self.group(obstacle.code(), words, waiting.name, jobs);
        }
    }

    fn group(&mut self, code: &'static str, reason: String, builder: &BuilderName, jobs: usize) {
        let key = (code, reason.clone());
        let new = || (WaitingGroup { code, reason, jobs: 0, builders: Vec::new() }, BTreeSet::new());
        let (group, seen) = self.groups.entry(key).or_insert_with(new);
        group.jobs += jobs;
        if group.builders.len() < NAMED && seen.insert(builder.clone()) {
            group.builders.push(builder.clone());
        }
    }

    fn why_idle(&self, scene: &Scene<'_>, name: &WorkerName, owners: &[BuilderName]) -> String {
        let waiting: usize = self.groups.values().map(|(group, _)| group.jobs).sum();
        let owner = match owners {
            [] => String::new(),
            owners => {
                let names: Vec<_> = owners.iter().map(BuilderName::as_str).collect();
                let lent = scene.lent_from(name, owners);
                let lent = lent.map_or(String::new(), |from| format!(", and lent to others from {from} on"));
                format!("; it is dedicated to {}{lent}", names.join(" and "))
            }
        };
        match waiting {
            0 => format!("no job waits in its pool{owner}"),
            1 => format!("the one job that waits in its pool cannot use it now{owner}"),
            jobs => format!("none of the {jobs} jobs that wait in its pool can use it now{owner}"),
        }
    }
}
