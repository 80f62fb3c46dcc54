//! Pools and builders paused and resumed over HTTP.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::App;
use super::auth::Call;
use super::parameters::only_parameters;
use super::payload::read_json;
use super::problem::Problem;
use super::{reason, target};
use crate::domain::fleet::{Command, Pausable, Pause};
use crate::domain::{BadName, BuilderName, PoolName};

/// What is paused, or goes on.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    what: Pausable,
    /// Null once it goes on.
    paused: Option<Pause>,
}

/// `POST /v1/pools/<name>/pause`, `…/resume`
pub async fn pool(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    set(&request, &app, body, "GET, HEAD", |name| PoolName::parse_bytes(name).map(Pausable::Pool)).await
}

/// `POST /v1/builders/<name>/pause`, `…/resume`
pub async fn builder(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    let others = "GET, HEAD, PUT, DELETE";
    set(&request, &app, body, others, |name| BuilderName::parse_bytes(name).map(Pausable::Builder)).await
}

async fn set(
    request: &HttpRequest,
    app: &App,
    body: web::Payload,
    // What is possible where there is nothing to pause.
    others: &str,
    parse: impl Fn(&[u8]) -> Result<Pausable, BadName>,
) -> Result<HttpResponse, Problem> {
    let target = target::name_and_action(request).and_then(|(name, action)| Some((name, is_pause(&action)?)));
    let (name, pauses) = target.ok_or_else(|| {
        let detail = "what can be done to pools and builders is POST to their pause and resume";
        Problem::method_not_allowed(others, detail)
    })?;
    app.admit_write(request)?;
    only_parameters(request, &["name"])?;
    let parsed = read_json(body, app.max_body_bytes, reason::in_body).await?;
    let permit = app.authorize(request, Call::Pause)?;
    let (reason, author) = (parsed.into_inner()?, permit.author.clone());
    let what = parse(&name).map_err(|error| Problem::bad_request("bad_name", error.to_string()))?;
    let command = if pauses {
        Command::Pause { what: what.clone(), author, reason }
    } else {
        Command::Resume { what: what.clone(), author, reason }
    };
    app.engine.submit(permit.command(command)).await?;
    let shown = app.engine.ask(move |farm| Answer { paused: farm.fleet.pauses().get(&what).cloned(), what }).await?;
    Ok(HttpResponse::Ok().json(shown))
}

fn is_pause(action: &[u8]) -> Option<bool> {
    match action {
        b"pause" => Some(true),
        b"resume" => Some(false),
        _ => None,
    }
}
