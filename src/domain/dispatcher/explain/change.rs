//! The smallest change that would start a job now, found by trying and stated only if it was seen to start it.
//!
//! Of all that can be done, workers that are made for the job help the most: no
//! other step gives it more than one worker at once, save what lifts a pause or
//! changes an option. So for each set of those it is tried how many such workers
//! are needed; then as many of them as can be are replaced by what costs less.

use std::collections::BTreeMap;

use serde::Serialize;

use super::job::{Case, Rivals};
use super::obstacle::Obstacle;
use super::roll::Called;
use super::sketch::Sketch;
use super::{Scene, Standing};
use crate::domain::fleet::{Pausable, WorkerClass};
use crate::domain::names::{BuilderName, PoolName, WorkerName};

/// Changes of more steps are not looked for: nobody would make them.
pub const MAX_STEPS: usize = 10;

/// With so few ways to gain one worker, all ways to gain two are tried.
const FEW_WAYS: usize = 12;

/// Workers of other kinds beyond these are not tried.
const MAX_WAYS: usize = 24;

/// What would start the job, all steps together, with one decision after them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    pub steps: Vec<Step>,
    /// The same for a person.
    pub reads: String,
    /// Where the job would start; `None` on a worker that is yet to come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_on: Option<WorkerName>,
}

/// What somebody can do; those first that cost the least.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// Lift a pause.
    Resume(Pausable),
    /// Take a worker that is offered back into work.
    Release { worker: WorkerName },
    /// Give an option another value.
    Set {
        option: &'static str,
        #[serde(flatten)]
        what: Pausable,
        to: u32,
    },
    /// Cancel a less important job; its worker is offered then.
    Cancel { job: String, worker: WorkerName },
    /// Add so many idle workers, to the builder's allocation if it has one.
    Worker {
        pool: PoolName,
        class: WorkerClass,
        attributes: BTreeMap<String, String>,
        builder: Option<BuilderName>,
        count: usize,
    },
}

impl Step {
    /// Becomes as many new workers as both are, if these are alike.
    fn takes_in(&mut self, other: &Self) -> bool {
        let Self::Worker { count, .. } = self else { return false };
        let alone = std::mem::replace(count, 1);
        let is_like = self == other;
        if let Self::Worker { count, .. } = self {
            *count = alone + usize::from(is_like);
        }
        is_like
    }

    /// What it costs beside others.
    fn cost(&self) -> u8 {
        match self {
            Self::Resume(_) => 0,
            Self::Release { .. } => 1,
            Self::Set { .. } => 2,
            Self::Cancel { .. } => 3,
            Self::Worker { .. } => 4,
        }
    }

    fn reads(&self) -> String {
        match self {
            Self::Resume(what) => format!("resume {what}"),
            Self::Release { worker } => format!("release worker {worker}"),
            Self::Set { option, what, to } => format!("set {option} = {to} for {what}"),
            Self::Cancel { job, worker } => {
                format!("cancel job {job}, which is less important and runs on {worker}")
            }
            Self::Worker { pool, class, attributes, builder, count } => {
                let with: Vec<_> = attributes.iter().map(|(key, value)| format!(" with {key}={value}")).collect();
                let to = builder.as_ref().map_or(String::new(), |builder| format!(", dedicated to {builder}"));
                let workers = if *count == 1 { "worker" } else { "workers" };
                format!("add {count} {class} {workers}{} to pool {pool}{to}", with.join(" and"))
            }
        }
    }
}

/// Tries changes of one step, of two, and so on.
pub(super) fn smallest(case: &Case<'_>, roll: &[Called<'_>], rivals: &Rivals) -> Option<Change> {
    let mut sketch = Sketch::of(case, roll);
    let pauses = pauses(case);
    pauses.iter().for_each(|step| sketch.make(step));
    // Whatever is set, as many jobs of the builder go first as have the same waits.
    let least = rivals.own_mates.saturating_sub(sketch.idle()) + pauses.len();
    if least > MAX_STEPS {
        return None;
    }
    let search = Search { options: options(case, roll), ways: ways(case, roll), sketch, rivals };
    let most = MAX_STEPS - pauses.len();
    let (found, starts_on) = (usize::from(pauses.is_empty())..=most).find_map(|size| search.of_size(size))?;
    let mut steps: Vec<Step> = Vec::new();
    for step in pauses.into_iter().chain(found) {
        if !steps.last_mut().is_some_and(|last| last.takes_in(&step)) {
            steps.push(step);
        }
    }
    let reads = steps.iter().map(Step::reads).collect::<Vec<_>>().join(", and ");
    let starts_on = Some(starts_on).filter(|worker| case.scene.farm.fleet.worker(worker).is_some());
    Some(Change { steps, reads, starts_on })
}

