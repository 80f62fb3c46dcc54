//! Writes of allocations. Checks come in one order: form, token, condition, size, rules.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

use super::body::{BuilderBody, Parsed, PatchBody, ReplaceBody, RollbackBody};
use crate::domain::allocator::{Command, Event, Generation, GenerationMade, Refusal, Write, WriteCommand};
use crate::domain::{self, BuilderName};
use crate::engine::views::{Body, DeltaBody};
use crate::http::App;
use crate::http::auth::{Call, Permit};
use crate::http::negotiate::{GENERATION_HEADER, Version, respond_whole, tags, without_encoding};
use crate::http::parameters::{flag, only_parameters};
use crate::http::payload::{self, from_json, read_json};
use crate::http::problem::Problem;
use crate::http::{reason, target};

/// `PUT /v1/allocations`
pub async fn replace(
    request: HttpRequest,
    app: web::Data<App>,
    payload: web::Payload,
) -> Result<HttpResponse, Problem> {
    write(&request, &app, payload, &[], |body| from_json::<ReplaceBody>(body)?.parse()).await
}

/// `PATCH /v1/allocations`
pub async fn patch(request: HttpRequest, app: web::Data<App>, payload: web::Payload) -> Result<HttpResponse, Problem> {
    write(&request, &app, payload, &[], |body| from_json::<PatchBody>(body)?.parse()).await
}

/// `PUT /v1/builders/<name>`
pub async fn put_builder(
    request: HttpRequest,
    app: web::Data<App>,
    payload: web::Payload,
) -> Result<HttpResponse, Problem> {
    let name = target::name(request.uri()).ok_or_else(no_name)?;
    write(&request, &app, payload, &["name"], |body| from_json::<BuilderBody>(body)?.parse(&name)).await
}

/// `DELETE /v1/builders/<name>`
pub async fn delete_builder(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    let name = target::name(request.uri()).ok_or_else(no_name)?;
    app.admit_write(&request)?;
    let flags = Flags::of(&request, &["name", "reason"])?;
    let reason = reason::parameter(&request)?;
    let parsed = match BuilderName::parse_bytes(&name) {
        Ok(builder) => Ok(Parsed { write: Write::Delete(builder), reason, bad_names: Vec::new() }),
        Err(error) => Err(Problem::not_found("not_allocated", format!("such a builder cannot exist: {error}"))),
    };
    admit(&request, &app, payload::Parsed::new(parsed), flags).await
}

/// `POST /v1/allocations/rollback`
pub async fn rollback(
    request: HttpRequest,
    app: web::Data<App>,
    payload: web::Payload,
) -> Result<HttpResponse, Problem> {
    write(&request, &app, payload, &[], |body| Ok(from_json::<RollbackBody>(body)?.parse())).await
}

fn no_name() -> Problem {
    Problem::method_not_allowed("GET, HEAD", "the collection as a whole is only read; name one builder")
}

async fn write(
    request: &HttpRequest,
    app: &App,
    payload: web::Payload,
    further: &[&str],
    parse: impl FnOnce(&[u8]) -> Result<Parsed, Problem>,
) -> Result<HttpResponse, Problem> {
    app.admit_write(request)?;
    let flags = Flags::of(request, further)?;
    let parse = |body: &[u8]| {
        let parsed = parse(body)?;
        reason::check(parsed.reason.as_deref())?;
        Ok(parsed)
    };
    let parsed = read_json(payload, app.max_body_bytes, parse).await?;
    admit(request, app, parsed, flags).await
}

/// Whether a well-formed write may be made: by this caller, in this state.
async fn admit(
    request: &HttpRequest,
    app: &App,
    parsed: payload::Parsed<Parsed>,
    flags: Flags,
) -> Result<HttpResponse, Problem> {
    let permit = app.authorize(request, Call::WriteAllocations)?;
    let expected = expected(request, app.views.current().epoch());
    let actual = app.views.current().generation();
    if let Some(expected) = expected.clone().filter(|expected| !expected.contains(&actual)) {
        return Err(domain::Refusal::from(Refusal::Stale { expected, actual }).into());
    }
    carry_out(request, app, parsed.into_inner()?, permit, expected, flags).await
}

struct Flags {
    dry_run: bool,
    force: bool,
}

impl Flags {
    /// `further`: what other parameters the call has.
    fn of(request: &HttpRequest, further: &[&str]) -> Result<Self, Problem> {
        only_parameters(request, &[&["dry_run", "force"], further].concat())?;
        Ok(Self { dry_run: flag(request, "dry_run")?, force: flag(request, "force")? })
    }
}

/// The generations that `If-Match` names; `None` when any will do.
fn expected(request: &HttpRequest, epoch: &str) -> Option<Vec<Generation>> {
    let headers = request.headers();
    if !headers.contains_key(header::IF_MATCH) || tags(headers, header::IF_MATCH).any(|tag| tag == "*") {
        return None;
    }
    let of_ours = |tag: &str| without_encoding(tag).strip_prefix(epoch)?.strip_prefix('-')?.parse().ok();
    Some(tags(headers, header::IF_MATCH).filter_map(of_ours).map(Generation).collect())
}

async fn carry_out(
    request: &HttpRequest,
    app: &App,
    parsed: Parsed,
    permit: Permit,
    expected: Option<Vec<Generation>>,
    Flags { dry_run, force }: Flags,
) -> Result<HttpResponse, Problem> {
    let Parsed { write, reason, bad_names } = parsed;
    let author = permit.author.clone();
    let command = Command::Write(WriteCommand { write, author, reason, expected, force, bad_names });
    let events: Arc<[domain::Event]> = if dry_run {
        let now = app.clock.now();
        app.engine.ask(move |farm| farm.plan(now, command.into())).await??.into()
    } else {
        app.engine.submit(permit.command(command)).await?.events
    };
    let made = made(&events).next().ok_or_else(|| anyhow::anyhow!("a write was accepted without a generation"))?;
    let mut response = delta_of(request, app, made);
    if dry_run {
        // There is no such generation, and the next one may be another.
        response.headers_mut().remove(header::ETAG);
        response.headers_mut().insert(GENERATION_HEADER, app.views.current().generation().0.into());
    }
    Ok(response)
}

/// The generations among events.
pub fn made(events: &[domain::Event]) -> impl Iterator<Item = &GenerationMade> {
    events.iter().filter_map(|event| match event {
        domain::Event::Allocator(Event::GenerationMade(made)) => Some(made),
        domain::Event::Fleet(_) | domain::Event::Access(_) | domain::Event::Dispatcher(_) => None,
    })
}

/// The delta that a write made, or would make.
fn delta_of(request: &HttpRequest, app: &App, made: &GenerationMade) -> HttpResponse {
    let since = Generation(made.generation.0 - 1);
    let body = DeltaBody { epoch: None, generation: made.generation, since, set: &made.set, unset: &made.unset };
    let body = Body::new(body.encode());
    let epoch = app.views.current().epoch().to_owned();
    let version = Version { epoch: &epoch, since: None, generation: made.generation };
    respond_whole(request.headers(), version, |encoding| body.encoded(encoding))
}
