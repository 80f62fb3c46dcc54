//! Jobs as they are submitted: what a push makes of its branch's builders.

use serde::Serialize;

use super::Workload;
use super::catalog::Trigger;
use super::pushes::{Push, PushId};
use crate::domain::{BuilderName, Timestamp, dispatcher};
use crate::sim::chance::Chance;

/// How much the runs of one builder differ (deviation of the logarithm).
const SPREAD_OF_RUNS: f64 = 0.25;

/// Of 1,000 runs, so many end each of these ways; the others are successes.
const FAILURES_IN_1_000: u64 = 70;
const EXCEPTIONS_IN_1_000: u64 = 8;
const RETRIES_IN_1_000: u64 = 17;

/// One submitted job, as JSON a job of `POST /v1/jobs` with its `service` besides.
///
/// Neither priority nor class: the farm file gives both.
#[derive(Debug, Clone, Serialize)]
pub struct Arrival {
    pub builder: BuilderName,
    pub submitted_at: Timestamp,
    pub branch: &'static str,
    pub project: &'static str,
    pub push: PushId,
    /// Seconds that a whole cold run takes, at least 1; a warm one takes 0.6 of them.
    pub service: u64,
    /// From 1, in the order of submission.
    #[serde(skip)]
    pub(super) number: u64,
    /// The builder's place.
    #[serde(skip)]
    pub(super) place: usize,
    #[serde(skip)]
    pub(super) clobbers: u32,
    /// For the ends of its runs, so that they are its own, wherever and whenever it runs.
    #[serde(skip)]
    pub(super) fate: Chance,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunResult {
    Success,
    Failure,
    /// The machine broke: the job runs again.
    Exception,
    /// What the run needed was not there: the job runs again.
    Retry,
}

impl From<RunResult> for dispatcher::RunResult {
    fn from(result: RunResult) -> Self {
        match result {
            RunResult::Success => Self::Success,
            RunResult::Failure => Self::Failure,
            RunResult::Exception => Self::Exception,
            RunResult::Retry => Self::Retry,
        }
    }
}

/// What becomes of one run.
pub(super) struct End {
    pub result: RunResult,
    /// The part of a whole run that it lasts, from 0 to 1.
    pub part: f64,
}

/// Every job, in the order of submission; needs no more memory than the pushes.
pub(super) fn arrivals(workload: &Workload) -> impl Iterator<Item = Arrival> {
    let jobs = workload.pushes.iter().flat_map(|push| jobs(workload, push));
    jobs.zip(1..).map(|(job, number)| Arrival { number, ..job })
}

fn jobs<'a>(workload: &'a Workload, push: &'a Push) -> impl Iterator<Item = Arrival> + 'a {
    let mut chance = push.chance.clone();
    let of_branch = workload.builders.list.iter().enumerate().filter(|(_, builder)| builder.branch == push.branch);
    of_branch.flat_map(move |(place, builder)| {
        let count = match builder.trigger {
            Trigger::Push(of_thousand) => u64::from(!push.nightly && chance.in_thousand(of_thousand)),
            Trigger::Nightly if push.nightly => workload.builders.nightly_jobs,
            Trigger::Nightly => 0,
        };
        let jobs = (0..count).map(|_| Arrival {
            builder: builder.name.clone(),
            submitted_at: Timestamp::from_unix_seconds(push.at),
            branch: workload.builders.branches[push.branch].name,
            project: builder.project.name(),
            push: push.id,
            service: (chance.log_normal(builder.cold_seconds, SPREAD_OF_RUNS).round() as u64).max(1),
            number: 0,
            place,
            clobbers: push.clobbers,
            fate: chance.split(),
        });
        jobs.collect::<Vec<_>>()
    })
}

impl Arrival {
    /// The end of its next run. Only a success lasts to its end; a failure shows somewhere on the way.
    pub(super) fn next_end(&mut self) -> End {
        let (lot, part) = (self.fate.bits() % 1_000, self.fate.unit());
        let (failures, exceptions) = (FAILURES_IN_1_000, FAILURES_IN_1_000 + EXCEPTIONS_IN_1_000);
        if lot < failures {
            End { result: RunResult::Failure, part }
        } else if lot < exceptions {
            End { result: RunResult::Exception, part }
        } else if lot < exceptions + RETRIES_IN_1_000 {
            End { result: RunResult::Retry, part }
        } else {
            End { result: RunResult::Success, part: 1.0 }
        }
    }
}
