//! The reads that masters make thousands of times a minute: no lock, no limit, ready-made bytes.

use actix_web::dev::RequestHead;
use actix_web::http::Method;
use actix_web::http::header::HeaderMap;
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;

use crate::engine::views::{Big, Encoding, View};
use crate::http::App;
use crate::http::metrics::Read;
use crate::http::negotiate::{GENERATION_HEADER, Version, encoding, respond};
use crate::http::problem::Problem;
use crate::http::target;

impl<'a> Version<'a> {
    pub fn of(view: &'a View) -> Self {
        Self { epoch: view.epoch(), since: None, generation: view.generation() }
    }
}

/// The answer to a read of one builder or machine, as nearly all requests are:
/// it is given before a route is looked for, which would take as long again.
/// `None` for anything else.
pub fn one(head: &RequestHead, app: &App) -> Option<HttpResponse> {
    if head.method != Method::GET && head.method != Method::HEAD {
        return None;
    }
    let is_of = |collection| {
        head.uri.path().strip_prefix(collection).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let answer = if is_of("/v1/builders") {
        builder
    } else if is_of("/v1/machines") {
        machine
    } else {
        return None;
    };
    Some(answer(app, &head.headers, &target::name(&head.uri)?))
}

/// `GET /v1/builders`
pub async fn builders(request: HttpRequest, app: web::Data<App>) -> HttpResponse {
    match target::name(request.uri()) {
        Some(name) => builder(&app, request.headers(), &name),
        None => big(&request, &app, Big::Builders).await,
    }
}

/// `GET /v1/machines`
pub async fn machines(request: HttpRequest, app: web::Data<App>) -> HttpResponse {
    match target::name(request.uri()) {
        Some(name) => machine(&app, request.headers(), &name),
        None => big(&request, &app, Big::Machines).await,
    }
}

/// `GET /v1/builders/<name>`
fn builder(app: &App, headers: &HeaderMap, name: &[u8]) -> HttpResponse {
    let view = app.views.current();
    let body = std::str::from_utf8(name).ok().and_then(|name| view.builder(name));
    let response = match body {
        Some(body) => respond(headers, Version::of(&view), |encoding| body.encoded(encoding)),
        None => missing(&view, "builder", name, "use the workers that no builder has"),
    };
    app.metrics.count_read(Read::Builder, response.status());
    response
}

/// `GET /v1/machines/<name>`
fn machine(app: &App, headers: &HeaderMap, name: &[u8]) -> HttpResponse {
    let view = app.views.current();
    let body = std::str::from_utf8(name).ok().and_then(|name| view.worker(name));
    let response = match body {
        Some(body) => respond(headers, Version::of(&view), |encoding| body.encoded(encoding)),
        None => missing(&view, "machine", name, "it may run what no machine is dedicated to"),
    };
    app.metrics.count_read(Read::Machine, response.status());
    response
}

/// `GET /v1/allocated/all`.
pub async fn allocated(request: HttpRequest, app: web::Data<App>) -> HttpResponse {
    big(&request, &app, Big::Machines).await
}

/// `GET /v1/allocations`: the blob.
pub async fn blob(request: HttpRequest, app: web::Data<App>) -> HttpResponse {
    big(&request, &app, Big::Blob).await
}

/// A body about everything. Normally the encoder thread has it ready; right
/// after a change it is made here, away from the threads that answer.
async fn big(request: &HttpRequest, app: &App, which: Big) -> HttpResponse {
    let view = app.views.current_owned();
    let encoding = encoding(request.headers());
    let body = if Version::of(&view).is_known(request.headers()) {
        Bytes::new()
    } else {
        match view.ready(which, encoding) {
            Some(body) => body,
            None => encode_elsewhere(&view, which, encoding).await,
        }
    };
    let response = respond(request.headers(), Version::of(&view), |_| body);
    let read = if which == Big::Blob { Read::Blob } else { Read::Collection };
    app.metrics.count_read(read, response.status());
    response
}

async fn encode_elsewhere(view: &std::sync::Arc<View>, which: Big, encoding: Encoding) -> Bytes {
    let shared = view.clone();
    match web::block(move || shared.big(which, encoding)).await {
        Ok(body) => body,
        // The pool is gone while the server stops; a last answer is still due.
        Err(_) => view.big(which, encoding),
    }
}

fn missing(view: &View, kind: &str, name: &[u8], hint: &str) -> HttpResponse {
    let name = String::from_utf8_lossy(name);
    let mut response =
        Problem::not_found("not_allocated", format!("{kind} {name:?} has no allocation: {hint}")).to_response();
    response.headers_mut().insert(GENERATION_HEADER, view.generation().0.into());
    response
}
