//! The allocator over HTTP: reads of one generation, what changed since another, and writes.

pub mod body;
pub mod delta;
pub mod events;
pub mod history;
pub mod import;
mod made;
pub mod reads;
pub mod writes;

pub use made::Made;
