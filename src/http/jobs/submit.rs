//! New jobs over HTTP: one, or thousands in one call, all or none of them.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::shown::Spec;
use crate::domain::dispatcher::{Accepted, Command, JobId, MAX_JOBS_PER_CALL, NewJob, Refusal as JobsRefusal, Reply};
use crate::domain::fleet::JobClass;
use crate::domain::{self, BuilderName, Refusal, Timestamp};
use crate::http::App;
use crate::http::auth::Call;
use crate::http::ids::as_text;
use crate::http::parameters::only_parameters;
use crate::http::payload::{from_object, read_json};
use crate::http::problem::Problem;
use crate::http::strict::Word;

/// A job as it is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent<'a> {
    builder: BuilderName,
    class: Option<Word<JobClass>>,
    priority: Option<i64>,
    submitted_at: Option<Timestamp>,
    branch: Option<Arc<str>>,
    project: Option<Arc<str>>,
    push: Option<Arc<str>>,
    idempotency_key: Option<Arc<str>>,
    #[serde(default)]
    inputs: Vec<Arc<str>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// What was accepted, in the order of the call.
#[derive(Serialize)]
struct Answer {
    jobs: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    #[serde(serialize_with = "as_text")]
    id: JobId,
    /// `None` of a known job that has ended.
    #[serde(flatten)]
    spec: Option<Spec>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    clamped: bool,
}

/// `POST /v1/jobs`
pub async fn submit(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_job_call(&request)?;
    only_parameters(&request, &[])?;
    let parsed = read_json(body, app.max_body_bytes, parse).await?;
    let permit = app.authorize(&request, Call::ManageJobs)?;
    let command = Command::Submit { jobs: parsed.into_inner()?, author: permit.author.clone() };
    let done = app.engine.submit(permit.command(command)).await?;
    let domain::Reply::Dispatcher(Reply::Jobs(accepted)) = done.reply else {
        return Err(anyhow::anyhow!("a submission was answered with {:?}", done.reply).into());
    };
    let jobs = accepted.into_iter().map(|Accepted { id, spec, known, clamped }| Shown {
        id,
        spec: spec.map(Spec),
        known,
        clamped,
    });
    Ok(HttpResponse::Created().json(Answer { jobs: jobs.collect() }))
}

/// One object, or a list of them.
fn parse(body: &[u8]) -> Result<Vec<NewJob>, Problem> {
    let malformed = |what: String| Problem::bad_request("malformed", what);
    if body.trim_ascii_start().first() != Some(&b'[') {
        let one = from_object(body).map_err(|error| malformed(format!("the job is not as it should be: {error}")))?;
        return Ok(vec![new_job(one)]);
    }
    let list: Vec<&RawValue> = serde_json::from_slice(body)
        .map_err(|error| malformed(format!("the list of jobs is not as it should be: {error}")))?;
    if list.len() > MAX_JOBS_PER_CALL {
        return Err(Refusal::from(JobsRefusal::TooManyJobs { given: list.len() }).into());
    }
    let one = |(index, json): (usize, &&RawValue)| {
        let sent = from_object(json.get().as_bytes());
        sent.map(new_job).map_err(|error| malformed(format!("jobs[{index}] is not as it should be: {error}")))
    };
    list.iter().enumerate().map(one).collect()
}

fn new_job(sent: Sent<'_>) -> NewJob {
    NewJob {
        builder: sent.builder,
        class: sent.class.map(|Word(class)| class),
        priority: sent.priority,
        submitted_at: sent.submitted_at,
        branch: sent.branch,
        project: sent.project,
        push: sent.push,
        idempotency_key: sent.idempotency_key,
        inputs: sent.inputs,
        payload: sent.payload.map(|json| json.get().into()),
    }
}
