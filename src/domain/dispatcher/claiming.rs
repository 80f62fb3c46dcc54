//! Offers of workers, and the life of a claim: heartbeats, its end, and what becomes of the job then.

use std::collections::BTreeSet;

use super::board::{Board, Offer, OfferId};
use super::job::JobId;
use super::run::{ClaimId, Next, Run, RunResult, Running, Token};
use super::state::{Job, Jobs};
use super::{Event, Filter, MAX_OFFERED_WORKERS, Refusal, Reply};
use crate::domain::author::Author;
use crate::domain::fleet::{Fleet, Options};
use crate::domain::names::WorkerName;
use crate::domain::time::Timestamp;

/// Who ends what ran out by itself.
pub(super) const DISPATCHER: &str = "dispatcher";

/// The claim, if it runs and this is its token.
pub(super) fn live(jobs: &Jobs, claim: ClaimId, token: Token) -> Result<&Running, Refusal> {
    match jobs.claim(claim) {
        Some(running) if running.token == token => Ok(running),
        Some(_) => Err(Refusal::StaleToken(claim)),
        None if (ClaimId(1)..=jobs.last_claim()).contains(&claim) => Err(Refusal::StaleToken(claim)),
        None => Err(Refusal::NoSuchClaim(claim)),
    }
}

/// How and why a run ends.
#[derive(Clone, Copy)]
pub(super) struct Ending<'a> {
    pub result: RunResult,
    pub next: Next,
    pub author: &'a Author,
    pub reason: Option<&'a str>,
}

/// What becomes of a job that is to run again.
fn again(attempt: u32, options: &Options) -> Next {
    if attempt >= options.max_attempts() { Next::GivenUp } else { Next::Waits }
}

/// A run whose worker was not heard of again, or is known not to run it any more.
fn lost(
    fleet: &Fleet,
    jobs: &Jobs,
    board: &mut Board,
    now: Timestamp,
    (claim, running): (ClaimId, &Running),
    why: &str,
) -> Event {
    let author = Author::new(DISPATCHER);
    let options = board.options_of(fleet, &job_of(jobs, running).spec.builder);
    let next = again(running.attempt, &options);
    ended(jobs, now, claim, running, Ending { result: RunResult::Lost, next, author: &author, reason: Some(why) })
}

fn job_of<'a>(jobs: &'a Jobs, running: &Running) -> &'a Job {
    jobs.job(running.job).expect("a running claim has a job")
}

/// The end of a run.
pub(super) fn ended(jobs: &Jobs, now: Timestamp, claim: ClaimId, running: &Running, ending: Ending<'_>) -> Event {
    let Ending { result, next, author, reason } = ending;
    let job = job_of(jobs, running);
    Event::RunEnded(Run {
        claim,
        job: running.job,
        builder: job.spec.builder.clone(),
        worker: running.worker.clone(),
        attempt: running.attempt,
        submitted_at: job.spec.submitted_at,
        started_at: running.started_at,
        ended_at: now,
        result,
        warm: running.warm,
        branch: job.spec.branch.clone(),
        project: job.spec.project.clone(),
        push: job.spec.push.clone(),
        next,
        author: author.clone(),
        reason: reason.map(str::to_owned),
    })
}

/// Ends a run as its holder says, with the quarantine that it may mean for the worker.
pub(super) fn finish(
    fleet: &Fleet,
    jobs: &Jobs,
    board: &mut Board,
    now: Timestamp,
    claim: ClaimId,
    end: Finish,
) -> Result<Vec<Event>, Refusal> {
    let Finish { token, result, author } = end;
    let running = live(jobs, claim, token)?;
    let is_last = match result {
        RunResult::Success | RunResult::Failure | RunResult::Cancelled => true,
        RunResult::Exception | RunResult::Retry | RunResult::Lost | RunResult::Requeued => false,
    };
    let options = if is_last { None } else { Some(board.options_of(fleet, &job_of(jobs, running).spec.builder)) };
    let next = options.as_ref().map_or(Next::Ended, |options| again(running.attempt, options));
    let mut events = vec![ended(jobs, now, claim, running, Ending { result, next, author: &author, reason: None })];
    if result == RunResult::Exception
        && let Some(options) = options
        && let Some(record) = jobs.health().after_exception(&running.worker, now, &options)
    {
        events.push(Event::Quarantined { worker: running.worker.clone(), record });
    }
    Ok(events)
}

/// What the holder of a claim says of its end.
pub(super) struct Finish {
    pub token: Token,
    pub result: RunResult,
    pub author: Author,
}

