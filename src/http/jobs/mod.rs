//! The dispatcher's jobs over HTTP: submitted, listed, looked at, cancelled, put back.

mod list;
mod one;
mod payloads;
mod requeue;
mod shown;
mod submit;

pub use list::list;
pub use one::{cancel, job};
pub use requeue::requeue;
pub use shown::{ShownRun, Spec};
pub use submit::submit;
