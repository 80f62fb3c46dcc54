//! The dispatcher: which job runs next, and on which worker, exactly once.
//!
//! [`Jobs`] is the part of the truth, changed by events alone. The [`Board`]
//! is worked out from it and is not journalled: who waits for whom, which
//! workers are offered, when leases end. A command is decided into events;
//! then `react` looks at what has become stale on the board, and gives jobs
//! to workers.

mod advice;
mod board;
mod claiming;
pub mod explain;
mod health;
mod idempotency;
mod job;
mod key;
mod leases;
mod matching;
mod pace;
mod react;
mod refusal;
mod run;
mod saved;
mod state;
mod submission;
mod warm;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use advice::{Advice, advise};
pub use board::{Board, Farm, Offer, OfferId, OpenOffer};
pub use health::{Health, Record};
pub use job::{
    JobId, JobSpec, MAX_INPUT_SETS, MAX_JOBS_PER_CALL, MAX_PAYLOAD_BYTES, MAX_PENDING_JOBS, MAX_PRIORITY,
    MAX_TEXT_BYTES, NewJob,
};
pub use key::{Ageing, Key};
pub use pace::{Pace, Paces};
pub use refusal::{BadJob, Refusal};
pub use run::{Claim, ClaimId, Granted, Next, Run, RunResult, Running, Token};
pub use state::{Job, Jobs};
pub use warm::{MIN_WARM_WORKERS, Warm};

pub(super) use react::react;

use super::author::Author;
use super::fleet::Fleet;
use super::names::{BuilderName, PoolName, WorkerName};
use super::time::Timestamp;

/// The most workers of one claim call.
pub const MAX_OFFERED_WORKERS: usize = 10_000;

/// What can be asked of the dispatcher.
#[derive(Debug, Clone)]
pub enum Command {
    /// New jobs, all or none.
    Submit { jobs: Vec<NewJob>, author: Author },
    /// Nobody wants this job any more.
    Cancel { job: JobId, author: Author, reason: Option<String> },
    /// These workers are idle: give them jobs, now or when there are some.
    Offer { id: OfferId, offer: Offer },
    /// The workers of this offer are not idle any more; unknown offers are none already.
    Withdraw { offer: OfferId },
    /// The worker of this claim lives.
    Heartbeat { claim: ClaimId, token: Token },
    /// The run has ended.
    Finish { claim: ClaimId, token: Token, result: RunResult, author: Author },
    /// Put running jobs back, with their age.
    Requeue { which: Filter, author: Author, reason: Option<String> },
    /// Runs from before, elsewhere: they warm their workers.
    Remember { successes: Vec<(BuilderName, WorkerName, Timestamp)> },
    /// A deadline may have passed.
    Tick,
    /// Which claim calls are open? Changes nothing.
    Look,
}

/// Which jobs are meant; what is `None` does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub builder: Option<BuilderName>,
    pub pool: Option<PoolName>,
    pub worker: Option<WorkerName>,
    pub jobs: Option<BTreeSet<JobId>>,
}

/// What has happened to jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    Submitted {
        jobs: Vec<Submitted>,
        author: Author,
        time: Timestamp,
    },
    /// A job that had no run ended without one.
    Cancelled {
        job: JobId,
        author: Author,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        time: Timestamp,
    },
    /// The answer to one claim call.
    Claimed {
        offer: OfferId,
        session: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<Arc<str>>,
        claims: Vec<Claim>,
        author: Author,
        time: Timestamp,
    },
    RunEnded(Run),
    /// Successes of runs that were not ours.
    Remembered {
        successes: Vec<(BuilderName, WorkerName, Timestamp)>,
    },
    /// By itself, after exceptions in a row.
    Quarantined {
        worker: WorkerName,
        record: Record,
    },
    /// The quarantine is over.
    Released {
        worker: WorkerName,
        time: Timestamp,
    },
}

/// One accepted job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submitted {
    pub id: JobId,
    pub job: Arc<JobSpec>,
    /// Kept beside the journal, in the same transaction.
    #[serde(skip)]
    pub payload: Option<Arc<str>>,
}

/// What a command is answered with, beyond its events.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// For each submitted job, in order.
    Jobs(Vec<Accepted>),
    /// What the first call with this idempotency key was given.
    Repeated(Vec<Granted>),
    /// When the lease ends without another heartbeat.
    Lease(Timestamp),
    /// The claim calls that are open.
    Offers(Vec<OpenOffer>),
    Nothing,
}

/// A job that was submitted, now or before.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    pub id: JobId,
    /// `None` once the job has ended, for one that is submitted again.
    pub spec: Option<Arc<JobSpec>>,
    /// Its idempotency key was known: nothing new.
    pub known: bool,
    /// The time that it was submitted at lay in the future, and was taken to be now.
    pub clamped: bool,
}

/// Decides a command. Offers and heartbeats change the board and make no event.
pub(super) fn decide(
    fleet: &Fleet,
    jobs: &Jobs,
    board: &mut Board,
    now: Timestamp,
    command: Command,
) -> Result<(Vec<Event>, Reply), Refusal> {
    match command {
        Command::Submit { jobs: new, author } => submission::submit(fleet, jobs, board, now, new, author),
        Command::Cancel { job, author, reason } => claiming::cancel(jobs, now, job, author, reason).map(events),
        Command::Offer { id, offer } => claiming::offer(fleet, jobs, board, now, id, offer),
        Command::Withdraw { offer } => {
            board.withdraw(offer);
            Ok(events(Vec::new()))
        }
        Command::Heartbeat { claim, token } => {
            let lease = claiming::live(jobs, claim, token)?.lease;
            Ok((Vec::new(), Reply::Lease(board.leases.renew(claim, lease, now))))
        }
        Command::Finish { claim, token, result, author } => {
            claiming::finish(fleet, jobs, board, now, claim, claiming::Finish { token, result, author }).map(events)
        }
        Command::Requeue { which, author, reason } => {
            Ok(events(claiming::requeue(fleet, jobs, now, &which, &author, reason.as_deref())))
        }
        Command::Remember { successes } => Ok(events(vec![Event::Remembered { successes }])),
        Command::Tick => Ok(events(claiming::tick(fleet, jobs, board, now))),
        Command::Look => Ok((Vec::new(), Reply::Offers(board.open_offers()))),
    }
}

fn events(events: Vec<Event>) -> (Vec<Event>, Reply) {
    (events, Reply::Nothing)
}
