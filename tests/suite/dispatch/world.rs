//! The state of a scenario as the oracle keeps it: who does what, and what every event and deadline changes.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde_json::Value;

use super::moment::Moment;
use super::outcome::{Assignment, Micros, micros, text};
use super::setting::{Job, Listed, Setting};
use super::terms::Terms;

const SECOND: Micros = 1_000_000;
const FIRST_QUARANTINE: Micros = 10 * SECOND;
const LONGEST_QUARANTINE: Micros = 3_600 * SECOND;

pub struct World {
    pub(super) now: Micros,
    pub(super) setting: Setting,
    pub(super) workers: BTreeMap<String, Worker>,
    /// Builder → its workers.
    allocation: BTreeMap<String, Vec<String>>,
    /// Worker → the end of its quarantine.
    quarantines: BTreeMap<String, Micros>,
    pub(super) pending: Vec<Job>,
    submitted: usize,
    /// Those that are open, by number.
    pub(super) calls: BTreeMap<usize, Call>,
    made_calls: usize,
    /// Builder → worker → its latest success.
    successes: BTreeMap<String, BTreeMap<String, Micros>>,
}

pub(super) struct Worker {
    pub(super) listed: Listed,
    pub(super) doing: Doing,
    /// Since its last run ended, or without one, since it was first offered.
    rests_since: Option<Micros>,
    drained: bool,
    /// It is gone when the next decision is made.
    removed: bool,
    exceptions_in_a_row: u32,
    /// Those that this row has brought.
    quarantines: u32,
}

pub(super) enum Doing {
    /// Busy with something else, or gone for now.
    Away,
    /// Offered by itself for ever, or by an open call.
    Idle(Option<usize>),
    Running(Run),
}

/// A claim call.
pub(super) struct Call {
    /// The most claims that answer it.
    pub(super) max: usize,
    ends: Option<Micros>,
}

pub(super) struct Run {
    pub(super) job: Job,
    service_ends: Option<Micros>,
    lease_ends: Option<Micros>,
}

impl World {
    pub fn new(scenario: &Value) -> Self {
        let setting = Setting::new(&scenario["farm"]);
        let workers = setting.workers.iter().map(|listed| {
            let worker = Worker {
                listed: listed.clone(),
                doing: Doing::Away,
                rests_since: None,
                drained: false,
                removed: false,
                exceptions_in_a_row: 0,
                quarantines: 0,
            };
            (listed.name.clone(), worker)
        });
        let workers = workers.collect();
        let mut successes: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for run in scenario["history"].as_array().into_iter().flatten().filter(|run| run["result"] == "success") {
            let at = micros(&run["finished_at"]);
            let latest = successes.entry(text(&run["builder"])).or_default().entry(text(&run["worker"])).or_insert(at);
            *latest = at.max(*latest);
        }
        let allocation = allocation(&scenario["allocations"]);
        Self {
            now: Micros::MIN,
            setting,
            workers,
            allocation,
            quarantines: BTreeMap::new(),
            pending: Vec::new(),
            submitted: 0,
            calls: BTreeMap::new(),
            made_calls: 0,
            successes,
        }
    }

    /// When something is due: the end of a service, of a lease, of a quarantine
    /// or of a call; a job that may use other workers from then on; an idle
    /// worker that is lent from then on.
    pub fn deadlines(&self) -> impl Iterator<Item = Micros> {
        let runs = self.workers.values().flat_map(|worker| match &worker.doing {
            Doing::Running(run) => [run.service_ends, run.lease_ends],
            Doing::Away | Doing::Idle(_) => [None, None],
        });
        let calls = self.calls.values().filter_map(|call| call.ends);
        let ages = self.pending.iter().flat_map(|job| self.changes_of_set(job));
        let lent =
            self.idle().filter_map(|(name, worker)| self.lent_from(name, worker)).filter(|from| *from > self.now);
        runs.flatten().chain(self.quarantines.values().copied()).chain(calls).chain(ages).chain(lent)
    }

    /// The workers that may start a job now.
    pub(super) fn idle(&self) -> impl Iterator<Item = (&String, &Worker)> {
        self.workers.iter().filter(|(name, worker)| self.may_start(name, worker))
    }

