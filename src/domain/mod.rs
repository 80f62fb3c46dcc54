//! The truth about a farm and every rule for changing it: pure, without clock, I/O or chance.

pub mod access;
pub mod allocator;
mod audit;
mod author;
pub mod batching;
mod command;
mod decide;
pub mod dispatcher;
mod event;
mod farm;
pub mod fleet;
mod names;
mod numbered;
mod refusal;
mod table;
mod time;
mod volatile;

pub use audit::AuditEntry;
pub use author::Author;
pub use command::Command;
pub use event::Event;
pub use farm::Farm;
pub use names::{BadName, BuilderName, MAX_NAME_CHARS, PoolName, TokenName, WorkerName};
pub use refusal::Refusal;
pub use time::{BadTime, MAX_UNIX_SECONDS, Timestamp};
pub use volatile::{Done, Reply, Volatile};

#[cfg(test)]
mod tests;
