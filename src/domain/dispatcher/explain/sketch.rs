//! A sketch of the farm around one job: just what could have a say in whether it starts, to try changes on with the real matcher.
//!
//! A job that goes behind cannot keep it from starting, and of those that go
//! first a line has no more to say than there are workers. Of workers that are
//! not idle one of each kind stands for all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{MAX_STEPS, Step};
use super::job::Case;
use super::roll::Called;
use super::{Scene, Standing};
use crate::domain::allocator::Allocations;
use crate::domain::author::Author;
use crate::domain::dispatcher::board::{Farm, Offer, OfferId, OpenOffer};
use crate::domain::dispatcher::health::Health;
use crate::domain::dispatcher::job::{JobId, JobSpec};
use crate::domain::dispatcher::react::react;
use crate::domain::dispatcher::run::Token;
use crate::domain::dispatcher::state::Jobs;
use crate::domain::dispatcher::{Event, Submitted};
use crate::domain::fleet::{
    Assigned, Attributes, BuilderRule, Definition, Fleet, Pausable, Pauses, Pool, Seconds, Worker, WorkerClass,
};
use crate::domain::names::{BuilderName, PoolName, WorkerName};
use crate::domain::table::Table;

#[derive(Clone)]
pub(super) struct Sketch<'a> {
    scene: &'a Scene<'a>,
    job: JobId,
    /// Without builders and workers.
    definition: Definition,
    /// Each with its rule.
    builders: Table<BuilderName, BuilderRule>,
    lists: BTreeMap<BuilderName, Arc<[WorkerName]>>,
    workers: Table<WorkerName, Worker>,
    duties: BTreeMap<WorkerName, Assigned>,
    health: Health,
    pauses: Pauses,
    jobs: BTreeMap<JobId, Arc<JobSpec>>,
    offers: Vec<OpenOffer>,
    /// Of jobs that were cancelled.
    ended: Vec<Option<Arc<str>>>,
}

/// What makes workers alike.
type Kind<'a> = (&'a PoolName, WorkerClass, &'a Attributes, &'a [BuilderName]);

