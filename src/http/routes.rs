//! Which path and method leads to which handler; everything else is a problem document.

use std::collections::BTreeMap;
use std::future::ready;

use actix_web::guard::{Any, Get, Head, fn_guard};
use actix_web::middleware::from_fn;
use actix_web::{HttpRequest, HttpResponse, Resource, Route, web};

use super::allocations::{delta, events, history, import, reads, writes};
use super::guard::guarded;
use super::problem::Problem;
use super::request_log::{logged, logged_quietly};
use super::{
    audit, claims, explain, farm, health, jobs, metrics, openapi, pauses, pools, prioritize, runs, tokens, workers,
};

/// `methods`: those of every path, as [`openapi::methods`] gives them.
pub fn configure(config: &mut web::ServiceConfig, methods: &BTreeMap<String, String>) {
    let plain = |path| plain(path, methods);
    let named = |path| named(path, methods);
    let below = |path| below(path, methods);
    let since = fn_guard(|context| delta::is_asked_for(context.head().uri.query().unwrap_or("")));
    config
        // Nothing is wrapped around the reads that masters make; those of one name do not even come here.
        .service(below("/v1/builders/{name}/pause").route(guard(web::post().to(pauses::builder))))
        .service(below("/v1/builders/{name}/resume").route(guard(web::post().to(pauses::builder))))
        .service(
            named("/v1/builders")
                .route(read().to(reads::builders))
                .route(guard(web::post().to(pauses::builder)))
                .route(guard(web::put().to(writes::put_builder)))
                .route(guard(web::delete().to(writes::delete_builder))),
        )
        .service(named("/v1/machines").route(read().to(reads::machines)))
        .service(plain("/v1/allocated/all").route(read().to(reads::allocated)))
        .service(
            plain("/v1/allocations")
                .route(log(read().guard(since).to(delta::delta)))
                .route(read().to(reads::blob))
                .route(guard(web::put().to(writes::replace)))
                .route(guard(web::patch().to(writes::patch))),
        )
        .service(plain("/v1/allocations/events").route(log(read().to(events::events))))
        .service(plain("/v1/allocations/history").route(log(read().to(history::history))))
        .service(plain("/v1/allocations/rollback").route(guard(web::post().to(writes::rollback))))
        .service(plain("/v1/allocations/import").route(guard(web::post().to(import::import))))
        .service(plain("/v1/farm/reload").route(guard(web::post().to(farm::reload))))
        .service(
            plain("/v1/tokens")
                .route(guard(read().to(tokens::list)))
                .route(guard(web::post().to(tokens::add)))
                .route(guard(web::delete().to(tokens::revoke))),
        )
        .service(below("/v1/tokens/{name}").route(guard(web::delete().to(tokens::revoke))))
        .service(below("/v1/workers/{name}/drain").route(guard(web::post().to(workers::set_duty))))
        .service(below("/v1/workers/{name}/quarantine").route(guard(web::post().to(workers::set_duty))))
        .service(below("/v1/workers/{name}/release").route(guard(web::post().to(workers::set_duty))))
        .service(
            named("/v1/workers")
                .route(guard(read().to(workers::workers)))
                .route(guard(web::put().to(workers::put)))
                .route(guard(web::delete().to(workers::delete)))
                .route(guard(web::post().to(workers::set_duty))),
        )
        .service(
            plain("/v1/jobs").route(guard(read().to(jobs::list))).route(guard_quietly(web::post().to(jobs::submit))),
        )
        .service(plain("/v1/jobs/requeue").route(guard(web::post().to(jobs::requeue))))
        .service(below("/v1/jobs/{id}/explain").route(guard(read().to(explain::job))))
        .service(plain("/v1/explain").route(guard(read().to(explain::one))))
        .service(below("/v1/jobs/{id}").route(guard(read().to(jobs::job))).route(guard(web::delete().to(jobs::cancel))))
        .service(plain("/v1/prioritize").route(guard_quietly(web::post().to(prioritize::prioritize))))
        .service(plain("/v1/claims").route(guard_quietly(web::post().to(claims::claim))))
        .service(below("/v1/claims/{id}/heartbeat").route(guard_quietly(web::post().to(claims::heartbeat))))
        .service(below("/v1/claims/{id}/finish").route(guard_quietly(web::post().to(claims::finish))))
        .service(below("/v1/pools/{name}/pause").route(guard(web::post().to(pauses::pool))))
        .service(below("/v1/pools/{name}/resume").route(guard(web::post().to(pauses::pool))))
        .service(named("/v1/pools").route(guard(read().to(pools::pools))).route(guard(web::post().to(pauses::pool))))
        .service(plain("/v1/runs").route(guard(read().to(runs::list))))
        .service(plain("/v1/runs/export").route(guard(read().to(runs::export))))
        .service(plain("/v1/audit").route(guard(read().to(audit::audit))))
        .service(plain("/livez").route(guard(read().to(health::livez))))
        .service(plain("/readyz").route(guard(read().to(health::readyz))))
        .service(plain("/metrics").route(guard(read().to(metrics::metrics))))
        .service(plain("/openapi.json").route(guard(read().to(openapi::openapi))))
        .default_service(log(web::to(nothing_here)));
}

/// With and without a trailing slash, both answered directly: old clients fail on redirects.
fn plain(path: &str, methods: &BTreeMap<String, String>) -> Resource {
    resource(path, vec![path.to_owned(), format!("{path}/")], methods)
}

/// A collection and, below it, names of every kind, slashes and line breaks included.
fn named(path: &str, methods: &BTreeMap<String, String>) -> Resource {
    resource(path, vec![path.to_owned(), format!("{path}/"), format!("{path}/{{name:[\\s\\S]*}}")], methods)
}

/// Names and ids of every kind without the collection, for paths that have methods of their own.
fn below(path: &str, methods: &BTreeMap<String, String>) -> Resource {
    let pattern = path.replace('}', ":[\\s\\S]*}");
    resource(path, vec![format!("{pattern}/"), pattern], methods)
}

/// Any method without a route of its own is answered with those that have one.
fn resource(path: &str, patterns: Vec<String>, methods: &BTreeMap<String, String>) -> Resource {
    let allowed = methods.get(path).expect("every path is in the OpenAPI document").clone();
    let refuse = move |request: HttpRequest| {
        let detail = format!("{} is not possible on {}, only {allowed}", request.method(), request.path());
        ready(Problem::method_not_allowed(&allowed, detail).to_response())
    };
    web::resource(patterns).default_service(log(web::to(refuse)))
}

/// GET, and HEAD, which is the same without the body.
fn read() -> Route {
    web::route().guard(Any(Get()).or(Head()))
}

/// Only under our own name, and for our own pages; with all that [`log`] adds.
fn guard(route: Route) -> Route {
    log(route.wrap(from_fn(guarded)))
}

/// The same for what masters do all the time, of which a log at its usual level has no line.
fn guard_quietly(route: Route) -> Route {
    route.wrap(from_fn(guarded)).wrap(from_fn(logged_quietly))
}

/// With a request id, and a line in the log if it writes or breaks.
fn log(route: Route) -> Route {
    route.wrap(from_fn(logged))
}

async fn nothing_here(request: HttpRequest) -> HttpResponse {
    Problem::not_found("no_such_path", format!("there is nothing at {}", request.path())).to_response()
}
