//! Open claim calls: each is answered by the very batch of events that has its claims, once they are durable.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::domain::dispatcher::{self, Command, Granted, OfferId};
use crate::domain::{Event, Farm, Refusal};
use crate::engine::{Engine, Publish, SubmitError};

/// Who waits for which offer. Clones share it.
///
/// One lock for all: it is held for a look-up only, and the writer takes it
/// once for a batch.
#[derive(Clone, Default)]
pub struct Waiters {
    waiting: Arc<Mutex<HashMap<OfferId, oneshot::Sender<Vec<Granted>>>>>,
    last: Arc<AtomicU64>,
}

/// The one who waits. An offer that is still open when its waiter is dropped
/// is withdrawn: the client went away, so nobody vouches for its workers.
pub struct Waiter {
    id: OfferId,
    pub claims: oneshot::Receiver<Vec<Granted>>,
    waiters: Waiters,
    engine: Engine<Farm>,
    is_open: bool,
}

impl Waiters {
    /// Waits for the claims of a new offer, which the caller submits after this.
    pub fn wait(&self, engine: &Engine<Farm>) -> Waiter {
        let id = OfferId(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, claims) = oneshot::channel();
        self.lock().insert(id, sender);
        Waiter { id, claims, waiters: self.clone(), engine: engine.clone(), is_open: true }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OfferId, oneshot::Sender<Vec<Granted>>>> {
        self.waiting.lock().expect("nobody panics with the lock in hand")
    }
}

impl Waiter {
    pub fn id(&self) -> OfferId {
        self.id
    }

    /// The offer is known to be open no more, so there is nothing to withdraw.
    pub fn is_answered(&mut self) {
        self.is_open = false;
    }

    /// Withdraws the offer; gives the claims that were made of it before.
    pub async fn withdraw(&mut self) -> Result<Option<Vec<Granted>>, SubmitError<Refusal>> {
        let withdrawn = self.engine.submit(Command::Withdraw { offer: self.id }.into()).await;
        self.is_answered();
        match self.claims.try_recv() {
            Ok(claims) => Ok(Some(claims)),
            Err(_) => withdrawn.map(|_| None),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.waiters.lock().remove(&self.id);
        if self.is_open
            // Without a runtime the server has stopped, and the offer with it.
            && let Ok(runtime) = Handle::try_current()
        {
            let (engine, offer) = (self.engine.clone(), self.id);
            runtime.spawn(async move { engine.submit(Command::Withdraw { offer }.into()).await.ok() });
        }
    }
}

impl Publish<Farm> for Waiters {
    fn publish(&mut self, farm: &Farm, events: &[&Event]) {
        let claimed = events.iter().filter_map(|event| match event {
            Event::Dispatcher(dispatcher::Event::Claimed { offer, claims, time, .. }) => Some((offer, claims, *time)),
            Event::Dispatcher(_) | Event::Fleet(_) | Event::Allocator(_) | Event::Access(_) => None,
        });
        let mut claimed = claimed.peekable();
        if claimed.peek().is_none() {
            return;
        }
        let mut waiting = self.lock();
        for (offer, claims, time) in claimed {
            if let Some(waiter) = waiting.remove(offer) {
                // A client that went away loses them when their leases end.
                drop(waiter.send(claims.iter().map(|claim| farm.jobs.granted(claim, time)).collect()));
            }
        }
    }
}
