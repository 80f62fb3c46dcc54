//! jacuzzi: the control plane of a CI farm.
//!
//! Five layers; imports point down only.
//!
//! 1. [`domain`]: the truth about a farm and every rule for changing it. Pure.
//!    A `Command` is decided into `Event`s, and events alone change the `Farm`.
//!    [`sim`] makes farms up for benchmarks and tests.
//! 2. [`ports`] and [`engine`]: one writer makes events durable before anybody
//!    is answered; readers see immutable views, made of ready-made bytes.
//! 3. [`adapters`]: one file for each outside thing (SQLite, the data folder,
//!    static trees, …).
//! 4. [`http`]: routes and wire types; [`daemons`]: what runs beside requests.
//! 5. [`cli`]: the composition root; `serve` alone chooses adapters.
//!
//! [`config`] reads the server's settings and the farm file.
//!
//! To follow one request: [`http`] parses the names in it, builds one
//! [`domain::Command`], and submits it to the [`engine::Engine`], whose writer
//! calls [`domain::Farm::carry_out`], appends the events to the
//! [`ports::Journal`], publishes [`engine::views`] and only then replies.

pub mod adapters;
pub mod cli;
pub mod config;
pub mod daemons;
pub mod domain;
pub mod engine;
pub mod http;
pub mod ports;
pub mod sim;
pub mod telemetry;
