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
    set(&request, &app, body, |name| PoolName::parse_bytes(name).map(Pausable::Pool)).await
}

/// `POST /v1/builders/<name>/pause`, `…/resume`
pub async fn builder(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    set(&request, &app, body, |name| BuilderName::parse_bytes(name).map(Pausable::Builder)).await
}

async fn set(
    request: &HttpRequest,
    app: &App,
    body: web::Payload,
    parse: impl Fn(&[u8]) -> Result<Pausable, BadName>,
) -> Result<HttpResponse, Problem> {
    app.admit_write(request)?;
    only_parameters(request, &["name"])?;
    let action = target::name_and_action(request);
    let parsed = read_json(body, app.max_body_bytes, reason::in_body).await?;
    let permit = app.authorize(request, Call::Pause)?;
    let (reason, author) = (parsed.into_inner()?, permit.author.clone());
    let Some((name, action)) = action else { return Err(no_such_action()) };
    let what = parse(&name).map_err(|error| Problem::bad_request("bad_name", error.to_string()))?;
    let command = match &*action {
        b"pause" => Command::Pause { what: what.clone(), author, reason },
        b"resume" => Command::Resume { what: what.clone(), author, reason },
        _ => return Err(no_such_action()),
    };
    app.engine.submit(permit.command(command)).await?;
    let shown = app.engine.ask(move |farm| Answer { paused: farm.fleet.pauses().get(&what).cloned(), what }).await?;
    Ok(HttpResponse::Ok().json(shown))
}

fn no_such_action() -> Problem {
    let detail = "what can be done to pools and builders is POST to their pause and resume";
    Problem::method_not_allowed("GET, HEAD", detail)
}