impl<'a> Sketch<'a> {
    pub fn of(case: &Case<'a>, roll: &[Called<'_>]) -> Self {
        let scene = case.scene;
        let whole = scene.farm.fleet.definition();
        let pools = whole.pools.iter().map(|pool| Pool { workers: Vec::new(), ..pool.clone() });
        let definition = Definition {
            ageing_seconds_per_priority: whole.ageing_seconds_per_priority,
            fair_share_by: whole.fair_share_by,
            options: whole.options.clone(),
            pools: pools.collect(),
            ..Definition::default()
        };
        let mut sketch = Self {
            scene,
            job: case.id,
            definition,
            builders: Table::default(),
            lists: BTreeMap::new(),
            workers: Table::default(),
            duties: BTreeMap::new(),
            health: Health::default(),
            pauses: Pauses::default(),
            jobs: BTreeMap::new(),
            offers: Vec::new(),
            ended: Vec::new(),
        };
        sketch.take_workers(roll);
        sketch.take_jobs(case);
        sketch.take_builders();
        sketch
    }

    /// Offers that name a worker which was called, and one worker of each other kind.
    fn take_workers(&mut self, roll: &[Called<'_>]) {
        let scene = self.scene;
        let mut kinds: BTreeSet<Kind<'_>> = BTreeSet::new();
        let mut offers = BTreeSet::new();
        for Called { name, worker, obstacle: _ } in roll {
            let Some(worker) = worker else { continue };
            if scene.standing(name) != Standing::Busy
                && let Some(at) = scene.offered.get(*name)
            {
                offers.insert(*at);
                continue;
            }
            let owners = scene.farm.allocations.builders_of(name).unwrap_or_default();
            if kinds.insert((&worker.pool, worker.class, &worker.attributes, owners)) {
                self.workers.insert((*name).clone(), (*worker).clone());
            }
        }
        for offer in offers {
            let offer = scene.offers[offer].clone();
            for (name, _) in &offer.workers {
                self.take_worker(name);
            }
            self.offers.push(offer);
        }
    }

    /// A worker as it is, with all that holds it back.
    fn take_worker(&mut self, name: &WorkerName) {
        let farm = self.scene.farm;
        let Some(worker) = farm.fleet.worker(name) else { return };
        self.workers.insert(name.clone(), worker.clone());
        self.duties.extend(farm.fleet.assigned(name).map(|assigned| (name.clone(), assigned.clone())));
        self.health.take(name, farm.jobs.health());
    }

    fn take_jobs(&mut self, case: &Case<'a>) {
        let farm = self.scene.farm;
        let most = self.idle() + MAX_STEPS;
        for waiting in self.scene.board.waiting_in(farm.fleet, &case.rule.pool) {
            for line in waiting.lines() {
                let ahead = waiting.before(line, case.place).take(most);
                let specs = ahead.filter_map(|key| Some((key.id, farm.jobs.job(key.id)?.spec.clone())));
                self.jobs.extend(specs);
            }
        }
        self.jobs.extend(farm.jobs.job(case.id).map(|job| (case.id, job.spec.clone())));
    }

    /// The builders of the jobs, and those that have the workers.
    fn take_builders(&mut self) {
        let farm = self.scene.farm;
        let of_jobs = self.jobs.values().map(|spec| &spec.builder);
        let owners = self.workers.keys().flat_map(|worker| farm.allocations.builders_of(worker).unwrap_or_default());
        let names: BTreeSet<BuilderName> = of_jobs.chain(owners).cloned().collect();
        for name in names.into_iter().filter(|name| !self.builders.contains_key(name)).collect::<Vec<_>>() {
            if let Some(list) = farm.allocations.shared_workers_of(&name) {
                self.lists.insert(name.clone(), list.clone());
            }
            let Some(rule) = self.scene.rule_of(&name) else { continue };
            let rule = farm.fleet.definition().builders[rule].clone();
            let pauses = farm.fleet.pauses();
            self.pauses.builders.extend(pauses.builders.get(&name).map(|pause| (name.clone(), pause.clone())));
            self.pauses.pools.extend(pauses.pools.get(&rule.pool).map(|pause| (rule.pool.clone(), pause.clone())));
            self.builders.insert(name, rule);
        }
    }

    /// How many workers are idle.
    pub fn idle(&self) -> usize {
        let offered = self.offers.iter().flat_map(|offer| &offer.workers);
        offered.filter(|(worker, _)| self.scene.standing(worker) == Standing::Idle).count()
    }

    /// Makes a step.
    pub fn make(&mut self, step: &Step) {
        match step {
            Step::Resume(Pausable::Pool(pool)) => drop(self.pauses.pools.remove(pool)),
            Step::Resume(Pausable::Builder(builder)) => drop(self.pauses.builders.remove(builder)),
            Step::Release { worker } => {
                self.duties.remove(worker);
                self.health.forget(worker);
            }
            Step::Set { option, what, to: _ } => self.set(option, what),
            Step::Cancel { job: _, worker } => {
                self.take_worker(worker);
                self.take_builders();
                let running = self.scene.farm.jobs.claim_of(worker);
                let job = running.and_then(|(_, running)| self.scene.farm.jobs.job(running.job));
                self.ended.extend(job.map(|job| job.spec.project.clone()));
                self.offer(worker.clone());
            }
            Step::Worker { pool, class, attributes, builder, count } => {
                let worker = Worker { pool: pool.clone(), class: *class, attributes: Arc::new(attributes.clone()) };
                for _ in 0..*count {
                    let name = self.new_name();
                    self.workers.insert(name.clone(), worker.clone());
                    if let Some(list) = builder.as_ref().and_then(|builder| self.lists.get_mut(builder)) {
                        *list = list.iter().chain([&name]).collect::<BTreeSet<_>>().into_iter().cloned().collect();
                    }
                    self.offer(name);
                }
            }
        }
    }

    fn offer(&mut self, worker: WorkerName) {
        self.offers.push(OpenOffer { workers: vec![(worker, Some(self.scene.now))], max: 1 });
    }

    fn set(&mut self, option: &str, what: &Pausable) {
        match what {
            Pausable::Builder(builder) => {
                let Some(rule) = self.builders.get_mut(builder) else { return };
                match option {
                    "overflow_after" => rule.options.overflow_after = Some(Seconds(0.0)),
                    "inhouse_wait" => rule.options.inhouse_wait = Some(Seconds(0.0)),
                    _ => rule.options.reserve = Some(0),
                }
            }
            Pausable::Pool(pool) => {
                let rules = self.builders.values_mut().filter(|rule| rule.pool == *pool);
                rules.for_each(|rule| rule.options.lend_after = Some(Seconds(0.0)));
            }
        }
    }

    /// A name that nobody has.
    fn new_name(&self) -> WorkerName {
        let names = (self.workers.len()..).map(|number| format!("one more ({number})"));
        let mut names = names.map(|name| WorkerName::parse(&name).expect("a short text"));
        let is_free = |name: &WorkerName| {
            !self.workers.contains_key(name)
                && self.scene.farm.fleet.worker(name).is_none()
                && self.scene.farm.allocations.builders_of(name).is_none()
        };
        names.find(is_free).expect("there are more names than workers")
    }

    /// The worker on which the job starts, if one decision starts it.
    pub fn starts(&self) -> Option<WorkerName> {
        let definition = Definition { builders: self.builders.values().cloned().collect(), ..self.definition.clone() };
        let fleet = Fleet::sketch(definition, self.workers.clone(), self.duties.clone(), self.pauses.clone());
        let allocations = Allocations::sketch(&self.lists);
        let mut jobs = Jobs { health: self.health.clone(), ..Jobs::default() };
        let submitted = self.jobs.iter().map(|(id, job)| Submitted { id: *id, job: job.clone(), payload: None });
        let author = Author::new("explain");
        jobs.apply(&Event::Submitted { jobs: submitted.collect(), author: author.clone(), time: self.scene.now });
        let mut board = self.scene.board.sketch(&fleet, &jobs, self.builders.keys(), &self.ended);
        for (number, OpenOffer { workers, max }) in (0..).zip(&self.offers) {
            for (worker, since) in workers {
                board.rests_since(worker, *since);
            }
            let offer = Offer {
                workers: workers.iter().map(|(worker, _)| worker.clone()).collect(),
                max: *max,
                session: "explain".into(),
                idempotency_key: None,
                token: Token::new(0),
                author: author.clone(),
                stays_open: true,
            };
            board.open(OfferId(number), offer, self.scene.now);
        }
        let farm = Farm { fleet: &fleet, allocations: &allocations, jobs: &jobs };
        react(farm, &mut board, self.scene.now).into_iter().find_map(|event| match event {
            Event::Claimed { claims, .. } => {
                claims.into_iter().find(|claim| claim.job == self.job).map(|claim| claim.worker)
            }
            Event::Submitted { .. }
            | Event::Cancelled { .. }
            | Event::RunEnded(_)
            | Event::Remembered { .. }
            | Event::Quarantined { .. }
            | Event::Released { .. } => None,
        })
    }
}
