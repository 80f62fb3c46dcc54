//! The fleet over HTTP: who is there, who came by the API, and who is out of work.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::App;
use super::auth::Call;
use super::jobs::ShownRun;
use super::paging::limit;
use super::parameters::only_parameters;
use super::payload::{from_json, read_json};
use super::problem::Problem;
use super::strict::{Unique, Word};
use super::{reason, target};
use crate::domain::dispatcher::Record;
use crate::domain::fleet::{Attributes, Command, Duty, Worker, WorkerClass};
use crate::domain::{Author, BuilderName, Farm, PoolName, Timestamp, WorkerName};

#[derive(Serialize)]
struct Shown {
    name: WorkerName,
    pool: PoolName,
    class: WorkerClass,
    attributes: Attributes,
    state: Duty,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    assigned: Option<ShownDuty>,
    /// The end of a quarantine that it is in by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<ShownRun>,
    /// `file` or `api`.
    from: &'static str,
    builders: Vec<BuilderName>,
}

/// Who set the state, why and when.
#[derive(Serialize)]
struct ShownDuty {
    author: Author,
    reason: Option<String>,
    /// `None`: since its last exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
}

#[derive(Serialize)]
struct Page {
    workers: Vec<Shown>,
    /// `after` of the next page; null on the last.
    next_after: Option<WorkerName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PutBody {
    pool: String,
    class: Option<Word<WorkerClass>>,
    #[serde(default)]
    attributes: Unique<String>,
    reason: Option<String>,
}

/// `GET /v1/workers?pool=&state=&limit=&after=`, `GET /v1/workers/<name>`
pub async fn workers(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    let Some(name) = target::name(request.uri()) else { return list(&request, &app).await };
    let Ok(name) = WorkerName::parse_bytes(&name) else { return Err(no_such_worker(&String::from_utf8_lossy(&name))) };
    let worker = show(&app, &name).await?.ok_or_else(|| no_such_worker(name.as_str()))?;
    Ok(HttpResponse::Ok().json(worker))
}

async fn list(request: &HttpRequest, app: &App) -> Result<HttpResponse, Problem> {
    let limit = limit(request)?;
    let text = |key| target::text_parameter(request, key);
    let (pool, state, after) = (text("pool"), text("state").map(|text| duty(&text)).transpose()?, text("after"));
    let wanted = move |farm: &Farm| {
        let fits = |name: &WorkerName, worker: &Worker| {
            pool.as_deref().is_none_or(|pool| worker.pool.as_str() == pool)
                && state.is_none_or(|state| state_of(farm, name) == state)
                && after.as_deref().is_none_or(|after| name.as_str() > after)
        };
        let mut names: Vec<_> =
            farm.fleet.workers().filter(|(name, worker)| fits(name, worker)).map(|(name, _)| name).collect();
        names.sort_unstable();
        let more = names.len() > limit;
        names.truncate(limit);
        let next_after = names.last().filter(|_| more).map(|name| (*name).clone());
        Page { workers: names.into_iter().filter_map(|name| shown(farm, name)).collect(), next_after }
    };
    Ok(HttpResponse::Ok().json(app.engine.ask(wanted).await?))
}

/// `PUT /v1/workers/<name>`
pub async fn put(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &["name"])?;
    let parse = |body: &[u8]| {
        let body = from_json::<PutBody>(body)?;
        reason::check(body.reason.as_deref())?;
        Ok(body)
    };
    let parsed = read_json(body, app.max_body_bytes, parse).await?;
    let permit = app.authorize(&request, Call::ManageWorkers)?;
    let PutBody { pool, class, attributes, reason } = parsed.into_inner()?;
    let bad_name = |detail: String| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_name", detail);
    let name = target::name(request.uri()).ok_or_else(|| bad_name("name one worker".into()))?;
    let name = WorkerName::parse_bytes(&name).map_err(|error| bad_name(format!("the worker's name: {error}")))?;
    let pool = PoolName::parse(&pool).map_err(|error| bad_name(format!("pool {pool:?}: {error}")))?;
    let class = match class {
        Some(Word(class)) => class,
        None => pool_class(&app, pool.clone()).await?,
    };
    let is_new = show(&app, &name).await?.is_none();
    let worker = Worker { pool, class, attributes: Arc::new(attributes.0) };
    app.engine
        .submit(permit.command(Command::PutWorker {
            name: name.clone(),
            worker,
            author: permit.author.clone(),
            reason,
        }))
        .await?;
    answer(&app, &name, if is_new { StatusCode::CREATED } else { StatusCode::OK }).await
}

