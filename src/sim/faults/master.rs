//! A master of the simulation: it submits, claims, runs and reports, repeats what was not answered, and forgets now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::server::{Answer, BUILDERS, Call, worker};
use super::{JOBS_EACH, MASTERS, WORKERS_EACH};
use crate::domain::dispatcher::{ClaimId, Granted, NewJob, Offer, OfferId, RunResult, Token};
use crate::domain::{Author, BuilderName, Timestamp, WorkerName};
use crate::sim::Chance;

/// How long a claim call waits before it is made again, with the same key.
const WAIT: Duration = Duration::from_secs(30);

/// Between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// Between two turns of a master.
const TURN: Duration = Duration::from_secs(5);

pub struct Master {
    at: usize,
    chance: Chance,
    session: Arc<str>,
    /// Jobs that it has yet to be told of, by key.
    unconfirmed: BTreeMap<String, NewJob>,
    submitted: u64,
    idle: BTreeSet<WorkerName>,
    call: Option<ClaimCall>,
    calls: u64,
    runs: BTreeMap<ClaimId, Run>,
}

/// A claim call without an answer.
struct ClaimCall {
    offer: Offer,
    id: OfferId,
    made_at: Timestamp,
    is_withdrawn: bool,
}

/// A run, as the master sees it.
struct Run {
    token: Token,
    worker: WorkerName,
    ends_at: Timestamp,
    result: RunResult,
    heartbeat_at: Timestamp,
}

impl Master {
    pub fn new(at: usize, chance: Chance) -> Self {
        let mut master = Self {
            at,
            chance,
            session: format!("master-{at}").into(),
            unconfirmed: BTreeMap::new(),
            submitted: 0,
            idle: BTreeSet::new(),
            call: None,
            calls: 0,
            runs: BTreeMap::new(),
        };
        master.idle = master.workers();
        master
    }

    /// Its workers are of both pools.
    fn workers(&self) -> BTreeSet<WorkerName> {
        (0..WORKERS_EACH).map(|number| worker(number * MASTERS + self.at)).collect()
    }

    pub fn has_submitted_all(&self) -> bool {
        self.submitted == JOBS_EACH && self.unconfirmed.is_empty()
    }

    /// The claims that it runs, with what it holds for them.
    pub fn held(&self) -> impl Iterator<Item = (ClaimId, Token)> {
        self.runs.iter().map(|(claim, run)| (*claim, run.token))
    }

    /// It starts again, and knows nothing of what it ran; what it has submitted is in its database.
    pub fn forget(&mut self) {
        self.runs.clear();
        self.call = None;
        self.idle = self.workers();
    }

    pub fn next_turn(&mut self, now: Timestamp) -> Timestamp {
        now.after(TURN.mul_f64(0.5 + self.chance.unit()))
    }

    /// All that it wants now. `late`: of a thousand heartbeats so many come much too late.
    pub fn calls(&mut self, now: Timestamp, late: u32) -> Vec<Call> {
        let mut calls = Vec::new();
        if self.submitted < JOBS_EACH && self.chance.in_thousand(400) {
            self.submitted += 1;
            let key = format!("{}-{}", self.session, self.submitted);
            let job = self.job(&key);
            self.unconfirmed.insert(key, job);
        }
        let unconfirmed = self.unconfirmed.iter();
        calls.extend(unconfirmed.map(|(key, job)| Call::Submit { key: key.clone(), job: Box::new(job.clone()) }));
        self.report(now, late, &mut calls);
        self.claim(now, &mut calls);
        calls
    }

    fn job(&mut self, key: &str) -> NewJob {
        let builder = BUILDERS[self.chance.bits() as usize % BUILDERS.len()];
        NewJob {
            priority: Some((self.chance.bits() % 5) as i64),
            idempotency_key: Some(key.into()),
            ..NewJob::of(BuilderName::parse(builder).expect("a name"))
        }
    }

    /// Heartbeats and ends of runs, again and again until they are answered.
    fn report(&mut self, now: Timestamp, late: u32, calls: &mut Vec<Call>) {
        for (claim, run) in &mut self.runs {
            let (claim, token) = (*claim, run.token);
            if run.ends_at <= now {
                calls.push(Call::Finish { claim, token, result: run.result });
            } else if run.heartbeat_at <= now {
                let pause = if self.chance.in_thousand(late) { HEARTBEAT * 5 } else { HEARTBEAT };
                run.heartbeat_at = now.after(pause);
                calls.push(Call::Heartbeat { claim, token });
            }
        }
    }

    fn claim(&mut self, now: Timestamp, calls: &mut Vec<Call>) {
        if let Some(call) = &mut self.call {
            if call.made_at.after(WAIT) <= now {
                call.made_at = now;
                if call.is_withdrawn {
                    // Whether it was answered is not known, so it is made again under its key.
                    self.calls += 1;
                    call.id = OfferId(self.calls * MASTERS as u64 + self.at as u64);
                    calls.push(Call::Claim { id: call.id, offer: call.offer.clone() });
                } else {
                    calls.push(Call::Withdraw { id: call.id });
                }
                call.is_withdrawn = !call.is_withdrawn;
            }
            return;
        }
        if self.idle.is_empty() {
            return;
        }
        self.calls += 1;
        let id = OfferId(self.calls * MASTERS as u64 + self.at as u64);
        let workers: Vec<_> = self.idle.iter().cloned().collect();
        let offer = Offer {
            max: 1 + self.chance.bits() as usize % workers.len(),
            workers,
            session: self.session.clone(),
            idempotency_key: Some(format!("{}-claim-{}", self.session, self.calls).into()),
            token: Token::new(u128::from(self.chance.bits()) << 64 | u128::from(self.chance.bits())),
            author: Author::new("master"),
            stays_open: self.chance.in_thousand(800),
        };
        calls.push(Call::Claim { id, offer: offer.clone() });
        self.call = Some(ClaimCall { offer, id, made_at: now, is_withdrawn: false });
    }

    pub fn hear(&mut self, now: Timestamp, answer: Answer) {
        match answer {
            Answer::Submitted { key, job: _ } => drop(self.unconfirmed.remove(&key)),
            Answer::Claimed { offer, claims } => {
                // An answer to a call that it has given up means nothing to it.
                if self.call.as_ref().is_some_and(|call| call.id == offer) {
                    self.call = None;
                    claims.into_iter().for_each(|claim| self.start(now, claim));
                }
            }
            Answer::Nothing { offer } => {
                if self.call.as_ref().is_some_and(|call| call.id == offer) {
                    self.call = None;
                }
            }
            Answer::Heartbeat { claim, ok: false } | Answer::Finished { claim, ok: _ } => {
                if let Some(run) = self.runs.remove(&claim) {
                    self.idle.insert(run.worker);
                }
            }
            Answer::Heartbeat { claim: _, ok: true } => {}
        }
    }

    fn start(&mut self, now: Timestamp, claim: Granted) {
        self.idle.remove(&claim.worker);
        let result = match self.chance.bits() % 20 {
            0 => RunResult::Exception,
            1 => RunResult::Retry,
            2 | 3 => RunResult::Failure,
            _ => RunResult::Success,
        };
        let lasts = Duration::from_secs(10 + self.chance.bits() % 300);
        let run = Run {
            token: claim.token,
            worker: claim.worker,
            ends_at: now.after(lasts),
            result,
            heartbeat_at: now.after(HEARTBEAT),
        };
        self.runs.insert(claim.id, run);
    }
}