    fn may_start(&self, name: &str, worker: &Worker) -> bool {
        matches!(worker.doing, Doing::Idle(_)) && !worker.drained && !self.quarantines.contains_key(name)
    }

    /// When the job's age will let it use other workers than before.
    fn changes_of_set(&self, job: &Job) -> Vec<Micros> {
        let Terms { overflow_after, inhouse_wait, .. } = self.terms(&job.builder);
        let moments = overflow_after.iter().chain([inhouse_wait]).map(|span| job.submitted_at + span);
        let changes = |at: &Micros| *at > self.now && self.worker_set(job, at - 1) != self.worker_set(job, *at);
        moments.filter(changes).collect()
    }

    /// It is `now`; what is due happens.
    pub fn pass_deadlines(&mut self, now: Micros) {
        self.now = now;
        self.quarantines.retain(|_, end| *end > now);
        self.end_calls();
        let names: Vec<String> = self.workers.keys().cloned().collect();
        let due = |deadline: Option<Micros>| deadline.is_some_and(|at| at <= self.now);
        let mut served = Vec::new();
        let mut expired = Vec::new();
        for name in names {
            let worker = &self.workers[&name];
            let Doing::Running(run) = &worker.doing else { continue };
            if due(run.service_ends) {
                served.push(name);
            } else if due(run.lease_ends) {
                expired.push(name);
            }
        }
        served.iter().for_each(|name| self.finish(name, "success"));
        for name in expired {
            let run = self.end_run(&name, Doing::Away).unwrap();
            self.put_back(run.job);
        }
    }

    /// An event of the scenario happens.
    pub fn happen(&mut self, event: &Value) {
        let (what, value) = event.as_object().unwrap().iter().find(|(key, _)| *key != "at").unwrap();
        let names = || value.as_array().unwrap().iter().map(text);
        match what.as_str() {
            "submit" => self.submit(value),
            "idle" => names().for_each(|worker| self.offer(&worker, None)),
            "claim" => self.call(value),
            "allocate" => self.allocation = allocation(value),
            "finish" => self.finish(&text(&value["worker"]), &text(&value["result"])),
            "remove" => names().for_each(|worker| self.remove(&worker)),
            "lost" => names().for_each(|worker| self.lose(&worker)),
            "drain" => names().for_each(|worker| {
                self.workers.entry(worker).and_modify(|worker| worker.drained = true);
            }),
            "cancel" => names().for_each(|job| self.cancel(&job)),
            other => panic!("no such event: {other}"),
        }
    }

    fn submit(&mut self, job: &Value) {
        self.pending.push(self.setting.job(job, self.submitted, self.now));
        self.submitted += 1;
    }

    fn remove(&mut self, name: &str) {
        if !self.is_here(name) {
            return;
        }
        self.workers.entry(name.to_owned()).and_modify(|worker| worker.removed = true);
        let emptied = |builder: &str, list: &[String]| {
            self.terms(builder).pool_takes_over
                && list.iter().any(|listed| listed == name)
                && !list.iter().any(|listed| self.is_here(listed))
        };
        let gone = self.allocation.iter().filter(|(builder, list)| emptied(builder, list));
        let gone: Vec<String> = gone.map(|(builder, _)| builder.clone()).collect();
        gone.iter().for_each(|builder| drop(self.allocation.remove(builder)));
    }

    fn is_here(&self, worker: &str) -> bool {
        self.workers.get(worker).is_some_and(|worker| !worker.removed)
    }

    fn offer(&mut self, name: &str, call: Option<usize>) {
        if !self.is_here(name) {
            return;
        }
        match self.end_run(name, Doing::Idle(call)) {
            Some(run) => self.put_back(run.job),
            None => {
                let worker = self.workers.get_mut(name).unwrap();
                worker.doing = Doing::Idle(call);
                worker.rests_since.get_or_insert(self.now);
            }
        }
    }

