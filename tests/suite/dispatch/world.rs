//! The state of a scenario as the oracle keeps it: who does what, and what every event and deadline changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde_json::{Map, Value};

use super::law;
use super::outcome::{Assignment, Micros, micros, text};
use super::setting::{Job, Setting};

const SECOND: Micros = 1_000_000;
const LEASE: Micros = 60 * SECOND;
const MAX_ATTEMPTS: u64 = 5;
const QUARANTINE_AFTER: u32 = 3;
const FIRST_QUARANTINE: Micros = 10 * SECOND;
const LONGEST_QUARANTINE: Micros = 3_600 * SECOND;

pub struct World {
    now: Micros,
    setting: Setting,
    workers: BTreeMap<String, Worker>,
    /// Builder → its workers.
    allocation: BTreeMap<String, Vec<String>>,
    /// Worker → the end of its quarantine.
    quarantines: BTreeMap<String, Micros>,
    pending: Vec<Job>,
    submitted: usize,
    /// Those that are open, by number.
    calls: BTreeMap<usize, Call>,
    made_calls: usize,
    /// Builder → worker → its latest success.
    successes: BTreeMap<String, BTreeMap<String, Micros>>,
}

struct Worker {
    pool: String,
    attributes: Map<String, Value>,
    doing: Doing,
    drained: bool,
    /// It is gone when the next decision is made.
    removed: bool,
    exceptions_in_a_row: u32,
}

enum Doing {
    /// Busy with something else, or gone for now.
    Away,
    /// Offered by itself for ever, or by an open call.
    Idle(Option<usize>),
    Running(Run),
}

/// A claim call.
struct Call {
    /// The most claims that answer it.
    max: usize,
    ends: Option<Micros>,
}

struct Run {
    job: Job,
    service_ends: Option<Micros>,
    lease_ends: Option<Micros>,
}

/// What there is to decide about.
pub struct Moment<'w> {
    world: &'w World,
    pub at: Micros,
    /// In key order.
    pub waiting: Vec<Waiting<'w>>,
    /// The workers that may start a job now, by name.
    pub idle: Vec<&'w str>,
    /// Those that offer some of the idle workers, as places in `idle`.
    pub calls: Vec<law::Call>,
}

pub struct Waiting<'w> {
    pub job: &'w Job,
    /// The idle workers that it may use, the best first, as places in [`Moment::idle`].
    pub wishes: Vec<usize>,
}

impl<'w> Moment<'w> {
    /// The job's worker set, by name, whatever the workers do.
    pub fn worker_set(&self, job: &Job) -> Vec<&'w str> {
        let workers = self.world.workers.iter();
        workers.filter(|(name, worker)| self.world.suits(job, name, worker)).map(|(name, _)| name.as_str()).collect()
    }

    /// What the law says.
    pub fn decide(&self) -> Vec<Option<usize>> {
        law::decide(&self.wishes(), &self.calls)
    }

    /// What would be if no call had a limit.
    pub fn decide_without_limits(&self) -> Vec<Option<usize>> {
        law::decide(&self.wishes(), &[])
    }

    fn wishes(&self) -> Vec<Vec<usize>> {
        self.waiting.iter().map(|waiting| waiting.wishes.clone()).collect()
    }
}

