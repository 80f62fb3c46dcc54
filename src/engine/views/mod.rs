//! Read models: immutable, complete, already encoded, and swapped in whole.

mod body;
mod ordered;
mod publisher;
mod view;
mod wire;

pub use body::{Body, Encoding};
pub use ordered::OrderedMap;
pub use publisher::{Publisher, Views};
pub use view::{Big, Step, View};
pub use wire::DeltaBody;
