//! The life of a claim: its worker lives, or has come to an end with the job.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::dispatcher::{self, ClaimId, Command, JobId, Next, Reply, Run, RunResult, Token};
use crate::domain::{self, Event};
use crate::http::App;
use crate::http::auth::Call;
use crate::http::ids::{self, as_text};
use crate::http::parameters::only_parameters;
use crate::http::payload::{from_json, read_json};
use crate::http::problem::Problem;
use crate::http::strict::Word;
use crate::http::target;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lives {
    token: Token,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    token: Token,
    result: Word<Told>,
}

/// The results that a master may tell; the others are found out by the server itself.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Told {
    Success,
    Failure,
    Exception,
    Retry,
    Cancelled,
}

/// What has become of the job.
#[derive(Serialize)]
struct Answer {
    #[serde(serialize_with = "as_text")]
    id: ClaimId,
    #[serde(serialize_with = "as_text")]
    job: JobId,
    result: RunResult,
    next: Next,
}

/// `POST /v1/claims/<id>/heartbeat`
pub async fn heartbeat(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_job_call(&request)?;
    only_parameters(&request, &[])?;
    let parsed = read_json(body, app.max_body_bytes, from_json).await?;
    let permit = app.authorize(&request, Call::ClaimJobs)?;
    let Lives { token } = parsed.into_inner()?;
    let command = Command::Heartbeat { claim: meant(&request)?, token };
    match app.engine.submit(permit.command(command)).await?.reply {
        domain::Reply::Dispatcher(Reply::Lease(until)) => Ok(HttpResponse::Ok().json(json!({ "lease_until": until }))),
        other => Err(anyhow::anyhow!("a heartbeat was answered with {other:?}").into()),
    }
}

/// `POST /v1/claims/<id>/finish`
pub async fn finish(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_job_call(&request)?;
    only_parameters(&request, &[])?;
    let parsed = read_json(body, app.max_body_bytes, from_json).await?;
    let permit = app.authorize(&request, Call::ClaimJobs)?;
    let Ended { token, result: Word(told) } = parsed.into_inner()?;
    let result = match told {
        Told::Success => RunResult::Success,
        Told::Failure => RunResult::Failure,
        Told::Exception => RunResult::Exception,
        Told::Retry => RunResult::Retry,
        Told::Cancelled => RunResult::Cancelled,
    };
    let id = meant(&request)?;
    let command = Command::Finish { claim: id, token, result, author: permit.author.clone() };
    let done = app.engine.submit(permit.command(command)).await?;
    let ended = done.events.iter().find_map(|event| match event {
        Event::Dispatcher(dispatcher::Event::RunEnded(Run { claim, job, next, .. })) if *claim == id => {
            Some(Answer { id, job: *job, result, next: *next })
        }
        Event::Dispatcher(_) | Event::Fleet(_) | Event::Allocator(_) | Event::Access(_) => None,
    });
    ended.map(|ended| HttpResponse::Ok().json(ended)).ok_or_else(|| anyhow::anyhow!("claim {id} did not end").into())
}

/// The claim in the path.
fn meant(request: &HttpRequest) -> Result<ClaimId, Problem> {
    let (id, _) = target::name_and_action(request).unwrap_or_default();
    ids::claim(&id).ok_or_else(|| {
        let detail = format!("there was no claim {:?}", String::from_utf8_lossy(&id));
        Problem::not_found("no_such_claim", detail)
    })
}
