//! Who asked for a change: free text for the record, set from a token's name, never from the request itself.

use serde::{Deserialize, Serialize};

/// The name under which a change stands in the history.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Author(String);

impl Author {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
