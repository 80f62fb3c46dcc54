//! What the allocator's reads promise, asked of the real binary over a socket.

pub(super) mod boxes;
mod changes;
mod commands;
mod events;
mod hostile;
mod limits;
mod load;
pub(super) mod model;
pub(super) mod mozilla;
mod names;
mod swaps;
mod table;
mod transport;
mod versions;