    fn call(&mut self, call: &Value) {
        let workers: Vec<String> = call["workers"].as_array().unwrap().iter().map(text).collect();
        let max = call.get("max").map_or(workers.len(), |max| max.as_u64().unwrap() as usize);
        let distinct: BTreeSet<&String> = workers.iter().collect();
        let is_sound = max > 0 && !workers.is_empty() && distinct.len() == workers.len();
        if !is_sound || !workers.iter().all(|worker| self.is_here(worker)) {
            return;
        }
        let number = self.made_calls;
        self.made_calls += 1;
        workers.iter().for_each(|worker| self.offer(worker, Some(number)));
        self.calls.insert(number, Call { max, ends: call.get("wait").map(|wait| self.now + micros(wait)) });
    }

    /// Calls that have waited long enough end without a claim.
    fn end_calls(&mut self) {
        let over: Vec<usize> = self
            .calls
            .iter()
            .filter(|(_, call)| call.ends.is_some_and(|end| end <= self.now))
            .map(|(call, _)| *call)
            .collect();
        over.into_iter().for_each(|call| self.end_call(call));
    }

    /// None of the workers that it still offers is idle any more.
    fn end_call(&mut self, call: usize) {
        self.calls.remove(&call);
        for worker in self.workers.values_mut() {
            if matches!(worker.doing, Doing::Idle(Some(of)) if of == call) {
                worker.doing = Doing::Away;
            }
        }
    }

    fn lose(&mut self, worker: &str) {
        let Some(worker) = self.workers.get_mut(worker) else { return };
        match &mut worker.doing {
            Doing::Running(run) => {
                run.service_ends = None;
                run.lease_ends = Some(self.now + self.setting.rule(&run.job.builder).terms.lease);
            }
            Doing::Idle(_) | Doing::Away => worker.doing = Doing::Away,
        }
    }

    /// The worker's run, if it has one, after which it is `then`.
    fn end_run(&mut self, worker: &str, then: Doing) -> Option<Run> {
        let worker = self.workers.get_mut(worker)?;
        match mem::replace(&mut worker.doing, then) {
            Doing::Running(run) => {
                worker.rests_since = Some(self.now);
                Some(run)
            }
            other => {
                worker.doing = other;
                None
            }
        }
    }

    fn finish(&mut self, name: &str, result: &str) {
        let Some(Run { job, .. }) = self.end_run(name, Doing::Idle(None)) else { return };
        let quarantine_after = self.terms(&job.builder).quarantine_after;
        let worker = self.workers.get_mut(name).unwrap();
        match result {
            "exception" => {
                worker.exceptions_in_a_row += 1;
                if worker.exceptions_in_a_row >= quarantine_after {
                    let doubled = FIRST_QUARANTINE << worker.quarantines.min(20);
                    self.quarantines.insert(name.to_owned(), self.now + doubled.min(LONGEST_QUARANTINE));
                    worker.quarantines += 1;
                }
            }
            "success" | "failure" => (worker.exceptions_in_a_row, worker.quarantines) = (0, 0),
            "retry" | "cancelled" => {}
            other => panic!("no such result: {other}"),
        }
        match result {
            "success" => drop(self.successes.entry(job.builder).or_default().insert(name.to_owned(), self.now)),
            "exception" | "retry" => self.put_back(job),
            _ => {}
        }
    }

    fn put_back(&mut self, job: Job) {
        if job.attempt < self.terms(&job.builder).max_attempts {
            self.pending.push(Job { attempt: job.attempt + 1, ..job });
        }
    }

    fn cancel(&mut self, id: &str) {
        self.pending.retain(|job| job.id != id);
        let runs = |worker: &Worker| matches!(&worker.doing, Doing::Running(run) if run.job.id == id);
        let running = self.workers.iter().find(|(_, worker)| runs(worker)).map(|(name, _)| name.clone());
        running.and_then(|name| self.end_run(&name, Doing::Away));
    }

    /// `None`, which is before any, if there was none.
    pub(super) fn latest_success(&self, builder: &str, worker: &str) -> Option<Micros> {
        self.successes.get(builder)?.get(worker).copied()
    }

    pub(super) fn terms(&self, builder: &str) -> &Terms {
        &self.setting.rule(builder).terms
    }

