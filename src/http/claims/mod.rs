//! Claims over HTTP: workers are offered, jobs given to them, leases renewed, runs ended.

mod claim;
mod run;
mod waiters;

pub use claim::claim;
pub use run::{finish, heartbeat};
pub use waiters::Waiters;
