//! When each claim's lease runs out: heartbeats are not journalled, so after a restart every lease is whole again.

use std::collections::BTreeSet;
use std::time::Duration;

use super::run::ClaimId;
use super::state::Jobs;
use crate::domain::numbered::Numbered;
use crate::domain::time::Timestamp;

/// The leases of all running claims.
#[derive(Debug, Clone, Default)]
pub struct Leases {
    ends: Numbered<Timestamp>,
    order: BTreeSet<(Timestamp, ClaimId)>,
}

impl Leases {
    /// A full lease for everything that runs.
    pub(super) fn whole(jobs: &Jobs, now: Timestamp) -> Self {
        let mut leases = Self::default();
        for (claim, running) in jobs.claims() {
            leases.renew(claim, running.lease, now);
        }
        leases
    }

    /// Begins a lease, or lets it begin again; answers with its end.
    pub(super) fn renew(&mut self, claim: ClaimId, lease: Duration, now: Timestamp) -> Timestamp {
        let end = now.after(lease);
        self.end(claim);
        self.ends.insert(claim.0, end);
        self.order.insert((end, claim));
        end
    }

    pub(super) fn end(&mut self, claim: ClaimId) {
        if let Some(end) = self.ends.remove(claim.0) {
            self.order.remove(&(end, claim));
        }
    }

    /// The claims whose lease has run out, the earliest first.
    pub(super) fn over(&self, now: Timestamp) -> impl Iterator<Item = ClaimId> {
        self.order.iter().take_while(move |(end, _)| *end <= now).map(|(_, claim)| *claim)
    }

    /// When the next lease runs out.
    pub fn next(&self) -> Option<Timestamp> {
        self.order.first().map(|(end, _)| *end)
    }

    pub fn of(&self, claim: ClaimId) -> Option<Timestamp> {
        self.ends.get(claim.0).copied()
    }
}
