//! What follows from a change: runs whose worker is gone end, and jobs that can start do.

use super::board::{Assignment, Board, Farm};
use super::claiming::{Ending, ended};
use super::run::{Claim, Next, RunResult};
use super::{Event, OfferId};
use crate::domain::author::Author;
use crate::domain::time::Timestamp;

/// One decision about all that has changed since the last one. Its events
/// call for another, until there are none.
pub(in crate::domain) fn react(farm: Farm<'_>, board: &mut Board, now: Timestamp) -> Vec<Event> {
    board.settle(farm, now);
    let orphans = orphans(farm, board, now);
    if !orphans.is_empty() {
        return orphans;
    }
    let mut assignments = board.assign(farm);
    assignments.sort_by_key(|assignment| assignment.offer);
    let mut claim = farm.jobs.last_claim();
    let mut events = Vec::new();
    for answer in assignments.chunk_by(|one, other| one.offer == other.offer) {
        let claims = answer.iter().enumerate().map(|(place, assignment)| {
            claim = claim.next();
            start(farm, board, claim, place, assignment)
        });
        let claims = claims.collect();
        events.push(answered(board, answer[0].offer, claims, now));
    }
    board.close_brief();
    events
}

fn start(farm: Farm<'_>, board: &Board, id: super::ClaimId, place: usize, assignment: &Assignment) -> Claim {
    let offer = board.offer(assignment.offer).expect("an open offer");
    Claim {
        id,
        token: offer.token.after(place),
        job: assignment.job,
        worker: assignment.worker.clone(),
        attempt: farm.jobs.job(assignment.job).map_or(1, |job| job.attempts + 1),
        warm_since: assignment.warm_since,
        before: assignment.before,
        others: u32::try_from(assignment.others).unwrap_or(u32::MAX),
        lease: assignment.lease,
    }
}

/// Answers an offer, which closes it: workers of it that got nothing are idle no more.
fn answered(board: &mut Board, id: OfferId, claims: Vec<Claim>, now: Timestamp) -> Event {
    let offer = board.withdraw(id).expect("an open offer");
    Event::Claimed {
        offer: id,
        session: offer.session,
        idempotency_key: offer.idempotency_key,
        claims,
        author: offer.author,
        time: now,
    }
}

/// A worker that was taken out of the fleet takes its run with it; the job waits again.
fn orphans(farm: Farm<'_>, board: &mut Board, now: Timestamp) -> Vec<Event> {
    let author = Author::new(super::claiming::DISPATCHER);
    let reason = Some("its worker was taken out of the farm");
    let ending = Ending { result: RunResult::Cancelled, next: Next::Waits, author: &author, reason };
    let mut events = Vec::new();
    for worker in board.take_removed() {
        if farm.fleet.worker(&worker).is_none()
            && let Some((claim, running)) = farm.jobs.claim_of(&worker)
        {
            events.push(ended(farm.jobs, now, claim, running, ending));
        }
    }
    events
}