impl World {
    pub fn new(scenario: &Value) -> Self {
        let setting = Setting::new(&scenario["farm"]);
        let workers = setting.workers.iter().map(|(name, pool, attributes)| {
            let worker = Worker {
                pool: pool.clone(),
                attributes: attributes.clone(),
                doing: Doing::Away,
                drained: false,
                removed: false,
                exceptions_in_a_row: 0,
            };
            (name.clone(), worker)
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

    /// When something is due: the end of a service, of a lease, of a quarantine or of a call.
    pub fn deadlines(&self) -> impl Iterator<Item = Micros> {
        let runs = self.workers.values().flat_map(|worker| match &worker.doing {
            Doing::Running(run) => [run.service_ends, run.lease_ends],
            Doing::Away | Doing::Idle(_) => [None, None],
        });
        let calls = self.calls.values().filter_map(|call| call.ends);
        runs.flatten().chain(self.quarantines.values().copied()).chain(calls)
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
            "remove" => names().for_each(|worker| {
                self.workers.entry(worker).and_modify(|worker| worker.removed = true);
            }),
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

    fn is_here(&self, worker: &str) -> bool {
        self.workers.get(worker).is_some_and(|worker| !worker.removed)
    }

    fn offer(&mut self, name: &str, call: Option<usize>) {
        if !self.is_here(name) {
            return;
        }
        match self.end_run(name, Doing::Idle(call)) {
            Some(run) => self.put_back(run.job),
            None => self.workers.get_mut(name).unwrap().doing = Doing::Idle(call),
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
                run.lease_ends = Some(self.now + LEASE);
            }
            Doing::Idle(_) | Doing::Away => worker.doing = Doing::Away,
        }
    }

    /// The worker's run, if it has one, after which it is `then`.
    fn end_run(&mut self, worker: &str, then: Doing) -> Option<Run> {
        let doing = &mut self.workers.get_mut(worker)?.doing;
        match mem::replace(doing, then) {
            Doing::Running(run) => Some(run),
            other => {
                *doing = other;
                None
            }
        }
    }

    fn finish(&mut self, name: &str, result: &str) {
        let Some(Run { job, .. }) = self.end_run(name, Doing::Idle(None)) else { return };
        let worker = self.workers.get_mut(name).unwrap();
        match result {
            "exception" => {
                worker.exceptions_in_a_row += 1;
                if let Some(more) = worker.exceptions_in_a_row.checked_sub(QUARANTINE_AFTER) {
                    let doubled = FIRST_QUARANTINE << more.min(20);
                    self.quarantines.insert(name.to_owned(), self.now + doubled.min(LONGEST_QUARANTINE));
                }
            }
            "success" | "failure" => worker.exceptions_in_a_row = 0,
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
        if job.attempt < MAX_ATTEMPTS {
            self.pending.push(Job { attempt: job.attempt + 1, ..job });
        }
    }

    fn cancel(&mut self, id: &str) {
        self.pending.retain(|job| job.id != id);
        for worker in self.workers.values_mut() {
            if matches!(&worker.doing, Doing::Running(run) if run.job.id == id) {
                worker.doing = Doing::Away;
            }
        }
    }

    pub fn moment(&self) -> Moment<'_> {
        let may_start = |name: &String, worker: &Worker| {
            matches!(worker.doing, Doing::Idle(_)) && !worker.drained && !self.quarantines.contains_key(name)
        };
        let idle = || self.workers.iter().filter(|(name, worker)| may_start(name, worker));
        let mut jobs: Vec<&Job> = self.pending.iter().collect();
        jobs.sort_by_key(|job| self.setting.key(job));
        let waiting = jobs.into_iter().map(|job| {
            let usable = idle().enumerate().filter(|(_, (name, worker))| self.suits(job, name, worker));
            let mut wishes: Vec<_> =
                usable.map(|(at, (name, _))| (Reverse(self.latest_success(&job.builder, name)), name, at)).collect();
            wishes.sort();
            Waiting { job, wishes: wishes.into_iter().map(|(_, _, at)| at).collect() }
        });
        let calls = self.calls.iter().map(|(number, call)| {
            let offers = |worker: &Worker| matches!(worker.doing, Doing::Idle(Some(of)) if of == *number);
            let workers = idle().enumerate().filter(|(_, (_, worker))| offers(worker)).map(|(at, _)| at);
            law::Call { workers: workers.collect(), max: call.max }
        });
        Moment {
            world: self,
            at: self.now,
            waiting: waiting.collect(),
            idle: idle().map(|(name, _)| name.as_str()).collect(),
            calls: calls.collect(),
        }
    }

    /// `None`, which is before any, if there was none.
    fn latest_success(&self, builder: &str, worker: &str) -> Option<Micros> {
        self.successes.get(builder)?.get(worker).copied()
    }

    /// Whether the worker is in the job's worker set: a dedicated one, or one
    /// of the pool that nobody has; and with what the builder requires.
    fn suits(&self, job: &Job, name: &str, worker: &Worker) -> bool {
        let rule = self.setting.rule(&job.builder);
        let in_set = match self.allocation.get(&job.builder) {
            Some(list) => list.iter().any(|listed| listed == name),
            None => worker.pool == rule.pool && !self.allocation.values().flatten().any(|listed| listed == name),
        };
        in_set && rule.requires.iter().all(|(key, value)| worker.attributes.get(key) == Some(value))
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
