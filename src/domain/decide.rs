//! The one way from a command to events.

use super::{Command, Event, Farm, Refusal, Timestamp, access, allocator, fleet};

impl Farm {
    /// What would happen if the command were carried out now. Pure: the same
    /// farm, time and command give the same events.
    pub fn decide(&self, now: Timestamp, command: Command) -> Result<Vec<Event>, Refusal> {
        match command {
            Command::Fleet(command) => Ok(wrap(Event::Fleet, fleet::decide(&self.fleet, now, command)?)),
            Command::Allocator(command) => {
                let events = allocator::decide(&self.fleet, &self.allocations, now, command)?;
                Ok(wrap(Event::Allocator, events))
            }
            Command::Authorized { token, .. } if !self.access.knows(&token) => {
                Err(access::Refusal::TokenRevoked.into())
            }
            Command::Authorized { command, .. } => self.decide(now, *command),
            Command::Access(command) => Ok(wrap(Event::Access, access::decide(&self.access, now, command)?)),
        }
    }
}

fn wrap<T>(part: fn(T) -> Event, events: Vec<T>) -> Vec<Event> {
    events.into_iter().map(part).collect()
}