/// `DELETE /v1/workers/<name>`
pub async fn delete(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &["name", "reason"])?;
    let reason = reason::parameter(&request)?;
    let permit = app.authorize(&request, Call::ManageWorkers)?;
    let name = target::name(request.uri()).unwrap_or_default();
    let name = WorkerName::parse_bytes(&name).map_err(|_| no_such_worker(&String::from_utf8_lossy(&name)))?;
    app.engine
        .submit(permit.command(Command::RemoveWorker { name: name.clone(), author: permit.author.clone(), reason }))
        .await?;
    Ok(HttpResponse::Ok().json(serde_json::json!({ "name": name })))
}

/// `POST /v1/workers/<name>/drain`, `…/quarantine`, `…/release`
pub async fn set_duty(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &["name"])?;
    let target = target::name_and_action(&request).and_then(|(name, action)| Some((name, action_duty(&action)?)));
    let (name, duty) = target.ok_or_else(|| {
        let detail = "what can be done to a worker is POST to its drain, quarantine or release";
        Problem::method_not_allowed("GET, HEAD, PUT, DELETE", detail)
    })?;
    let parsed = read_json(body, app.max_body_bytes, reason::in_body).await?;
    let permit = app.authorize(&request, Call::ManageWorkers)?;
    let reason = parsed.into_inner()?;
    let name = WorkerName::parse_bytes(&name).map_err(|_| no_such_worker(&String::from_utf8_lossy(&name)))?;
    app.engine
        .submit(permit.command(Command::SetDuty { name: name.clone(), duty, author: permit.author.clone(), reason }))
        .await?;
    answer(&app, &name, StatusCode::OK).await
}

fn action_duty(action: &[u8]) -> Option<Duty> {
    match action {
        b"drain" => Some(Duty::Draining),
        b"quarantine" => Some(Duty::Quarantined),
        b"release" => Some(Duty::Active),
        _ => None,
    }
}

fn duty(text: &str) -> Result<Duty, Problem> {
    serde_json::from_value(text.into()).map_err(|_| {
        Problem::bad_request("bad_parameter", format!("`state` is active, draining or quarantined, not {text:?}"))
    })
}

async fn pool_class(app: &App, pool: PoolName) -> Result<WorkerClass, Problem> {
    let class = move |farm: &Farm| {
        farm.fleet.definition().pools.iter().find(|listed| listed.name == pool).map(|listed| listed.class)
    };
    // Of a pool that is not there, it does not matter: the command is refused.
    Ok(app.engine.ask(class).await?.unwrap_or(WorkerClass::Inhouse))
}

async fn answer(app: &App, name: &WorkerName, status: StatusCode) -> Result<HttpResponse, Problem> {
    // It may be gone again by now.
    let worker = show(app, name).await?.ok_or_else(|| no_such_worker(name.as_str()))?;
    Ok(HttpResponse::build(status).json(worker))
}

async fn show(app: &App, name: &WorkerName) -> Result<Option<Shown>, Problem> {
    let name = name.clone();
    Ok(app.engine.ask(move |farm| shown(farm, &name)).await?)
}

fn shown(farm: &Farm, name: &WorkerName) -> Option<Shown> {
    let Worker { pool, class, attributes } = farm.fleet.worker(name)?.clone();
    let Record { exceptions, quarantines: _, until } = farm.jobs.health().of(name);
    let by_itself = until.map(|_| ShownDuty {
        author: Author::new("dispatcher"),
        reason: Some(format!("{exceptions} exceptions in a row")),
        since: None,
    });
    let assigned = farm.fleet.assigned(name).map(|assigned| ShownDuty {
        author: assigned.author.clone(),
        reason: assigned.reason.clone(),
        since: Some(assigned.time),
    });
    Some(Shown {
        name: name.clone(),
        pool,
        class,
        attributes,
        state: state_of(farm, name),
        assigned: assigned.or(by_itself),
        until,
        running: farm.jobs.claim_of(name).map(|(claim, running)| ShownRun::of(claim, running)),
        from: if farm.fleet.is_in_file(name) { "file" } else { "api" },
        builders: farm.allocations.builders_of(name).unwrap_or_default().to_vec(),
    })
}

/// What an operator said comes before what its runs say.
pub fn state_of(farm: &Farm, name: &WorkerName) -> Duty {
    match (farm.fleet.assigned(name), farm.jobs.health().quarantined_until(name)) {
        (Some(assigned), _) => assigned.duty,
        (None, Some(_)) => Duty::Quarantined,
        (None, None) => Duty::Active,
    }
}

fn no_such_worker(name: &str) -> Problem {
    Problem::not_found("no_such_worker", format!("there is no worker {name:?}"))
}
