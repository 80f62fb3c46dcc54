//! The jobs that wait or run, in the order of their keys.

use std::collections::HashMap;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::shown::{Shown, State};
use crate::domain::dispatcher::{Ageing, Job, JobId, Key};
use crate::domain::fleet::JobClass;
use crate::domain::{BuilderName, Farm, Timestamp};
use crate::http::App;
use crate::http::paging::limit;
use crate::http::problem::Problem;
use crate::http::target;

#[derive(Serialize)]
struct Page {
    jobs: Vec<Shown>,
    /// `after` of the next page; null on the last.
    next_after: Option<String>,
}

/// What is asked for.
struct Query {
    state: Option<State>,
    builder: Option<String>,
    pool: Option<String>,
    after: Option<Place>,
    limit: usize,
}

/// Where a page ended: a place in the order, which stays there when its job is gone.
struct Place {
    class: JobClass,
    priority: i64,
    submitted_at: Timestamp,
    id: JobId,
}

/// `GET /v1/jobs?state=&builder=&pool=&limit=&after=`
pub async fn list(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    let text = |key| target::text_parameter(&request, key);
    let query = Query {
        state: text("state").map(|text| state(&text)).transpose()?,
        builder: text("builder"),
        pool: text("pool"),
        after: text("after").map(|text| Place::read(&text)).transpose()?,
        limit: limit(&request)?,
    };
    Ok(HttpResponse::Ok().json(app.engine.ask(move |farm| query.page(farm)).await?))
}

fn state(text: &str) -> Result<State, Problem> {
    match text {
        "pending" => Ok(State::Pending),
        "running" => Ok(State::Running),
        _ => Err(Problem::bad_request("bad_parameter", format!("`state` is pending or running, not {text:?}"))),
    }
}

impl Query {
    fn page(&self, farm: &Farm) -> Page {
        let ageing = Ageing::from(farm.fleet.definition().ageing_seconds_per_priority);
        let after = self.after.as_ref().map(|place| place.key(ageing));
        let mut in_pool = HashMap::new();
        let mut keys: Vec<Key> = Vec::new();
        for (id, job) in farm.jobs.all() {
            let key = ageing.key(id, &job.spec);
            if after.is_none_or(|after| key > after) && self.means(farm, job, &mut in_pool) {
                keys.push(key);
            }
        }
        let more = keys.len() > self.limit;
        if more {
            // A page of a long list needs no more than its own part of it in order.
            keys.select_nth_unstable(self.limit);
            keys.truncate(self.limit);
        }
        keys.sort_unstable();
        let jobs = keys.iter().filter_map(|key| Some(Shown::of(&farm.jobs, key.id, farm.jobs.job(key.id)?)));
        let jobs: Vec<_> = jobs.collect();
        let next_after = jobs.last().filter(|_| more).map(|last| Place::of(last).to_string());
        Page { jobs, next_after }
    }

    /// `in_pool` remembers builders, whose pools are slow to find.
    fn means<'a>(&self, farm: &'a Farm, job: &'a Job, in_pool: &mut HashMap<&'a BuilderName, bool>) -> bool {
        let builder = &job.spec.builder;
        let is_in = |pool: &str| farm.fleet.rule(builder).is_some_and(|rule| rule.pool.as_str() == pool);
        self.state.is_none_or(|state| State::of(job) == state)
            && self.builder.as_deref().is_none_or(|meant| builder.as_str() == meant)
            && self.pool.as_deref().is_none_or(|pool| *in_pool.entry(builder).or_insert_with(|| is_in(pool)))
    }
}

impl Place {
    fn of(job: &Shown) -> Self {
        let spec = &job.spec.0;
        Self { class: spec.class, priority: spec.priority, submitted_at: spec.submitted_at, id: job.id }
    }

    fn key(&self, ageing: Ageing) -> Key {
        ageing.place(self.id, self.class, self.priority, self.submitted_at)
    }

    fn read(text: &str) -> Result<Self, Problem> {
        let read = || {
            let mut parts = text.split('.');
            let place = Self {
                class: JobClass::deserialize(serde_json::Value::from(parts.next()?)).ok()?,
                priority: parts.next()?.parse().ok()?,
                submitted_at: Timestamp::from_unix_micros(parts.next()?.parse().ok()?),
                id: JobId(target::whole_number(parts.next()?)?),
            };
            parts.next().is_none().then_some(place)
        };
        let bad = || format!("`after` is the `next_after` of another page, not {text:?}");
        read().ok_or_else(|| Problem::bad_request("bad_parameter", bad()))
    }
}

/// As [`Place::read`] reads it.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let class = match self.class {
            JobClass::Release => "release",
            JobClass::Normal => "normal",
            JobClass::Idle => "idle",
        };
        write!(f, "{class}.{}.{}.{}", self.priority, self.submitted_at.unix_micros(), self.id)
    }
}
