//! The reads that masters make thousands of times a minute: no lock, no limit, ready-made bytes.

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

/// `GET /v1/builders`, `GET /v1/builders/<name>`.
pub async fn builders(request: HttpRequest, app: web::Data<App>) -> HttpResponse {
    let Some(name) = target::name(&request) else { return big(&request, &app, Big::Builders).await };
    let view = app.views.current();
    let body = std::str::from_utf8(&name).ok().and_then(|name| view.builder(name));
    let response = match body {
        Some(body) => respond(&request, Version::of(&view), |encoding| body.encoded(encoding)),
        None => missing(&view, "builder", &name, "use the workers that no builder has"),
    };
    app.metrics.count_read(Read::Builder, response.status());
    response
}

/// `GET /v1/machines`, `GET /v1/machines/<name>`.
pub async fn machines(request: HttpRequest, app: web::Data<App>) -> HttpResponse {
    let Some(name) = target::name(&request) else { return big(&request, &app, Big::Machines).await };
    let view = app.views.current();
    let body = std::str::from_utf8(&name).ok().and_then(|name| view.worker(name));
    let response = match body {
        Some(body) => respond(&request, Version::of(&view), |encoding| body.encoded(encoding)),
        None => missing(&view, "machine", &name, "it may run what no machine is dedicated to"),
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
    let encoding = encoding(request);
    let body = if Version::of(&view).is_known(request.headers()) {
        Bytes::new()
    } else {
        match view.ready(which, encoding) {
            Some(body) => body,
            None => encode_elsewhere(&view, which, encoding).await,
        }
    };
    let response = respond(request, Version::of(&view), |_| body);
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