/// The pauses that hold the job: nothing starts it before they are lifted.
fn pauses(case: &Case<'_>) -> Vec<Step> {
    let pauses = case.scene.farm.fleet.pauses();
    let of = [Pausable::Builder(case.spec.builder.clone()), Pausable::Pool(case.rule.pool.clone())];
    of.into_iter().filter(|what| pauses.get(what).is_some()).map(Step::Resume).collect()
}

/// The options that keep the job from some worker.
fn options(case: &Case<'_>, roll: &[Called<'_>]) -> Vec<Step> {
    let eligibility = case.eligibility();
    let is_dedicated = eligibility.dedicated.is_some();
    let lendable = |called: &Called<'_>| {
        matches!(called.obstacle, Obstacle::Dedicated(_)) && case.scene.standing(called.name) == Standing::Idle
    };
    let of_builder = [
        ("overflow_after", is_dedicated && !eligibility.overflows),
        ("inhouse_wait", eligibility.only.is_some()),
        ("reserve", eligibility.reserve > 0),
    ];
    let builder = Pausable::Builder(case.spec.builder.clone());
    let set = |option, what: &Pausable| Step::Set { option, what: what.clone(), to: 0 };
    let mut steps: Vec<_> =
        of_builder.into_iter().filter(|(_, matters)| *matters).map(|(option, _)| set(option, &builder)).collect();
    if !is_dedicated && roll.iter().any(lendable) {
        steps.push(set("lend_after", &Pausable::Pool(case.rule.pool.clone())));
    }
    steps
}

/// Ways to gain one worker, the cheapest first. Of workers that are alike only
/// as many are listed as could be needed.
fn ways(case: &Case<'_>, roll: &[Called<'_>]) -> Vec<Step> {
    let scene = case.scene;
    let mut releases = Vec::new();
    let mut cancels = Vec::new();
    let mut alike: BTreeMap<_, usize> = BTreeMap::new();
    for Called { name, worker, obstacle } in roll {
        let (Some(worker), false) = (worker, matches!(obstacle, Obstacle::Lacks(_) | Obstacle::Gone)) else {
            continue;
        };
        let step = match scene.standing(name) {
            Standing::Held if scene.offered.contains_key(name) => Step::Release { worker: (*name).clone() },
            Standing::Busy if !scene.is_held(name) => match less_important(case, scene, name) {
                Some(job) => Step::Cancel { job, worker: (*name).clone() },
                None => continue,
            },
            Standing::Busy | Standing::Held | Standing::Idle | Standing::Away => continue,
        };
        let owners = scene.farm.allocations.builders_of(name).unwrap_or_default();
        let like = alike.entry((step.cost(), worker.class, &worker.attributes, owners)).or_default();
        *like += 1;
        if *like <= MAX_STEPS {
            let list = if step.cost() == 1 { &mut releases } else { &mut cancels };
            list.push(step);
        }
    }
    releases.truncate(MAX_WAYS);
    cancels.truncate(MAX_WAYS);
    releases.into_iter().chain(cancels).chain(new_workers(case)).collect()
}

/// What the worker runs, if that goes behind the job.
fn less_important(case: &Case<'_>, scene: &Scene<'_>, worker: &WorkerName) -> Option<String> {
    let (_, running) = scene.farm.jobs.claim_of(worker)?;
    let spec = &scene.farm.jobs.job(running.job)?.spec;
    (scene.board.key(running.job, spec) > case.place.key).then(|| (scene.name)(running.job))
}

