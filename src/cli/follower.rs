//! A copy of the allocations in force that is kept up to date by deltas.

use std::time::Duration;

use super::answers::{Blob, Delta};
use super::change::in_force;
use super::client::{Client, ClientFault, decode};
use super::target::Target;

pub(super) struct Follower {
    client: Client,
    /// `None` before the first read, and after the server's history turned out to be another one.
    known: Option<Blob>,
}

impl Follower {
    pub(super) fn new(client: Client) -> Self {
        Self { client, known: None }
    }

    /// What was in force at the last look that succeeded.
    pub(super) fn known(&self) -> Option<&Blob> {
        self.known.as_ref()
    }

    /// Looks for something new, and has the server wait for it that long (whole seconds, at most 60).
    /// Answers whether there was.
    pub(super) fn look(&mut self, wait: Duration) -> Result<bool, ClientFault> {
        let Some(known) = &mut self.known else { return self.read_all() };
        let since = Target::path("/v1/allocations").query("since", known.generation);
        let target = since.query("epoch", &known.epoch).query("wait", wait.as_secs());
        let answer = match self.client.get(&target, wait) {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(false),
            // Too old, too new, or of another history.
            Err(fault) if fault.status() == Some(410) => return self.read_all(),
            Err(fault) => return Err(fault),
        };
        let Delta { generation, difference } = decode(&answer)?;
        let is_new = generation != known.generation;
        known.generation = generation;
        difference.apply_to(&mut known.builders);
        Ok(is_new)
    }

    fn read_all(&mut self) -> Result<bool, ClientFault> {
        self.known = None;
        self.known = Some(in_force(&self.client)?);
        Ok(true)
    }
}
