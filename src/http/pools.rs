//! The pools over HTTP: how many workers each has, what waits for them, and for how long.

use std::collections::{BTreeMap, HashMap};

use actix_web::{HttpRequest, HttpResponse, web};
use indexmap::IndexMap;
use serde::Serialize;

use super::App;
use super::problem::Problem;
use super::workers::state_of;
use crate::domain::fleet::{Duty, WorkerClass};
use crate::domain::{BuilderName, Farm, PoolName, Timestamp};

#[derive(Serialize)]
struct Answer {
    pools: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    name: PoolName,
    class: WorkerClass,
    workers: Workers,
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
    app.admit_read(&request)?;
    let now = app.clock.now();
    let started = app.activity.recent_starts(now);
    let pools = app.engine.ask(move |farm| shown(farm, now, &started)).await?;
    Ok(HttpResponse::Ok().json(Answer { pools }))
}

fn shown(farm: &Farm, now: Timestamp, started: &BTreeMap<PoolName, u64>) -> Vec<Shown> {
    let empty = |pool: &crate::domain::fleet::Pool| Shown {
        name: pool.name.clone(),
        class: pool.class,
        workers: Workers::default(),
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
