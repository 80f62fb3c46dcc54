//! Keeps the farm as its file says, whenever somebody asks for a reload: all of the file or nothing of it.

use serde::Serialize;
use std::sync::Arc;
use thiserror::Error;

use crate::config::Faults;
use crate::domain::access::TokenHash;
use crate::domain::fleet::{self, Change, Definition};
use crate::domain::{Author, Command, Event, Farm, Refusal};
use crate::engine::{Engine, SubmitError};
use crate::ports::{Clock, Fault};

/// Reads the farm file; the composition root knows where it is.
pub type ReadDefinition = Arc<dyn Fn() -> Result<Definition, Faults> + Send + Sync>;

pub struct FarmFileDaemon {
    pub engine: Engine<Farm>,
    pub clock: Arc<dyn Clock>,
    pub read: ReadDefinition,
}

/// What a reload changed, or would change.
#[derive(Debug, Serialize)]
pub struct Reloaded {
    pub changed: bool,
    pub changes: Vec<Change>,
    /// Allocated machines that are not workers of the new farm.
    pub lost: Vec<String>,
}

/// Why the farm stays as it was.
#[derive(Debug, Error)]
pub enum ReloadError {
    #[error("{0}")]
    BadFile(Faults),
    #[error(transparent)]
    Submit(#[from] SubmitError<Refusal>),
    #[error("{0:#}")]
    Fault(#[from] Fault),
}

impl FarmFileDaemon {
    /// Reads the file and puts it in force, or with `dry_run` only says what that would change.
    /// `token`: of the caller, if it has to have one.
    pub async fn reload(
        &self,
        author: Author,
        token: Option<TokenHash>,
        dry_run: bool,
    ) -> Result<Reloaded, ReloadError> {
        // Away from the threads that answer: a big farm file takes long to check.
        let read = self.read.clone();
        let definition = tokio::task::spawn_blocking(move || read()).await.map_err(Fault::from)?;
        let definition = Box::new(definition.map_err(ReloadError::BadFile)?);
        let command = Command::from(fleet::Command::Define { definition, author });
        let (planned, now) = (command.clone(), self.clock.now());
        let plan = move |farm: &Farm| farm.plan(now, planned).map(|events| compare(farm, &events));
        let reloaded = self.engine.ask(plan).await?.map_err(SubmitError::Refused)?;
        if !dry_run {
            let command = match token {
                Some(token) => Command::Authorized { token, command: Box::new(command) },
                None => command,
            };
            self.engine.submit(command).await?;
        }
        Ok(reloaded)
    }

    /// On SIGHUP: the same, told to the log.
    pub async fn reload_on_signal(&self) {
        match self.reload(Author::new("SIGHUP"), None, false).await {
            Ok(Reloaded { changes, lost, .. }) => {
                tracing::info!("reloaded the farm file: {} change(s)", changes.len());
                changes.iter().for_each(|change| tracing::info!("{change}"));
                lost.iter().for_each(|machine| {
                    tracing::warn!("{machine:?} is allocated, but no worker of the farm any more");
                });
            }
            Err(error) => tracing::error!("the farm file was not reloaded, nothing changed:\n{error}"),
        }
    }
}

/// The farm beside what the events would make of it.
fn compare(farm: &Farm, events: &[Event]) -> Reloaded {
    let mut after = farm.fleet.clone();
    for event in events {
        if let Event::Fleet(fleet::Event::Defined { definition, .. }) = event {
            after = after.redefined(definition.as_ref().clone());
        }
    }
    let changes = fleet::diff(&farm.fleet, &after);
    let lost = farm.allocations.workers().map(|(name, _)| name);
    let lost = lost.filter(|name| after.worker(name).is_none() && farm.fleet.worker(name).is_some());
    Reloaded { changed: !events.is_empty(), lost: lost.map(ToString::to_string).collect(), changes }
}
