//! Everything that can have happened to a farm. Events are what the journal holds, hence only ever extended.

use serde::{Deserialize, Serialize};

use super::{access, allocator, dispatcher, fleet};

/// A fact. An event carries why it was decided, so that the journal alone explains the past.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Fleet(fleet::Event),
    Allocator(allocator::Event),
    Access(access::Event),
    Dispatcher(dispatcher::Event),
}