/// One worker more, made for the job: it has what the builder requires, and
/// nothing else that others may look for. Its class matters where jobs wait for one.
fn new_workers(case: &Case<'_>) -> impl Iterator<Item = Step> {
    let pools = &case.scene.farm.fleet.definition().pools;
    let usual = pools.iter().find(|pool| pool.name == case.rule.pool).map_or(WorkerClass::Inhouse, |pool| pool.class);
    let others = [WorkerClass::Inhouse, WorkerClass::Spot, WorkerClass::Ondemand];
    let others =
        others.into_iter().filter(move |class| *class != usual).take(if case.scene.board.waits_any() { 2 } else { 0 });
    [usual].into_iter().chain(others).map(|class| Step::Worker {
        pool: case.rule.pool.clone(),
        class,
        attributes: case.rule.requires.clone(),
        builder: case.eligibility().dedicated.as_ref().map(|_| case.spec.builder.clone()),
        count: 1,
    })
}

struct Search<'a> {
    /// With every pause lifted.
    sketch: Sketch<'a>,
    options: Vec<Step>,
    ways: Vec<Step>,
    rivals: &'a Rivals,
}

type Found = (Vec<Step>, WorkerName);

impl Search<'_> {
    /// The cheapest change of this size that starts the job, with the worker that it starts on.
    fn of_size(&self, size: usize) -> Option<Found> {
        let subsets = (0..1_u32 << self.options.len()).filter(|set| set.count_ones() as usize <= size);
        let found = subsets.filter_map(|set| {
            let options = self.options.iter().enumerate().filter(|(at, _)| set & 1 << at != 0);
            let options: Vec<Step> = options.map(|(_, step)| step.clone()).collect();
            let workers = size - options.len();
            let mates = if set == 0 { self.rivals.mates } else { self.rivals.own_mates };
            if mates >= self.sketch.idle() + workers {
                return None;
            }
            self.with_workers(options, workers)
        });
        found.min_by_key(|(steps, _)| {
            let mut costs: Vec<u8> = steps.iter().map(Step::cost).collect();
            costs.sort_unstable_by(|one, other| other.cmp(one));
            costs
        })
    }

    fn with_workers(&self, options: Vec<Step>, workers: usize) -> Option<Found> {
        match workers {
            0 => self.tried(options),
            1 => self.ways.iter().find_map(|way| self.tried(with(&options, [way]))),
            _ => {
                let made = self.made(&options, workers);
                made.map(|found| self.cheaper(&options, found)).or_else(|| self.pair(&options, workers))
            }
        }
    }

    /// So many workers more that are made for the job.
    fn made(&self, options: &[Step], workers: usize) -> Option<Found> {
        let new = self.ways.iter().filter(|way| matches!(way, Step::Worker { .. }));
        new.into_iter().find_map(|way| self.tried(with(options, vec![way; workers])))
    }

    /// Replaces new workers by cheaper ways as long as the job still starts.
    fn cheaper(&self, options: &[Step], found: Found) -> Found {
        let (steps, mut starts_on) = found;
        let mut chosen = steps[options.len()..].to_vec();
        let mut ways = self.ways.iter().filter(|way| !matches!(way, Step::Worker { .. }));
        for at in 0..chosen.len() {
            for way in ways.by_ref() {
                let new = std::mem::replace(&mut chosen[at], way.clone());
                match self.tried(with(options, &chosen)) {
                    Some((_, worker)) => {
                        starts_on = worker;
                        break;
                    }
                    None => chosen[at] = new,
                }
            }
        }
        (with(options, &chosen), starts_on)
    }

    /// Any two workers more, where there are few ways to have them.
    fn pair(&self, options: &[Step], workers: usize) -> Option<Found> {
        if workers != 2 || self.ways.len() > FEW_WAYS {
            return None;
        }
        let pairs = self.ways.iter().enumerate().flat_map(|(at, one)| {
            let others =
                self.ways[at..].iter().filter(move |other| one != *other || matches!(one, Step::Worker { .. }));
            others.map(move |other| [one, other])
        });
        pairs.into_iter().find_map(|pair| self.tried(with(options, pair)))
    }

    fn tried(&self, steps: Vec<Step>) -> Option<Found> {
        let mut sketch = self.sketch.clone();
        steps.iter().for_each(|step| sketch.make(step));
        let worker = sketch.starts()?;
        Some((steps, worker))
    }
}

fn with<'s>(options: &'s [Step], workers: impl IntoIterator<Item = &'s Step>) -> Vec<Step> {
    options.iter().chain(workers).cloned().collect()
}
