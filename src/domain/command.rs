//! Everything that can be asked of a farm, one closed enum a part.

use super::access::TokenHash;
use super::{access, allocator, dispatcher, fleet};

/// A request to change the farm. Reads are not commands.
#[derive(Debug, Clone)]
pub enum Command {
    Fleet(fleet::Command),
    Allocator(allocator::Command),
    Access(access::Command),
    Dispatcher(dispatcher::Command),
    /// For the holder of a token, who may have lost it since the request came in.
    Authorized {
        token: TokenHash,
        command: Box<Command>,
    },
}

impl From<fleet::Command> for Command {
    fn from(command: fleet::Command) -> Self {
        Self::Fleet(command)
    }
}

impl From<allocator::Command> for Command {
    fn from(command: allocator::Command) -> Self {
        Self::Allocator(command)
    }
}

impl From<dispatcher::Command> for Command {
    fn from(command: dispatcher::Command) -> Self {
        Self::Dispatcher(command)
    }
}

impl From<access::Command> for Command {
    fn from(command: access::Command) -> Self {
        Self::Access(command)
    }
}
