//! Tells the engine that time has passed: whenever something is due, and never in between.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::domain::dispatcher::Command;
use crate::domain::{Farm, Timestamp};
use crate::engine::Engine;
use crate::ports::Clock;

pub struct Ticker {
    pub engine: Engine<Farm>,
    pub clock: Arc<dyn Clock>,
    /// True once the server stops.
    pub stopping: watch::Receiver<bool>,
}

impl Ticker {
    /// Runs until the server stops, or nothing can be written any more.
    pub async fn run(mut self) {
        let mut deadline = self.engine.deadline();
        loop {
            let due = *deadline.borrow_and_update();
            tokio::select! {
                _ = self.stopping.wait_for(|stopping| *stopping) => return,
                changed = deadline.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = until(due, self.clock.as_ref()) => {
                    if self.engine.submit(Command::Tick.into()).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Returns at this time of day; never, if nothing is due.
async fn until(due: Option<Timestamp>, clock: &dyn Clock) {
    let Some(due) = due else { return std::future::pending().await };
    let micros = due.unix_micros().saturating_sub(clock.now().unix_micros());
    tokio::time::sleep(Duration::from_micros(u64::try_from(micros).unwrap_or(0))).await;
}
