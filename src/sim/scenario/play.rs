//! Plays a scenario: from each time at which something is due to the next, with one decision for each.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use super::outcome::{Assigned, Outcome, Told, What};
use super::{Happening, JobName, Scenario};
use crate::domain::allocator::{self, Builders, Write, WriteCommand};
use crate::domain::dispatcher::explain::{self, Scene, State};
use crate::domain::dispatcher::{self, ClaimId, JobId, Offer, OfferId, Reply as DispatcherReply, RunResult, Token};
use crate::domain::fleet::{self, Duty, Fleet};
use crate::domain::{Author, Command, Done, Event, Farm, Reply, Timestamp, Volatile, WorkerName};

/// The same scenario has the same outcome.
pub fn play(scenario: &Scenario) -> Outcome {
    let mut player = Player::new(scenario);
    let mut events = scenario.events.iter().peekable();
    loop {
        let event = events.peek().map(|(at, _)| *at).filter(|at| *at <= scenario.until);
        let due = player.next_due(event.unwrap_or(scenario.until));
        let Some(now) = due.or(event) else { break };
        player.now = now;
        player.pass_deadlines();
        while let Some((_, happening)) = events.next_if(|(at, _)| *at <= now) {
            player.happen(happening);
        }
        player.decide();
    }
    player.end(scenario)
}

struct Player {
    farm: Farm,
    volatile: Volatile,
    now: Timestamp,
    author: Author,
    names: BTreeMap<JobId, JobName>,
    ids: BTreeMap<JobName, JobId>,
    services: BTreeMap<JobId, Duration>,
    /// When running jobs end by themselves.
    ends: BTreeSet<(Timestamp, ClaimId)>,
    /// When open claim calls have waited long enough.
    waits: BTreeSet<(Timestamp, OfferId)>,
    lost: BTreeSet<WorkerName>,
    offers: u64,
    outcome: Outcome,
}

impl Player {
    fn new(scenario: &Scenario) -> Self {
        let mut player = Self {
            farm: Farm::default(),
            volatile: Volatile::default(),
            now: Timestamp::default(),
            author: Author::new("scenario"),
            names: BTreeMap::new(),
            ids: BTreeMap::new(),
            services: BTreeMap::new(),
            ends: BTreeSet::new(),
            waits: BTreeSet::new(),
            lost: BTreeSet::new(),
            offers: 0,
            outcome: Outcome::default(),
        };
        player.set_up(scenario);
        player
    }

    /// Workers come by the API and not by the farm file, so that they can go again.
    fn set_up(&mut self, scenario: &Scenario) {
        let mut definition = Box::new(scenario.definition.clone());
        definition.pools.iter_mut().for_each(|pool| pool.workers.clear());
        definition.workers.clear();
        let author = self.author.clone();
        self.order(fleet::Command::Define { definition, author });
        for (name, worker) in Fleet::from(scenario.definition.clone()).workers() {
            let (name, worker, author) = (name.clone(), worker.clone(), self.author.clone());
            self.order(fleet::Command::PutWorker { name, worker, author, reason: None });
        }
        let successes = scenario.history.iter().filter(|past| past.result == RunResult::Success);
        let successes: Vec<_> =
            successes.map(|past| (past.builder.clone(), past.worker.clone(), past.finished_at)).collect();
        if !successes.is_empty() {
            self.order(dispatcher::Command::Remember { successes });
        }
        // What was so before the beginning is not told, what cannot be is.
        self.outcome.events.retain(|told| matches!(told.what, What::Ignored(_)));
        if !scenario.allocations.is_empty() {
            self.allocate(&scenario.allocations);
        }
    }

    /// Carries out a command up to the decision that follows; a refusal is told.
    fn order(&mut self, command: impl Into<Command>) -> Option<Reply> {
        match self.farm.take(&mut self.volatile, self.now, command.into()) {
            Ok(Done { events, reply }) => {
                self.tell(events);
                Some(reply)
            }
            Err(refusal) => {
                self.ignore(refusal.to_string());
                None
            }
        }
    }

    fn ignore(&mut self, why: String) {
        self.outcome.events.push(Told { at: self.now, what: What::Ignored(why) });
    }

