//! Everything that a farm can refuse, with the stable code that clients may rely on.

use thiserror::Error;

use super::{access, allocator, dispatcher, fleet};

/// An expected "no": the farm is unchanged, and the caller can do something about it.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    #[error(transparent)]
    Fleet(#[from] fleet::Refusal),
    #[error(transparent)]
    Allocator(#[from] allocator::Refusal),
    #[error(transparent)]
    Access(#[from] access::Refusal),
    #[error(transparent)]
    Dispatcher(#[from] dispatcher::Refusal),
}

impl Refusal {
    /// The code in a problem document; stable, unlike the text.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Fleet(refusal) => match refusal {
                fleet::Refusal::BadDefinition(_) => "bad_farm_definition",
                fleet::Refusal::NoSuchPool { .. } => "no_such_pool",
                fleet::Refusal::NoSuchWorker { .. } => "no_such_worker",
                fleet::Refusal::InFarmFile { .. } => "in_farm_file",
                fleet::Refusal::TooManyWorkers => "too_many_workers",
                fleet::Refusal::NothingToPause { .. } => "nothing_to_pause",
                fleet::Refusal::TooManyPaused => "too_many_paused",
            },
            Self::Allocator(refusal) => match refusal {
                allocator::Refusal::Stale { .. } => "generation_changed",
                allocator::Refusal::Faults(_) => "rules_broken",
                allocator::Refusal::Strict { .. } => "strict_import",
                allocator::Refusal::NotAllocated { .. } => "not_allocated",
                allocator::Refusal::NotKept(_) => "generation_not_kept",
                allocator::Refusal::TooManyLines { .. } => "too_many_changes",
            },
            Self::Access(refusal) => match refusal {
                access::Refusal::TokenRevoked => "unauthorized",
                access::Refusal::TokenExists { .. } => "token_exists",
                access::Refusal::NoSuchToken { .. } => "no_such_token",
                access::Refusal::LastOperator { .. } => "last_operator",
            },
            Self::Dispatcher(refusal) => match refusal {
                dispatcher::Refusal::BadJobs(_) => "bad_jobs",
                dispatcher::Refusal::TooManyJobs { .. } => "too_many_jobs",
                dispatcher::Refusal::QueueFull => "queue_full",
                dispatcher::Refusal::NoSuchJob(_) => "no_such_job",
                dispatcher::Refusal::JobEnded(_) => "job_ended",
                dispatcher::Refusal::NoWorkers => "no_workers",
                dispatcher::Refusal::TooManyWorkers { .. } => "too_many_workers",
                dispatcher::Refusal::NothingWanted => "nothing_wanted",
                dispatcher::Refusal::OfferedTwice(_) => "offered_twice",
                dispatcher::Refusal::UnknownWorkers(_) => "no_such_worker",
                dispatcher::Refusal::OfferedElsewhere(_) => "offered_elsewhere",
                dispatcher::Refusal::StaleToken(_) => "stale_token",
                dispatcher::Refusal::NoSuchClaim(_) => "no_such_claim",
            },
        }
    }
}
