//! Jobs, claims and leases over HTTP, asked of the real binary over a socket.

mod advice;
mod bad_input;
mod cancelling;
mod claiming;
mod command_line;
mod explaining;
mod fencing;
pub mod floor;
mod idempotency;
mod listing;
mod names;
mod pausing;
mod polls;
mod races;
mod restarts;
mod roles;
mod workers;