    fn tell(&mut self, events: Vec<Event>) {
        for event in events {
            if let Event::Dispatcher(dispatcher::Event::Claimed { offer, claims, .. }) = &event {
                self.waits.retain(|(_, open)| open != offer);
                for claim in claims {
                    let job = self.names[&claim.job].clone();
                    let (worker, attempt) = (claim.worker.clone(), claim.attempt);
                    self.outcome.assignments.push(Assigned { at: self.now, job, worker, attempt });
                    if let Some(service) = self.services.get(&claim.job) {
                        self.ends.insert((self.now.after(*service), claim.id));
                    }
                }
            }
            if let Event::Dispatcher(dispatcher::Event::RunEnded(run)) = &event {
                self.ends.retain(|(_, claim)| *claim != run.claim);
            }
            self.outcome.events.push(Told { at: self.now, what: What::Event(Box::new(event)) });
        }
    }

    fn decide(&mut self) {
        self.outcome.decisions += 1;
        let mut followed = Vec::new();
        self.farm.react(&mut self.volatile, self.now, &mut followed);
        self.tell(followed);
    }

    /// The next deadline up to `limit`. Workers that live send heartbeats in
    /// time, so only the leases of lost ones run out.
    fn next_due(&mut self, limit: Timestamp) -> Option<Timestamp> {
        let run = self.ends.first().map(|(at, _)| *at);
        let wait = self.waits.first().map(|(at, _)| *at);
        let end = run.into_iter().chain(wait).min().filter(|end| *end <= limit);
        let limit = end.unwrap_or(limit);
        loop {
            let deadline = self.farm.next_deadline(&self.volatile).filter(|deadline| *deadline <= limit);
            if deadline.is_none_or(|deadline| !self.hear_of_living(deadline)) {
                return deadline.or(end);
            }
        }
    }

    /// Renews the leases of living workers that end at this time; says whether there were any.
    fn hear_of_living(&mut self, end: Timestamp) -> bool {
        let due = self.farm.jobs.claims().filter(|(claim, running)| {
            self.volatile.board.lease_of(*claim) == Some(end) && !self.lost.contains(&running.worker)
        });
        let due: Vec<_> = due.map(|(claim, running)| (claim, running.token)).collect();
        for (claim, token) in &due {
            let heartbeat = dispatcher::Command::Heartbeat { claim: *claim, token: *token };
            let renewed = self.farm.take(&mut self.volatile, end, heartbeat.into());
            renewed.expect("a running claim with its own token");
        }
        !due.is_empty()
    }

    fn pass_deadlines(&mut self) {
        while let Some((at, claim)) = self.ends.first().copied()
            && at <= self.now
        {
            self.ends.pop_first();
            let running = self.farm.jobs.claim(claim).expect("an end is forgotten with its run");
            let worker = running.worker.clone();
            self.finish(&worker, RunResult::Success);
        }
        while let Some((at, offer)) = self.waits.first().copied()
            && at <= self.now
        {
            self.waits.pop_first();
            self.order(dispatcher::Command::Withdraw { offer });
        }
        self.hear_of_living(self.now);
        if self.farm.next_deadline(&self.volatile).is_some_and(|deadline| deadline <= self.now) {
            self.order(dispatcher::Command::Tick);
        }
    }

    fn happen(&mut self, happening: &Happening) {
        match happening {
            Happening::Submit { name, job, service } => self.submit(name, job, *service),
            Happening::Idle(workers) => workers.iter().for_each(|worker| self.offer(worker)),
            Happening::Claim { workers, max, wait } => self.claim(workers, *max, *wait),
            Happening::Allocate(lists) => self.allocate(lists),
            Happening::Finish { worker, result } => self.finish(worker, *result),
            Happening::Remove(workers) => {
                for name in workers {
                    let (name, author) = (name.clone(), self.author.clone());
                    self.order(fleet::Command::RemoveWorker { name, author, reason: None });
                }
            }
            Happening::Lost(workers) => workers.iter().for_each(|worker| self.lose(worker)),
            Happening::Drain(workers) => {
                for name in workers {
                    let (name, author) = (name.clone(), self.author.clone());
                    self.order(fleet::Command::SetDuty { name, duty: Duty::Draining, author, reason: None });
                }
            }
            Happening::Cancel(jobs) => jobs.iter().for_each(|job| self.cancel(job)),
        }
    }

