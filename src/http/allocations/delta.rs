//! What changed since a generation, at once or as soon as something does.

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use tokio::time::Instant;

use super::made::Question;
use crate::domain::allocator::{Delta, Generation, NotKept};
use crate::engine::views::{Body, DeltaBody, View};
use crate::http::App;
use crate::http::limits::MAX_WAIT;
use crate::http::negotiate::{GENERATION_HEADER, Version, respond};
use crate::http::paging::number;
use crate::http::problem::Problem;
use crate::http::target;

/// The parameters of a delta.
struct Query {
    since: Generation,
    /// The newest generation there is, if `None`.
    until: Option<Generation>,
    wait: Option<Duration>,
}

/// Whether any parameter makes this a question about a change.
pub fn is_asked_for(query: &str) -> bool {
    ["since", "until", "wait", "epoch"].iter().any(|key| target::parameter_of(query, key).is_some())
}

/// `GET /v1/allocations?since=`
pub async fn delta(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    let query = Query::read(&request, app.views.current().epoch())?;
    app.admit_read(&request)?;
    if let Some(until) = query.until {
        return difference(&request, &app, query.since, until).await;
    }
    let view = app.views.current_owned();
    if query.since != view.generation() {
        return since(&request, &app, &view, query.since).await;
    }
    let Some(wait) = query.wait.filter(|wait| !wait.is_zero()) else {
        return difference(&request, &app, query.since, query.since).await;
    };
    let _place = app.limits.stream()?;
    let (mut generations, mut stopping) = (app.views.generations(), app.stopping.clone());
    tokio::select! {
        newer = generations.wait_for(|newest| *newest > query.since) => {
            newer.map_err(|_| anyhow::anyhow!("the writer has ended"))?;
            since(&request, &app, &app.views.current_owned(), query.since).await
        }
        () = tokio::time::sleep_until(Instant::now() + wait) => Ok(nothing_yet(query.since)),
        _ = stopping.wait_for(|stopping| *stopping) => Ok(nothing_yet(query.since)),
    }
}

impl Query {
    fn read(request: &HttpRequest, epoch: &str) -> Result<Self, Problem> {
        let since = generation(request, "since")?.ok_or_else(|| {
            Problem::bad_request("bad_parameter", "`wait`, `until` and `epoch` go with `since=<generation>`")
        })?;
        let until = generation(request, "until")?;
        check_epoch(request, epoch)?;
        Ok(Self { since, until, wait: wait(request)? })
    }
}

/// `epoch=` is ours, if it is given: the generations of another one are others, whatever their numbers.
pub fn check_epoch(request: &HttpRequest, epoch: &str) -> Result<(), Problem> {
    match target::text_parameter(request, "epoch") {
        Some(theirs) if theirs != epoch => {
            let detail = format!("epoch {theirs:?} is not ours, which is {epoch:?}: read all allocations again");
            Err(Problem::gone("other_epoch", detail))
        }
        _ => Ok(()),
    }
}

/// A generation number in a parameter.
pub fn generation(request: &HttpRequest, key: &str) -> Result<Option<Generation>, Problem> {
    Ok(number(request, key)?.map(Generation))
}

fn wait(request: &HttpRequest) -> Result<Option<Duration>, Problem> {
    let Some(text) = target::text_parameter(request, "wait") else { return Ok(None) };
    let seconds: Option<f64> = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    let seconds = seconds.ok_or_else(|| {
        Problem::bad_request("bad_parameter", format!("`wait` is a number of seconds from 0 up, not {text:?}"))
    })?;
    Ok(Some(Duration::from_secs_f64(seconds.min(MAX_WAIT.as_secs_f64()))))
}

/// The delta to the view's generation: ready-made if the client was up to date
/// until the last change, which is what nearly all clients are.
async fn since(request: &HttpRequest, app: &App, view: &View, since: Generation) -> Result<HttpResponse, Problem> {
    match view.steps().last() {
        Some(step) if step.since() == since => {
            let version = Version { epoch: view.epoch(), since: Some(since), generation: step.generation };
            Ok(respond(request.headers(), version, |encoding| step.delta.encoded(encoding)))
        }
        _ => difference(request, app, since, view.generation()).await,
    }
}

async fn difference(
    request: &HttpRequest,
    app: &App,
    since: Generation,
    until: Generation,
) -> Result<HttpResponse, Problem> {
    let view = app.views.current_owned();
    let question = Question::Delta { since, until };
    let body = match app.made.get(view.generation(), question) {
        Some(body) => body,
        None => {
            let asked = app.engine.ask(move |farm| farm.allocations.difference(since, until));
            let Delta { set, unset } = asked.await?.map_err(not_kept)?;
            let body = DeltaBody { epoch: None, generation: until, since, set: &set, unset: &unset }.encode();
            app.made.keep(view.generation(), question, Body::new(body))
        }
    };
    let version = Version { epoch: view.epoch(), since: Some(since), generation: until };
    Ok(respond(request.headers(), version, |encoding| body.encoded(encoding)))
}

pub fn not_kept(error: NotKept) -> Problem {
    Problem::gone("generation_not_kept", format!("{error}: read all allocations again"))
}

fn nothing_yet(generation: Generation) -> HttpResponse {
    HttpResponse::NoContent().insert_header((GENERATION_HEADER, generation.0)).finish()
}
