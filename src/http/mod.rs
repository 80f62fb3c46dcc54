//! The HTTP server: what is shared by all requests, and which path leads where.

pub mod allocations;
mod audit;
mod auth;
mod farm;
mod guard;
mod health;
mod limits;
mod metrics;
mod negotiate;
pub mod openapi;
mod paging;
mod parameters;
mod payload;
mod problem;
mod reason;
mod request_log;
mod routes;
mod strict;
mod target;
mod tokens;
mod workers;

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::http::KeepAlive;
use actix_web::{App as ActixApp, HttpServer, web};
use rustls::ServerConfig;
use tokio::sync::watch;

pub use auth::{hash, new_token};
pub use limits::Limits;
pub use metrics::Metrics;

use request_log::RequestIds;

use crate::config;
use crate::daemons::FarmFileDaemon;
use crate::domain::Farm;
use crate::engine::Engine;
use crate::engine::views::Views;
use crate::ports::{Clock, Fault, Records};

/// Everything that a handler may use.
pub struct App {
    pub engine: Engine<Farm>,
    pub views: Views,
    pub clock: Arc<dyn Clock>,
    pub records: Arc<dyn Records>,
    pub farm_file: FarmFileDaemon,
    pub limits: Limits,
    pub metrics: Metrics,
    /// Names of this server, besides its addresses.
    pub hosts: Vec<String>,
    pub max_body_bytes: u64,
    pub max_import_bytes: u64,
    /// True once the server stops; long polls and streams end then.
    pub stopping: watch::Receiver<bool>,
}

/// The server on a bound socket, ready to be awaited; with `tls` it speaks nothing else.
pub fn server(
    listener: TcpListener,
    settings: &config::Server,
    tls: Option<ServerConfig>,
    app: web::Data<App>,
) -> Result<Server, Fault> {
    let ids = web::Data::new(RequestIds::new()?);
    let methods = openapi::methods();
    let server = HttpServer::new(move || {
        ActixApp::new()
            .app_data(app.clone())
            .app_data(ids.clone())
            .configure(|config| routes::configure(config, &methods))
    });
    let workers = match settings.workers {
        0 => std::thread::available_parallelism()?.get(),
        some => some,
    };
    let keep_alive = if settings.keep_alive.is_zero() { KeepAlive::Disabled } else { settings.keep_alive.into() };
    let server = server
        .workers(workers)
        // Ours is of all workers together, theirs of each.
        .max_connections(settings.max_connections.div_ceil(workers))
        .keep_alive(keep_alive)
        .client_request_timeout(settings.request_timeout)
        .shutdown_timeout(settings.stop_timeout.as_secs())
        .disable_signals();
    let server = match tls {
        Some(tls) => server.listen_rustls_0_23(listener, tls)?,
        None => server.listen(listener)?,
    };
    Ok(server.run())
}
