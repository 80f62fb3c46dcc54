//! The HTTP server: what is shared by all requests, and which path leads where.

mod activity;
pub mod allocations;
mod audit;
mod auth;
mod claims;
mod explain;
mod farm;
mod guard;
mod health;
mod ids;
mod jobs;
mod limits;
mod metrics;
mod negotiate;
pub mod openapi;
mod paging;
mod parameters;
mod pauses;
mod payload;
mod pools;
mod prioritize;
mod problem;
mod reason;
mod request_log;
mod routes;
mod runs;
mod server;
mod strict;
mod target;
mod tokens;
mod wire;
mod workers;

use std::sync::Arc;

use tokio::sync::watch;

pub use activity::Activity;
pub use auth::{hash, new_token};
pub use claims::Waiters;
pub use limits::Limits;
pub use metrics::Metrics;
pub use server::server;

use crate::daemons::FarmFileDaemon;
use crate::domain::Farm;
use crate::engine::Engine;
use crate::engine::views::Views;
use crate::ports::{Clock, Payloads, Records, Runs};

/// Everything that a handler may use.
pub struct App {
    pub engine: Engine<Farm>,
    pub views: Views,
    pub made: allocations::Made,
    pub clock: Arc<dyn Clock>,
    pub records: Arc<dyn Records>,
    pub payloads: Arc<dyn Payloads>,
    pub waiters: Waiters,
    pub activity: Activity,
    pub runs: Arc<dyn Runs>,
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
