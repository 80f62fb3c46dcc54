//! A claim call: these workers are idle, give them jobs, now or as soon as there are some.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::waiters::Waiter;
use crate::domain::dispatcher::{ClaimId, Command, Granted, JobId, MAX_TEXT_BYTES, Offer, Reply, Token};
use crate::domain::{self, Refusal, Timestamp, WorkerName};
use crate::engine::SubmitError;
use crate::http::App;
use crate::http::auth::{Call, Permit};
use crate::http::ids::as_text;
use crate::http::jobs::Spec;
use crate::http::limits::MAX_WAIT;
use crate::http::parameters::only_parameters;
use crate::http::payload::{from_json, read_json};
use crate::http::problem::Problem;
use crate::ports::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    workers: Vec<WorkerName>,
    /// Absent: as many as there are workers.
    max: Option<usize>,
    /// In seconds.
    #[serde(default)]
    wait: f64,
    /// Absent: the token's name.
    session: Option<Arc<str>>,
    idempotency_key: Option<Arc<str>>,
}

#[derive(Serialize)]
struct Answer {
    claims: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    #[serde(serialize_with = "as_text")]
    id: ClaimId,
    token: Token,
    job: ShownJob,
    worker: WorkerName,
    attempt: u32,
    lease_until: Timestamp,
}

/// What is to be run.
#[derive(Serialize)]
struct ShownJob {
    #[serde(serialize_with = "as_text")]
    id: JobId,
    /// `None` of a job that has ended, in an answer that is given once more.
    #[serde(flatten)]
    spec: Option<Spec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Box<RawValue>>,
}

/// `POST /v1/claims`
pub async fn claim(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_job_call(&request)?;
    only_parameters(&request, &[])?;
    let parsed = read_json(body, app.max_body_bytes, parse).await?;
    let permit = app.authorize(&request, Call::ClaimJobs)?;
    let body = parsed.into_inner()?;
    let wait = Duration::from_secs_f64(body.wait.min(MAX_WAIT.as_secs_f64()));
    let _place = if wait.is_zero() { None } else { Some(app.limits.stream()?) };
    let offer = offer(body, &permit)?;
    let mut waiter = app.waiters.wait(&app.engine);
    let command = permit.command(Command::Offer { id: waiter.id(), offer });
    let done = app.engine.submit(command).await.inspect_err(|_| waiter.is_answered())?;
    let claims = match done.reply {
        domain::Reply::Dispatcher(Reply::Repeated(claims)) => {
            waiter.is_answered();
            Some(claims)
        }
        domain::Reply::Dispatcher(_) | domain::Reply::Events => wait_for_claims(&app, &mut waiter, wait).await?,
    };
    match claims {
        Some(claims) => Ok(HttpResponse::Ok().json(Answer { claims: shown(&app, claims).await? })),
        None => Ok(HttpResponse::NoContent().finish()),
    }
}

fn parse(body: &[u8]) -> Result<Body, Problem> {
    let malformed = |detail| Err(Problem::bad_request("malformed", detail));
    let body: Body = from_json(body)?;
    if !(body.wait.is_finite() && body.wait >= 0.0) {
        return malformed(format!("`wait` is a number of seconds from 0 up, not {}", body.wait));
    }
    for (key, text) in [("session", &body.session), ("idempotency_key", &body.idempotency_key)] {
        if text.as_ref().is_some_and(|text| !(1..=MAX_TEXT_BYTES).contains(&text.len())) {
            return malformed(format!("`{key}` has 1 to {MAX_TEXT_BYTES} bytes"));
        }
    }
    Ok(body)
}

fn offer(body: Body, permit: &Permit) -> Result<Offer, Fault> {
    let Body { workers, max, wait, session, idempotency_key } = body;
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    Ok(Offer {
        max: max.unwrap_or(workers.len()),
        workers,
        session: session.unwrap_or_else(|| permit.author.as_str().into()),
        idempotency_key,
        token: Token::new(u128::from_ne_bytes(bits)),
        author: permit.author.clone(),
        stays_open: wait > 0.0,
    })
}

/// The claims of an offer that was made; `None` when there are none in time, or the server stops.
async fn wait_for_claims(
    app: &App,
    waiter: &mut Waiter,
    wait: Duration,
) -> Result<Option<Vec<Granted>>, SubmitError<Refusal>> {
    if wait.is_zero() {
        // It was decided, and what came of it published, before it was answered.
        waiter.is_answered();
        return Ok(waiter.claims.try_recv().ok());
    }
    let mut stopping = app.stopping.clone();
    tokio::select! {
        claims = &mut waiter.claims => {
            waiter.is_answered();
            Ok(claims.ok())
        }
        () = tokio::time::sleep(wait) => waiter.withdraw().await,
        _ = stopping.wait_for(|stopping| *stopping) => waiter.withdraw().await,
    }
}

/// With the payloads of those jobs that have one.
async fn shown(app: &App, claims: Vec<Granted>) -> Result<Vec<Shown>, Fault> {
    let has_payload = |claim: &&Granted| claim.spec.as_ref().is_some_and(|spec| spec.has_payload);
    let mut payloads = app.payloads_of(claims.iter().filter(has_payload).map(|claim| claim.job).collect()).await?;
    let one = |Granted { id, token, job, spec, worker, attempt, lease_until }| {
        let job = ShownJob { id: job, spec: spec.map(Spec), payload: payloads.remove(&job) };
        Shown { id, token, job, worker, attempt, lease_until }
    };
    Ok(claims.into_iter().map(one).collect())
}
