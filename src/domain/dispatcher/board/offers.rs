//! Open claim calls: whose workers are idle, and how many jobs are wanted for them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Board, Seat};
use crate::domain::author::Author;
use crate::domain::dispatcher::run::Token;
use crate::domain::names::WorkerName;
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

/// The number of a claim call; it means nothing after a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OfferId(pub u64);

/// Workers that a session says are idle.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub workers: Vec<WorkerName>,
    /// The most claims that answer it; at least 1.
    pub max: usize,
    pub session: Arc<str>,
    pub idempotency_key: Option<Arc<str>>,
    /// Of the first claim that is made of it: chance, which nobody can guess.
    pub token: Token,
    pub author: Author,
    /// Waits for jobs to come; otherwise it ends with the next decision.
    pub stays_open: bool,
}

impl Offer {
    pub(super) fn is_capped(&self) -> bool {
        self.max < self.workers.len()
    }
}

/// An open claim call, as others than the decision need it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenOffer {
    /// Those that it still offers, each with the time since when it rests.
    pub workers: Vec<(WorkerName, Option<Timestamp>)>,
    /// The most claims that answer it.
    pub max: usize,
}

/// The offers that have not been answered, by age.
#[derive(Debug, Clone, Default)]
pub struct Offers {
    open: Table<OfferId, Offer>,
    /// Those that end with the next decision.
    brief: Vec<OfferId>,
}

impl Offers {
    pub fn get(&self, id: OfferId) -> Option<&Offer> {
        self.open.get(&id)
    }
}

impl Board {
    /// The session that has an open offer of the worker.
    pub fn offered_by(&self, worker: &WorkerName) -> Option<&Arc<str>> {
        let offer = self.seats.get(worker)?.offer?;
        self.offers.get(offer).map(|offer| &offer.session)
    }

    /// All open offers; a worker is in the newest that names it.
    pub fn open_offers(&self) -> Vec<OpenOffer> {
        let offered = |id: OfferId, worker: &WorkerName| {
            let seat = self.seats.get(worker).filter(|seat| seat.offer == Some(id))?;
            Some((worker.clone(), seat.rested_since))
        };
        let open = self.offers.open.iter().map(|(id, offer)| OpenOffer {
            workers: offer.workers.iter().filter_map(|worker| offered(*id, worker)).collect(),
            max: offer.max,
        });
        open.collect()
    }

    /// The open offer that the worker is in.
    pub fn offer_of(&self, worker: &WorkerName) -> Option<OfferId> {
        self.seats.get(worker)?.offer
    }

    pub(in crate::domain::dispatcher) fn offer(&self, id: OfferId) -> Option<&Offer> {
        self.offers.get(id)
    }

    /// Opens an offer; its workers leave older ones.
    pub(in crate::domain::dispatcher) fn open(&mut self, id: OfferId, offer: Offer, now: Timestamp) {
        for worker in &offer.workers {
            let at = match self.seats.get_index_of(worker) {
                Some(at) => at,
                None => self.seats.insert_full(worker.clone(), Seat::default()).0,
            };
            // An older offer keeps the name, but not the worker.
            self.rouse(at);
            let seat = &mut self.seats[at];
            seat.offer = Some(id);
            seat.rested_since.get_or_insert(now);
            let touched = if seat.group.is_some() { &mut self.stale.woken } else { &mut self.stale.seats };
            touched.push(at);
        }
        if !offer.stays_open {
            self.offers.brief.push(id);
        }
        self.offers.open.insert(id, offer);
    }

    /// Closes an offer: its workers are not idle any more.
    pub(in crate::domain::dispatcher) fn withdraw(&mut self, id: OfferId) -> Option<Offer> {
        let offer = self.offers.open.swap_remove(&id)?;
        for worker in &offer.workers {
            if let Some((at, _, seat)) = self.seats.get_full_mut(worker)
                && seat.offer == Some(id)
            {
                seat.offer = None;
                self.rouse(at);
            }
        }
        Some(offer)
    }

    /// Closes the offers that wait for nothing, now that a decision was made.
    pub(in crate::domain::dispatcher) fn close_brief(&mut self) {
        for id in std::mem::take(&mut self.offers.brief) {
            self.withdraw(id);
        }
    }
}