pub(super) fn cancel(
    jobs: &Jobs,
    now: Timestamp,
    id: JobId,
    author: Author,
    reason: Option<String>,
) -> Result<Vec<Event>, Refusal> {
    let Some(job) = jobs.job(id) else {
        return Err(if jobs.has_ended(id) { Refusal::JobEnded(id) } else { Refusal::NoSuchJob(id) });
    };
    let Some(claim) = job.claim else {
        return Ok(vec![Event::Cancelled { job: id, author, reason, time: now }]);
    };
    let running = jobs.claim(claim).expect("the claim of a running job");
    let reason = reason.as_deref();
    let ending = Ending { result: RunResult::Cancelled, next: Next::Ended, author: &author, reason };
    Ok(vec![ended(jobs, now, claim, running, ending)])
}

/// Puts the running jobs that are meant back.
pub(super) fn requeue(
    fleet: &Fleet,
    jobs: &Jobs,
    now: Timestamp,
    which: &Filter,
    author: &Author,
    reason: Option<&str>,
) -> Vec<Event> {
    let is_meant = |running: &Running| {
        let builder = jobs.job(running.job).map(|job| &job.spec.builder);
        let pool = fleet.worker(&running.worker).map(|worker| &worker.pool);
        which.jobs.as_ref().is_none_or(|listed| listed.contains(&running.job))
            && which.worker.as_ref().is_none_or(|meant| *meant == running.worker)
            && which.builder.as_ref().is_none_or(|meant| builder == Some(meant))
            && which.pool.as_ref().is_none_or(|meant| pool == Some(meant))
    };
    let meant = jobs.claims().filter(|(_, running)| is_meant(running));
    // Not the jobs' doing, so it never is a last attempt.
    let ending = Ending { result: RunResult::Requeued, next: Next::Waits, author, reason };
    meant.map(|(claim, running)| ended(jobs, now, claim, running, ending)).collect()
}

/// Ends the leases and the quarantines that are over.
pub(super) fn tick(fleet: &Fleet, jobs: &Jobs, board: &mut Board, now: Timestamp) -> Vec<Event> {
    let over: Vec<_> = board.leases.over(now).filter_map(|claim| Some((claim, jobs.claim(claim)?))).collect();
    let why = "the lease ran out without a heartbeat";
    let mut events: Vec<_> = over.into_iter().map(|run| lost(fleet, jobs, board, now, run, why)).collect();
    let over = jobs.health().quarantined().filter(|(_, until)| *until <= now);
    events.extend(over.map(|(worker, _)| Event::Released { worker: worker.clone(), time: now }));
    events
}

/// Opens an offer. A job that one of its workers still had is lost: its
/// session says that the worker is idle.
pub(super) fn offer(
    fleet: &Fleet,
    jobs: &Jobs,
    board: &mut Board,
    now: Timestamp,
    id: OfferId,
    offer: Offer,
) -> Result<(Vec<Event>, Reply), Refusal> {
    if let Some(key) = &offer.idempotency_key
        && let Some(claims) = jobs.claimed_under(&offer.session, key)
    {
        return Ok((Vec::new(), Reply::Repeated(claims.iter().map(|claim| jobs.granted(claim, now)).collect())));
    }
    check(fleet, jobs, board, &offer)?;
    let held = offer.workers.iter().filter_map(|worker| jobs.claim_of(worker));
    let why = "its session offered the worker again";
    let events = held.map(|run| lost(fleet, jobs, board, now, run, why)).collect();
    board.open(id, offer, now);
    Ok((events, Reply::Nothing))
}

fn check(fleet: &Fleet, jobs: &Jobs, board: &Board, offer: &Offer) -> Result<(), Refusal> {
    let workers = &offer.workers;
    if workers.is_empty() {
        return Err(Refusal::NoWorkers);
    }
    if workers.len() > MAX_OFFERED_WORKERS {
        return Err(Refusal::TooManyWorkers { given: workers.len() });
    }
    if offer.max == 0 {
        return Err(Refusal::NothingWanted);
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = workers.iter().find(|worker| !seen.insert(*worker)) {
        return Err(Refusal::OfferedTwice(twice.clone()));
    }
    let those = |is: &dyn Fn(&WorkerName) -> bool| workers.iter().filter(|worker| is(worker)).cloned().collect();
    let unknown: Vec<_> = those(&|worker| fleet.worker(worker).is_none());
    if !unknown.is_empty() {
        return Err(Refusal::UnknownWorkers(unknown));
    }
    let session = &offer.session;
    let elsewhere: Vec<_> = those(&|worker| {
        board.offered_by(worker).is_some_and(|other| other != session)
            || jobs.claim_of(worker).is_some_and(|(_, running)| running.session != *session)
    });
    if !elsewhere.is_empty() {
        return Err(Refusal::OfferedElsewhere(elsewhere));
    }
    Ok(())
}
