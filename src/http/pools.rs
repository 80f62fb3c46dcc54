//! The pools over HTTP: how many workers each has, what waits for them, and for how long.

use std::collections::{BTreeMap, HashMap};

use actix_web::{HttpRequest, HttpResponse, web};
use indexmap::IndexMap;
use serde::Serialize;

use super::App;
use super::problem::Problem;
use super::target;
use super::workers::state_of;
use crate::domain::fleet::{Duty, Pause, WorkerClass};
use crate::domain::{BuilderName, Farm, PoolName, Timestamp};

#[derive(Serialize)]
struct Answer {
    pools: Vec<Shown>,
    /// By name.
    paused_builders: Vec<PausedBuilder>,
}

#[derive(Serialize)]
struct PausedBuilder {
    builder: BuilderName,
    paused: Pause,
}

#[derive(Serialize)]
struct Shown {
    name: PoolName,
    class: WorkerClass,
    workers: Workers,
    /// Null unless nothing of it starts.
    paused: Option<Pause>,
    /// Of its workers, those that have a job.
    running: u64,
    /// Jobs that wait for a worker of it.
    pending: u64,
    /// Of the oldest of them, in seconds; null if none waits.
    oldest_wait: Option<f64>,
    started_last_hour: u64,
}

#[derive(Serialize, Default)]
struct Workers {
    active: u64,
    draining: u64,
    quarantined: u64,
}

/// `GET /v1/pools`
pub async fn pools(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    if let Some(name) = target::name(request.uri()) {
        let detail = format!("all pools are at /v1/pools, there is nothing at {}", String::from_utf8_lossy(&name));
        return Err(Problem::not_found("no_such_path", detail));
    }
    app.admit_read(&request)?;
    let now = app.clock.now();
    let started = app.activity.recent_starts(now);
    let answer = app
        .engine
        .ask(move |farm| Answer { pools: shown(farm, now, &started), paused_builders: paused_builders(farm) });
    Ok(HttpResponse::Ok().json(answer.await?))
}

fn paused_builders(farm: &Farm) -> Vec<PausedBuilder> {
    let paused = farm.fleet.pauses().builders.iter();
    paused.map(|(builder, pause)| PausedBuilder { builder: builder.clone(), paused: pause.clone() }).collect()
}

fn shown(farm: &Farm, now: Timestamp, started: &BTreeMap<PoolName, u64>) -> Vec<Shown> {
    let empty = |pool: &crate::domain::fleet::Pool| Shown {
        name: pool.name.clone(),
        class: pool.class,
        workers: Workers::default(),
        paused: farm.fleet.pauses().pools.get(&pool.name).cloned(),
        running: 0,
        pending: 0,
        oldest_wait: None,
        started_last_hour: started.get(&pool.name).copied().unwrap_or(0),
    };
    let mut pools: IndexMap<_, _> =
        farm.fleet.definition().pools.iter().map(|pool| (&pool.name, empty(pool))).collect();
    for (name, worker) in farm.fleet.workers() {
        let Some(pool) = pools.get_mut(&worker.pool) else { continue };
        match state_of(farm, name) {
            Duty::Active => pool.workers.active += 1,
            Duty::Draining => pool.workers.draining += 1,
            Duty::Quarantined => pool.workers.quarantined += 1,
        }
        pool.running += u64::from(farm.jobs.claim_of(name).is_some());
    }
    // The pool of a builder is slow to find, so each is looked for once.
    let mut pool_of: HashMap<&BuilderName, Option<&PoolName>> = HashMap::new();
    for (_, job) in farm.jobs.all().filter(|(_, job)| job.claim.is_none()) {
        let builder = &job.spec.builder;
        let pool = *pool_of.entry(builder).or_insert_with(|| farm.fleet.rule(builder).map(|rule| &rule.pool));
        let Some(pool) = pool.and_then(|pool| pools.get_mut(pool)) else { continue };
        let waited = (now.unix_micros() - job.spec.submitted_at.unix_micros()).max(0) as f64 / 1e6;
        pool.pending += 1;
        pool.oldest_wait = Some(pool.oldest_wait.map_or(waited, |oldest| oldest.max(waited)));
    }
    pools.into_values().collect()
}
