//! Explanations over HTTP: why a job waits, why a worker is idle, where a builder stands.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;
use serde_json::json;

use super::App;
use super::parameters::only_parameters;
use super::problem::Problem;
use super::{ids, target};
use crate::domain::dispatcher::explain::{self, ExplainedBuilder, ExplainedWorker, Scene};
use crate::domain::dispatcher::{Command, JobId, OpenOffer, Reply};
use crate::domain::{self, BuilderName, WorkerName};
use crate::engine::SubmitError;

/// `GET /v1/jobs/<id>/explain`
pub async fn job(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    only_parameters(&request, &[])?;
    let bytes = target::name_and_action(&request).map(|(id, _)| id).unwrap_or_default();
    let no_such_job =
        |id: &[u8]| Problem::not_found("no_such_job", format!("there is no job {:?}", String::from_utf8_lossy(id)));
    let id = ids::job(&bytes).ok_or_else(|| no_such_job(&bytes))?;
    let explain = move |scene: &Scene<'_>| match explain::job(scene, id) {
        Some(explained) => Some(Ok(explained)),
        None => scene.farm.jobs.has_ended(id).then_some(Err(())),
    };
    match look(&app, explain).await? {
        Some(Ok(explained)) => Ok(HttpResponse::Ok().json(explained)),
        Some(Err(())) => {
            let reason = "it has ended; the run history says how";
            Ok(HttpResponse::Ok().json(json!({ "job": id.to_string(), "state": "ended", "reason": reason })))
        }
        None => Err(no_such_job(&bytes)),
    }
}

/// What `GET /v1/explain` answers.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Worker(ExplainedWorker),
    Builder(Box<ExplainedBuilder>),
}

/// `GET /v1/explain?worker=`, `GET /v1/explain?builder=`
///
/// Names in a query, since below their collections every path is a name already.
pub async fn one(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    only_parameters(&request, &["worker", "builder"])?;
    let answer = match (target::parameter(&request, "worker"), target::parameter(&request, "builder")) {
        (Some(name), None) => Answer::Worker(worker(&app, &name).await?),
        (None, Some(name)) => Answer::Builder(Box::new(builder(&app, &name).await?)),
        (None, None) | (Some(_), Some(_)) => {
            let detail =
                "name what is to be explained: ?worker=NAME or ?builder=NAME; a job is at /v1/jobs/<id>/explain";
            return Err(Problem::bad_request("bad_parameter", detail));
        }
    };
    Ok(HttpResponse::Ok().json(answer))
}

async fn worker(app: &App, name: &[u8]) -> Result<ExplainedWorker, Problem> {
    let unknown = || {
        let detail = format!("no worker {:?} is in the farm", String::from_utf8_lossy(name));
        Problem::not_found("no_such_worker", detail)
    };
    let name = WorkerName::parse_bytes(name).map_err(|_| unknown())?;
    look(app, move |scene| explain::worker(scene, &name)).await?.ok_or_else(unknown)
}

async fn builder(app: &App, name: &[u8]) -> Result<ExplainedBuilder, Problem> {
    let unknown = |why: String| Problem::not_found("no_such_builder", why);
    let name = BuilderName::parse_bytes(name).map_err(|error| unknown(error.to_string()))?;
    let explained = look(app, move |scene| explain::builder(scene, &name).map_err(|why| (name.clone(), why))).await?;
    explained.map_err(|(name, why)| unknown(format!("builder {name:?}: {why}")))
}

/// Asks a question about the farm as it is, with the claim calls that are open.
async fn look<T: Send + 'static>(
    app: &App,
    question: impl FnOnce(&Scene<'_>) -> T + Send + 'static,
) -> Result<T, Problem> {
    let offers = offers(app).await?;
    let now = app.clock.now();
    let answer = app.engine.ask_beside(now, move |farm, volatile| {
        volatile.board.catch_up(farm.dispatched(), now);
        question(&Scene::new(farm.dispatched(), &volatile.board, &offers, now, &|id: JobId| id.to_string()))
    });
    Ok(answer.await?)
}

/// The open claim calls; none while nothing can be written, since then nobody is given a job.
async fn offers(app: &App) -> Result<Vec<OpenOffer>, Problem> {
    match app.engine.submit(Command::Look.into()).await {
        Ok(done) => match done.reply {
            domain::Reply::Dispatcher(Reply::Offers(offers)) => Ok(offers),
            domain::Reply::Events | domain::Reply::Dispatcher(_) => Ok(Vec::new()),
        },
        Err(SubmitError::ReadOnly { .. }) => Ok(Vec::new()),
        Err(refused) => Err(refused.into()),
    }
}