    fn submit(&mut self, name: &JobName, job: &dispatcher::NewJob, service: Option<Duration>) {
        let submit = dispatcher::Command::Submit { jobs: vec![job.clone()], author: self.author.clone() };
        let Some(Reply::Dispatcher(DispatcherReply::Jobs(accepted))) = self.order(submit) else { return };
        let id = accepted[0].id;
        self.names.insert(id, name.clone());
        self.ids.insert(name.clone(), id);
        self.services.extend(service.map(|service| (id, service)));
    }

    /// A call for each worker, so that a job for one leaves the others idle.
    fn offer(&mut self, worker: &WorkerName) {
        self.claim(slice::from_ref(worker), None, None);
    }

    fn claim(&mut self, workers: &[WorkerName], max: Option<usize>, wait: Option<Duration>) {
        self.offers += 1;
        let id = OfferId(self.offers);
        let end = wait.map(|wait| self.now.after(wait));
        let stays_open = end.is_none_or(|end| end > self.now);
        let offer = Offer {
            workers: workers.to_vec(),
            max: max.unwrap_or(workers.len()),
            session: Arc::from("scenario"),
            idempotency_key: None,
            token: Token::new(u128::from(self.offers)),
            author: self.author.clone(),
            stays_open,
        };
        if self.order(dispatcher::Command::Offer { id, offer }).is_some() {
            self.lost.retain(|lost| !workers.contains(lost));
            self.waits.extend(end.filter(|_| stays_open).map(|end| (end, id)));
        }
    }

    fn allocate(&mut self, lists: &Builders) {
        let write = WriteCommand {
            write: Write::Replace(lists.clone()),
            author: self.author.clone(),
            reason: None,
            expected: None,
            force: true,
            bad_names: Vec::new(),
        };
        self.order(allocator::Command::Write(write));
    }

    fn finish(&mut self, worker: &WorkerName, result: RunResult) {
        let Some((claim, running)) = self.farm.jobs.claim_of(worker) else {
            return self.ignore(format!("worker {worker:?} has no job that could finish"));
        };
        let finish = dispatcher::Command::Finish { claim, token: running.token, result, author: self.author.clone() };
        self.order(finish);
        self.offer(worker);
    }

    /// The last heartbeat of a worker, or the end of its offer.
    fn lose(&mut self, worker: &WorkerName) {
        if let Some((claim, running)) = self.farm.jobs.claim_of(worker) {
            // Nobody would tell that it has ended.
            self.ends.retain(|(_, ending)| *ending != claim);
            let heartbeat = dispatcher::Command::Heartbeat { claim, token: running.token };
            self.order(heartbeat);
        }
        if self.volatile.board.offer_of(worker).is_some() {
            // In a call of its own first: other workers of the old one are idle still.
            self.offer(worker);
            self.order(dispatcher::Command::Withdraw { offer: OfferId(self.offers) });
        }
        self.lost.insert(worker.clone());
    }

    fn cancel(&mut self, name: &JobName) {
        let Some(&job) = self.ids.get(name) else {
            return self.ignore(format!("there is no job {name:?} to cancel"));
        };
        self.order(dispatcher::Command::Cancel { job, author: self.author.clone(), reason: None });
    }

    /// Why a job waits.
    fn explain(&mut self, name: &JobName) {
        let Some(id) = self.ids.get(name) else {
            return self.ignore(format!("there is no job {name:?} to explain"));
        };
        let offers = self.volatile.board.open_offers();
        let called = |id: JobId| self.names[&id].clone();
        let scene = Scene::new(self.farm.dispatched(), &self.volatile.board, &offers, self.now, &called);
        let explained = explain::job(&scene, *id).filter(|explained| explained.state == State::Pending);
        self.outcome.explain.extend(explained.map(|explained| (name.clone(), explained)));
    }

    fn end(mut self, scenario: &Scenario) -> Outcome {
        self.now = scenario.until;
        scenario.explain.iter().for_each(|name| self.explain(name));
        let order = dispatcher::Ageing::from(self.farm.fleet.definition().ageing_seconds_per_priority);
        let pending = self.farm.jobs.all().filter(|(_, job)| job.claim.is_none());
        let mut keys: Vec<_> = pending.map(|(id, job)| order.key(id, &job.spec)).collect();
        keys.sort_unstable();
        self.outcome.pending = keys.iter().map(|key| self.names[&key.id].clone()).collect();
        self.outcome
    }
}
