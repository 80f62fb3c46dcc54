//! Which path and method leads to which handler; everything else is a problem document.

use std::future::ready;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, Resource, Route, web};

use super::allocations::{events, history, import, reads, writes};
use super::problem::Problem;
use super::{farm, health, metrics};

const READ: &str = "GET, HEAD";

pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(
            reading(named("/v1/builders", "GET, HEAD, PUT, DELETE"), || web::to(reads::builders))
                .route(web::put().to(writes::put_builder))
                .route(web::delete().to(writes::delete_builder)),
        )
        .service(reading(named("/v1/machines", READ), || web::to(reads::machines)))
        .service(reading(plain("/v1/allocated/all", READ), || web::to(reads::allocated)))
        .service(
            reading(plain("/v1/allocations", "GET, HEAD, PUT, PATCH"), || web::to(reads::allocations))
                .route(web::put().to(writes::replace))
                .route(web::patch().to(writes::patch)),
        )
        .service(reading(plain("/v1/allocations/events", READ), || web::to(events::events)))
        .service(reading(plain("/v1/allocations/history", READ), || web::to(history::history)))
        .service(plain("/v1/allocations/rollback", "POST").route(web::post().to(writes::rollback)))
        .service(plain("/v1/allocations/import", "POST").route(web::post().to(import::import)))
        .service(plain("/v1/farm/reload", "POST").route(web::post().to(farm::reload)))
        .service(reading(plain("/livez", READ), || web::to(health::livez)))
        .service(reading(plain("/readyz", READ), || web::to(health::readyz)))
        .service(reading(plain("/metrics", READ), || web::to(metrics::metrics)))
        .default_service(web::to(nothing_here));
}

/// With and without a trailing slash, both answered directly: old clients fail on redirects.
fn plain(path: &str, allowed: &'static str) -> Resource {
    resource(vec![path.to_owned(), format!("{path}/")], allowed)
}

/// A collection and, below it, names of every kind, slashes and line breaks included.
fn named(path: &str, allowed: &'static str) -> Resource {
    resource(vec![path.to_owned(), format!("{path}/"), format!("{path}/{{name:[\\s\\S]*}}")], allowed)
}

/// Any method without a route of its own is answered with those that have one.
fn resource(patterns: Vec<String>, allowed: &'static str) -> Resource {
    web::resource(patterns).default_service(web::to(move |request: HttpRequest| {
        let detail = format!("{} is not possible on {}, only {allowed}", request.method(), request.path());
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail);
        let mut response = problem.to_response();
        response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static(allowed));
        ready(response)
    }))
}

/// GET, and HEAD, which is the same without the body.
fn reading(resource: Resource, handler: impl Fn() -> Route) -> Resource {
    use actix_web::http::Method;
    resource.route(handler().method(Method::GET)).route(handler().method(Method::HEAD))
}

async fn nothing_here(request: HttpRequest) -> HttpResponse {
    Problem::not_found("no_such_path", format!("there is nothing at {}", request.path())).to_response()
}
