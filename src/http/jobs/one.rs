//! One job over HTTP: looked at, with its payload, or cancelled.

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::json;

use super::shown::Shown;
use crate::domain::Farm;
use crate::domain::dispatcher::{Command, JobId};
use crate::http::App;
use crate::http::auth::Call;
use crate::http::parameters::only_parameters;
use crate::http::problem::Problem;
use crate::http::{ids, reason, target};

/// `GET /v1/jobs/<id>`
pub async fn job(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    let id = meant(&request)?;
    let look = move |farm: &Farm| match farm.jobs.job(id) {
        Some(job) => Some(Ok((Shown::of(&farm.jobs, id, job), job.spec.has_payload))),
        None => farm.jobs.has_ended(id).then_some(Err(())),
    };
    match app.engine.ask(look).await? {
        Some(Ok((mut shown, has_payload))) => {
            if has_payload {
                shown.payload = app.payloads_of(vec![id]).await?.remove(&id);
            }
            Ok(HttpResponse::Ok().json(shown))
        }
        Some(Err(())) => Ok(HttpResponse::Ok().json(json!({ "id": id.to_string(), "state": "ended" }))),
        None => Err(no_such_job(&id.to_string())),
    }
}

/// `DELETE /v1/jobs/<id>?reason=`
pub async fn cancel(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_job_call(&request)?;
    only_parameters(&request, &["reason"])?;
    let reason = reason::parameter(&request)?;
    let permit = app.authorize(&request, Call::ManageJobs)?;
    let job = meant(&request)?;
    let command = Command::Cancel { job, author: permit.author.clone(), reason };
    app.engine.submit(permit.command(command)).await?;
    Ok(HttpResponse::Ok().json(json!({ "id": job.to_string(), "state": "ended" })))
}

/// The job in the path.
fn meant(request: &HttpRequest) -> Result<JobId, Problem> {
    let bytes = target::name(request.uri()).unwrap_or_default();
    ids::job(&bytes).ok_or_else(|| no_such_job(&String::from_utf8_lossy(&bytes)))
}

fn no_such_job(id: &str) -> Problem {
    Problem::not_found("no_such_job", format!("there is no job {id:?}"))
}
