//! Advice to masters that assign by themselves: what would start where if these jobs waited and these workers were idle.
//!
//! It is the decision itself, on a board of its own, so it says what a claim
//! call would have got. A claim is the truth, this is not: masters that share a
//! queue still race for a job in their own database.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::board::{Board, Farm, Offer, OfferId};
use super::job::{JobId, NewJob};
use super::react::react;
use super::run::Token;
use super::state::Jobs;
use super::{Event, submission};
use crate::domain::author::Author;
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// What a master should do now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advice {
    /// All builders that can run something, by their most important job.
    pub order: Vec<BuilderName>,
    /// In the order of the jobs; a builder as often as it starts.
    pub assign: Vec<(BuilderName, WorkerName)>,
    /// Builders with a job that has to wait, by name, with the reason.
    pub held: BTreeMap<BuilderName, String>,
    /// Workers that are not idle for us, with the reason.
    pub ignored: BTreeMap<WorkerName, String>,
}

/// What starts now if exactly these jobs wait and these workers are idle.
/// What is said in a job beyond builder, priority, class and age plays no part.
pub fn advise(farm: Farm<'_>, now: Timestamp, idle: Vec<WorkerName>, pending: Vec<NewJob>) -> Advice {
    let mut advice = Advice::default();
    let (ignored, idle): (Vec<_>, Vec<_>) =
        idle.into_iter().map(|worker| (why_not_idle(farm, &worker), worker)).partition(|(why, _)| why.is_some());
    advice.ignored = ignored.into_iter().filter_map(|(why, worker)| Some((worker, why?))).collect();
    let idle: BTreeSet<WorkerName> = idle.into_iter().map(|(_, worker)| worker).collect();

    let builders: BTreeSet<_> = pending.iter().map(|job| job.builder.clone()).collect();
    let mut jobs = Jobs::knowing(farm.jobs, &builders);
    let mut board = Board::of(farm.fleet, &jobs, now);
    let mut waiting = BTreeMap::new();
    for (id, job) in (1..).map(JobId).zip(pending) {
        let Some(builder) = board.find(farm.fleet, &job.builder) else {
            let why = farm.fleet.definition().unmatched(&job.builder);
            advice.held.insert(job.builder, why);
            continue;
        };
        let submitted = submission::resolved(farm.fleet, &mut board, now, id, job, builder);
        waiting.insert(board.key(id, &submitted.job), submitted.job.builder.clone());
        let event = Event::Submitted { jobs: vec![submitted], author: Author::new("advice"), time: now };
        board.note(farm.fleet, &jobs, &event);
        jobs.apply(&event);
    }
    let mut seen = BTreeSet::new();
    advice.order = waiting.values().filter(|builder| seen.insert(*builder)).cloned().collect();

    let mut started = start(Farm { jobs: &jobs, ..farm }, &mut board, now, &idle);
    for (key, builder) in waiting {
        match started.remove(&key.id) {
            Some(worker) => advice.assign.push((builder, worker)),
            None if advice.held.contains_key(&builder) => {}
            None => {
                let why = board.why_held(farm, &builder, key, now, &idle);
                advice.held.insert(builder, why);
            }
        }
    }
    advice
}

/// The jobs that start, each with its worker.
fn start(
    farm: Farm<'_>,
    board: &mut Board,
    now: Timestamp,
    idle: &BTreeSet<WorkerName>,
) -> BTreeMap<JobId, WorkerName> {
    let offer = Offer {
        workers: idle.iter().cloned().collect(),
        max: idle.len(),
        session: "advice".into(),
        idempotency_key: None,
        token: Token::new(0),
        author: Author::new("advice"),
        stays_open: false,
    };
    board.open(OfferId(0), offer, now);
    let claims = react(farm, board, now).into_iter().filter_map(|event| match event {
        Event::Claimed { claims, .. } => Some(claims),
        Event::Submitted { .. }
        | Event::Cancelled { .. }
        | Event::RunEnded(_)
        | Event::Remembered { .. }
        | Event::Quarantined { .. }
        | Event::Released { .. } => None,
    });
    claims.flatten().map(|claim| (claim.job, claim.worker)).collect()
}

fn why_not_idle(farm: Farm<'_>, worker: &WorkerName) -> Option<String> {
    if farm.fleet.worker(worker).is_none() {
        return Some("no such worker is in the farm".into());
    }
    if let Some((_, running)) = farm.jobs.claim_of(worker) {
        return Some(format!("it runs job {}", running.job));
    }
    if let Some(assigned) = farm.fleet.assigned(worker) {
        let mut why = format!("{} by {}", assigned.duty, assigned.author.as_str());
        if let Some(reason) = &assigned.reason {
            write!(why, ": {reason}").expect("a string takes every text");
        }
        return Some(why);
    }
    let until = farm.jobs.health().quarantined_until(worker)?;
    let exceptions = farm.jobs.health().of(worker).exceptions;
    Some(format!("quarantined until {until} after {exceptions} exceptions in a row"))
}
