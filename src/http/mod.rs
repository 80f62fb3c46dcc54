//! The HTTP server: what is shared by all requests, and which path leads where.

pub mod allocations;
mod auth;
mod farm;
mod health;
mod limits;
mod metrics;
mod negotiate;
pub mod openapi;
mod payload;
mod problem;
mod request_log;
mod routes;
mod target;

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::http::KeepAlive;
use actix_web::{App as ActixApp, HttpServer, web};
use tokio::sync::watch;

pub use auth::Tokens;
pub use farm::{ReadDefinition, reload_on_signal};
pub use limits::Limits;
pub use metrics::Metrics;

use request_log::RequestIds;

use crate::config;
use crate::domain::Farm;
use crate::engine::Engine;
use crate::engine::views::Views;
use crate::ports::{Clock, Fault};

/// Everything that a handler may use.
pub struct App {
    pub engine: Engine<Farm>,
    pub views: Views,
    pub clock: Arc<dyn Clock>,
    pub tokens: Tokens,
    pub limits: Limits,
    pub metrics: Metrics,
    pub read_definition: ReadDefinition,
    pub max_body_bytes: u64,
    pub max_import_bytes: u64,
    /// True once the server stops; long polls and streams end then.
    pub stopping: watch::Receiver<bool>,
}

/// The server on a bound socket, ready to be awaited.
pub fn server(listener: TcpListener, settings: &config::Server, app: web::Data<App>) -> Result<Server, Fault> {
    let ids = web::Data::new(RequestIds::new()?);
    let methods = openapi::methods();
    let mut server = HttpServer::new(move || {
        ActixApp::new()
            .app_data(app.clone())
            .app_data(ids.clone())
            .configure(|config| routes::configure(config, &methods))
    });
    if settings.workers > 0 {
        server = server.workers(settings.workers);
    }
    let keep_alive = if settings.keep_alive.is_zero() { KeepAlive::Disabled } else { settings.keep_alive.into() };
    let server = server
        .max_connections(settings.max_connections)
        .keep_alive(keep_alive)
        .client_request_timeout(settings.request_timeout)
        .shutdown_timeout(settings.stop_timeout.as_secs())
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}
