//! The farm: the whole truth, changed by events alone.

use serde::{Deserialize, Serialize};

use super::Event;
use super::access::Access;
use super::allocator::Allocations;
use super::dispatcher::Jobs;
use super::fleet::{self, Duty, Fleet};

/// All parts of the truth.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Farm {
    pub fleet: Fleet,
    pub allocations: Allocations,
    pub access: Access,
    #[serde(default)]
    pub jobs: Jobs,
}

impl Farm {
    /// Takes in what has happened. The only code that changes a farm; it cannot fail.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Fleet(event) => {
                self.fleet.apply(event);
                // An operator vouches for the worker.
                if let fleet::Event::DutySet { name, duty: Duty::Active, .. } = event {
                    self.jobs.trust(name);
                }
            }
            Event::Allocator(event) => {
                self.allocations.apply(event, self.fleet.definition().allocations.keep_generations);
            }
            Event::Access(event) => self.access.apply(event),
            Event::Dispatcher(event) => self.jobs.apply(event),
        }
    }
}
