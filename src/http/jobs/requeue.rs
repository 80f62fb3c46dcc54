//! Running jobs put back by an operator, with their age: those of a builder, a pool, a worker, or a list.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};

use crate::domain::dispatcher::{self, ClaimId, Command, Filter, JobId, Run};
use crate::domain::{Author, BuilderName, Event, PoolName, WorkerName};
use crate::http::App;
use crate::http::auth::Call;
use crate::http::ids::{JobText, as_text};
use crate::http::parameters::{flag, only_parameters};
use crate::http::payload::{from_json, read_json};
use crate::http::problem::Problem;
use crate::http::reason;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    builder: Option<BuilderName>,
    pool: Option<PoolName>,
    worker: Option<WorkerName>,
    jobs: Option<Vec<JobText>>,
    #[serde(default)]
    all: bool,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    jobs: Vec<PutBack>,
}

/// A job that waits again, and the run that it was taken from.
#[derive(Serialize)]
struct PutBack {
    #[serde(serialize_with = "as_text")]
    id: JobId,
    builder: BuilderName,
    #[serde(serialize_with = "as_text")]
    claim: ClaimId,
    worker: WorkerName,
}

/// `POST /v1/jobs/requeue?dry_run=`
pub async fn requeue(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &["dry_run"])?;
    let dry_run = flag(&request, "dry_run")?;
    let parsed = read_json(body, app.max_body_bytes, parse).await?;
    let permit = app.authorize(&request, Call::RequeueJobs)?;
    let (which, reason) = parsed.into_inner()?;
    let command = permit.command(Command::Requeue { which, author: permit.author.clone(), reason });
    let jobs = if dry_run {
        let now = app.clock.now();
        put_back(&app.engine.ask(move |farm| farm.plan(now, command)).await??, &permit.author)
    } else {
        put_back(&app.engine.submit(command).await?.events, &permit.author)
    };
    Ok(HttpResponse::Ok().json(Answer { jobs }))
}

/// A slip must not stop the whole farm, so everything has to be asked for by name.
fn parse(body: &[u8]) -> Result<(Filter, Option<String>), Problem> {
    let Body { builder, pool, worker, jobs, all, reason } = from_json(body)?;
    reason::check(reason.as_deref())?;
    let jobs = jobs.map(|jobs| jobs.into_iter().map(|JobText(id)| id).collect());
    let which = Filter { builder, pool, worker, jobs };
    if all == (which == Filter::default()) {
        return Ok((which, reason));
    }
    let detail = "say which jobs by builder, pool, worker or jobs, or say \"all\": true and none of these";
    Err(Problem::bad_request("malformed", detail))
}

/// The operator's own: what ended for another reason meanwhile is not told.
fn put_back(events: &[Event], by: &Author) -> Vec<PutBack> {
    let one = |event: &Event| match event {
        Event::Dispatcher(dispatcher::Event::RunEnded(Run { claim, job, builder, worker, author, .. }))
            if author == by =>
        {
            Some(PutBack { id: *job, builder: builder.clone(), claim: *claim, worker: worker.clone() })
        }
        Event::Dispatcher(_) | Event::Fleet(_) | Event::Allocator(_) | Event::Access(_) => None,
    };
    events.iter().filter_map(one).collect()
}