    /// The workers that the job may use at its age of then, whatever they do:
    /// its worker set, and what is lent to it; of one class only while it waits
    /// for that.
    pub(super) fn worker_set(&self, job: &Job, at: Micros) -> Vec<&str> {
        let rule = self.setting.rule(&job.builder);
        let waited = at - job.submitted_at;
        let own = self.allocation.get(&job.builder);
        let overflows = rule.terms.overflow_after.is_some_and(|span| waited >= span);
        let is_member = |name: &String, worker: &Worker| {
            own.is_some_and(|list| list.contains(name))
                || (own.is_none() || overflows) && worker.listed.pool == rule.pool && !self.is_dedicated(name)
        };
        let is_lent = |name: &str, worker: &Worker| {
            let lent = self.lent_from(name, worker).is_some_and(|from| at >= from);
            own.is_none() && worker.listed.pool == rule.pool && lent
        };
        let is_able =
            |worker: &Worker| rule.requires.iter().all(|(key, value)| worker.listed.attributes.get(key) == Some(value));
        let is_first = |worker: &Worker| rule.terms.preference(&worker.listed.class) == 0;
        let able = || self.workers.iter().filter(|(_, worker)| is_able(worker));
        let waits = waited < rule.terms.inhouse_wait
            && able().any(|(name, worker)| is_first(worker) && is_member(name, worker));
        let usable = able().filter(|(name, worker)| is_member(name, worker) || is_lent(name, worker));
        usable.filter(|(_, worker)| !waits || is_first(worker)).map(|(name, _)| name.as_str()).collect()
    }

    fn is_dedicated(&self, worker: &str) -> bool {
        self.allocation.values().flatten().any(|listed| listed == worker)
    }

    /// From when on a dedicated worker is lent if it stays idle: when all its builders lend it, after their
    /// longest span.
    fn lent_from(&self, name: &str, worker: &Worker) -> Option<Micros> {
        let owners = self.allocation.iter().filter(|(_, list)| list.iter().any(|listed| listed == name));
        let spans: Option<Vec<Micros>> = owners.map(|(builder, _)| self.terms(builder).lend_after).collect();
        let rests_since = worker.rests_since.filter(|_| self.may_start(name, worker));
        Some(rests_since? + spans?.into_iter().max()?)
    }

    /// What was removed goes, and gives its job back.
    pub fn clear(&mut self) {
        for (_, worker) in self.workers.extract_if(.., |_, worker| worker.removed) {
            if let Doing::Running(Run { job, .. }) = worker.doing {
                self.pending.push(Job { attempt: job.attempt + 1, ..job });
            }
        }
    }

    /// One decision by this rule; calls that it answers are over, as are those that wait no longer.
    pub fn start_by(&mut self, rule: &mut impl FnMut(&Moment<'_>) -> Vec<Option<usize>>) -> Vec<Assignment> {
        let moment = self.moment();
        let starts = rule(&moment);
        let pairs = moment.waiting.iter().zip(starts);
        let started: Vec<Assignment> = pairs
            .filter_map(|(waiting, worker)| {
                let (job, worker) = (waiting.job.id.clone(), moment.idle[worker?].to_owned());
                Some(Assignment { at: self.now, job, worker, attempt: waiting.job.attempt })
            })
            .collect();
        let mut answered = BTreeSet::new();
        for Assignment { job, worker, .. } in &started {
            let place = self.pending.iter().position(|pending| pending.id == *job).unwrap();
            let job = self.pending.remove(place);
            let service_ends = job.service.map(|service| self.now + service);
            let running = Doing::Running(Run { job, service_ends, lease_ends: None });
            if let Doing::Idle(Some(call)) = mem::replace(&mut self.workers.get_mut(worker).unwrap().doing, running) {
                answered.insert(call);
            }
        }
        answered.into_iter().for_each(|call| self.end_call(call));
        self.end_calls();
        started
    }
}

fn allocation(lists: &Value) -> BTreeMap<String, Vec<String>> {
    let lists = lists.as_object().into_iter().flatten();
    lists.map(|(builder, list)| (builder.clone(), list.as_array().unwrap().iter().map(text).collect())).collect()
}
