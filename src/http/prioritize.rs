//! Advice over HTTP to masters that assign by themselves; nothing is changed by it.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::App;
use super::auth::Call;
use super::parameters::only_parameters;
use super::payload::{from_json, read_json};
use super::problem::Problem;
use super::strict::Word;
use crate::domain::dispatcher::{self, Advice, MAX_JOBS_PER_CALL, MAX_OFFERED_WORKERS, NewJob, Refusal as JobsRefusal};
use crate::domain::fleet::JobClass;
use crate::domain::{BuilderName, Refusal, Timestamp, WorkerName};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    idle: Vec<WorkerName>,
    pending: Vec<Pending>,
}

/// A job that waits at the master.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pending {
    builder: BuilderName,
    priority: Option<i64>,
    class: Option<Word<JobClass>>,
    submitted_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct Answer {
    order: Vec<BuilderName>,
    assign: Vec<Assign>,
    held: Vec<Held>,
    ignored: Vec<Ignored>,
}

#[derive(Serialize)]
struct Assign {
    builder: BuilderName,
    worker: WorkerName,
}

#[derive(Serialize)]
struct Held {
    builder: BuilderName,
    reason: String,
}

/// A worker that is not idle for us.
#[derive(Serialize)]
struct Ignored {
    worker: WorkerName,
    reason: String,
}

/// `POST /v1/prioritize`
pub async fn prioritize(
    request: HttpRequest,
    app: web::Data<App>,
    body: web::Payload,
) -> Result<HttpResponse, Problem> {
    app.admit_job_call(&request)?;
    only_parameters(&request, &[])?;
    let parsed = read_json(body, app.max_body_bytes, parse).await?;
    app.authorize(&request, Call::Prioritize)?;
    let Body { idle, pending } = parsed.into_inner()?;
    let pending = pending.into_iter().map(new_job).collect();
    let now = app.clock.now();
    let advice = app.engine.ask(move |farm| dispatcher::advise(farm.dispatched(), now, idle, pending)).await?;
    Ok(HttpResponse::Ok().json(Answer::from(advice)))
}

fn parse(body: &[u8]) -> Result<Body, Problem> {
    let body: Body = from_json(body)?;
    if body.pending.len() > MAX_JOBS_PER_CALL {
        return Err(Refusal::from(JobsRefusal::TooManyJobs { given: body.pending.len() }).into());
    }
    if body.idle.len() > MAX_OFFERED_WORKERS {
        return Err(Refusal::from(JobsRefusal::TooManyWorkers { given: body.idle.len() }).into());
    }
    Ok(body)
}

fn new_job(pending: Pending) -> NewJob {
    NewJob {
        priority: pending.priority,
        class: pending.class.map(|Word(class)| class),
        submitted_at: pending.submitted_at,
        ..NewJob::of(pending.builder)
    }
}

impl From<Advice> for Answer {
    fn from(advice: Advice) -> Self {
        Self {
            order: advice.order,
            assign: advice.assign.into_iter().map(|(builder, worker)| Assign { builder, worker }).collect(),
            held: advice.held.into_iter().map(|(builder, reason)| Held { builder, reason }).collect(),
            ignored: advice.ignored.into_iter().map(|(worker, reason)| Ignored { worker, reason }).collect(),
        }
    }
}
