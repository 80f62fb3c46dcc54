//! One job explained: its place, who goes first, what every worker does instead, when it is expected to start, and what would start it now.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::Scene;
use super::change::{self, Change};
use super::estimate::{Estimate, start_after};
use super::obstacle::{Asker, Obstacle};
use super::roll::{self, Called, Group};
use crate::domain::dispatcher::board::{
    Commons, Eligibility, Place, Stage, outlook, paused, shortage, stage_of, stages,
};
use crate::domain::dispatcher::job::{JobId, JobSpec};
use crate::domain::dispatcher::run::Running;
use crate::domain::fleet::BuilderRule;
use crate::domain::names::{BuilderName, WorkerName};
use crate::domain::time::Timestamp;

/// So many of the jobs that go first are named.
const NAMED_AHEAD: usize = 10;

/// From 0 to 1: so much alike are what is required and what may have been meant.
const MEANT: f64 = 0.6;

/// Why a job is where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    pub job: String,
    pub builder: BuilderName,
    pub state: State,
    /// The reason in one sentence.
    pub reason: String,
    /// Among the jobs with the same worker set and the same waits; 1 is the next of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Ahead>,
    /// Every worker of the pool and of the allocation, by what keeps it from the job.
    pub workers: Vec<Group>,
    /// `None` when nothing that is known says when.
    pub start: Option<Estimate>,
    /// The smallest change that would start it now; `None` when it would take more steps than anybody would make.
    pub change: Option<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
    Running,
}

/// More important jobs that could use one of the job's workers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ahead {
    pub count: usize,
    /// The most important ones, at most 10.
    pub jobs: Vec<String>,
}

/// Explains a job that waits or runs; `None` for every other.
pub fn job(scene: &Scene<'_>, id: JobId) -> Option<Explained> {
    let job = scene.farm.jobs.job(id)?;
    if let Some(running) = job.claim.and_then(|claim| scene.farm.jobs.claim(claim)) {
        return Some(runs(scene, id, &job.spec, running));
    }
    let Some(case) = Case::new(scene, id, &job.spec) else {
        let why = scene.farm.fleet.definition().unmatched(&job.spec.builder);
        return Some(bare(scene, id, &job.spec, State::Pending, why));
    };
    let asker = case.asker(case.stage);
    let roll = roll::call(scene, &asker);
    let rivals = case.rivals(case.eligibility());
    Some(Explained {
        place: Some(rivals.mates + 1),
        ahead: Some(rivals.shown(scene)),
        workers: roll::grouped(scene, &asker, &roll),
        start: case.start(&roll, &rivals),
        change: change::smallest(&case, &roll, &rivals),
        ..bare(scene, id, &job.spec, State::Pending, case.reason(&roll))
    })
}

fn runs(scene: &Scene<'_>, id: JobId, spec: &JobSpec, running: &Running) -> Explained {
    let Running { worker, attempt, started_at, .. } = running;
    let reason = format!("it runs on {worker} since {started_at}, attempt {attempt}");
    bare(scene, id, spec, State::Running, reason)
}

fn bare(scene: &Scene<'_>, id: JobId, spec: &JobSpec, state: State, reason: String) -> Explained {
    Explained {
        job: (scene.name)(id),
        builder: spec.builder.clone(),
        state,
        reason,
        place: None,
        ahead: None,
        workers: Vec::new(),
        start: None,
        change: None,
    }
}

/// A pending job, with what its builder's rule makes of it.
pub(super) struct Case<'a> {
    pub scene: &'a Scene<'a>,
    pub id: JobId,
    pub spec: &'a JobSpec,
    pub place: Place,
    pub rule: &'a BuilderRule,
    /// Also of a builder that is paused.
    pub stages: Vec<Stage>,
    /// The index of the one that the job is in.
    pub stage: usize,
}

/// The jobs that go first.
#[derive(Default)]
pub(super) struct Rivals {
    /// Those that have the same worker set and the same waits.
    pub mates: usize,
    /// Those of them that are of the same builder.
    pub own_mates: usize,
    count: usize,
    /// The most important ones.
    first: BTreeSet<Place>,
    /// How long those take together whose builders have run, and how many they are.
    work: Duration,
    known: usize,
}

impl<'a> Case<'a> {
    /// `None` for a builder that no rule matches.
    fn new(scene: &'a Scene<'a>, id: JobId, spec: &'a JobSpec) -> Option<Self> {
        let at = scene.rule_of(&spec.builder)?;
        let definition = scene.farm.fleet.definition();
        let (rule, options) = (&definition.builders[at], definition.options_of(at));
        let stages = stages(scene.farm, &mut Commons::default(), &spec.builder, rule, &options);
        let key = scene.board.key(id, spec);
        let place = scene.board.place(key, spec.project.as_ref());
        let stage = stage_of(&stages, key, scene.now);
        Some(Self { scene, id, spec, place, rule, stages, stage })
    }

    pub fn eligibility(&self) -> &Eligibility {
        &self.stages[self.stage].eligibility
    }

    fn asker(&self, stage: usize) -> Asker<'_> {
        Asker {
            builder: &self.spec.builder,
            eligibility: &self.stages[stage].eligibility,
            later: &self.stages[stage + 1..],
            submitted_at: self.spec.submitted_at,
        }
    }

    fn paused(&self) -> Option<String> {
        paused(self.scene.farm, &self.spec.builder, &self.rule.pool)
    }

    fn reason(&self, roll: &[Called<'_>]) -> String {
        if let Some(paused) = self.paused() {
            return paused;
        }
        let count = |is: fn(&Obstacle) -> bool| roll.iter().filter(|called| is(&called.obstacle)).count();
        let idle = count(|obstacle| *obstacle == Obstacle::Idle);
        let registered =
            count(|obstacle| matches!(obstacle, Obstacle::Idle | Obstacle::Busy | Obstacle::Away | Obstacle::Held));
        let later = &self.stages[self.stage + 1..];
        let meant = if registered == 0 { self.meant(roll) } else { None };
        shortage(self.eligibility(), registered, idle)
            + &meant.map_or(String::new(), |meant| format!("; was {meant} meant?"))
            + &outlook(self.eligibility(), later, self.spec.submitted_at)
    }

    /// What a worker has that looks most like something that none has.
    fn meant(&self, roll: &[Called<'_>]) -> Option<String> {
        let attributes = roll.iter().filter_map(|called| called.worker).flat_map(|worker| worker.attributes.iter());
        let known: BTreeSet<String> = attributes.map(|(key, value)| format!("{key}={value}")).collect();
        let required = self.rule.requires.iter().map(|(key, value)| format!("{key}={value}"));
        let missing = required.filter(|wanted| !known.contains(wanted));
        let pairs = missing.flat_map(|wanted| {
            let like = move |have: &String| strsim::normalized_damerau_levenshtein(&wanted, have);
            known.iter().map(move |have| (like(have), have))
        });
        let closest = pairs.max_by(|(one, _), (other, _)| one.total_cmp(other));
        closest.filter(|(likeness, _)| *likeness >= MEANT).map(|(_, have)| have.clone())
    }

    /// Who goes first among those that could use a worker of this set.
    fn rivals(&self, eligibility: &Eligibility) -> Rivals {
        let mut rivals = Rivals::default();
        for waiting in self.scene.board.waiting_in(self.scene.farm.fleet, &self.rule.pool) {
            let is_own = *waiting.name == self.spec.builder;
            let pace = self.scene.farm.jobs.paces().of(waiting.name);
            for line in waiting.lines() {
                let of_line = waiting.eligibility(line);
                if !is_own && of_line.is_none_or(|other| !overlap(eligibility, other)) {
                    continue;
                }
                let are_mates = of_line.is_some_and(|other| other == eligibility);
                let mut count = 0;
                for key in waiting.before(line, self.place) {
                    // The jobs of a paused builder are not sorted by their age.
                    let is_own_mate = is_own && stage_of(&self.stages, key, self.scene.now) == self.stage;
                    rivals.own_mates += usize::from(is_own_mate);
                    rivals.mates += usize::from(is_own_mate || !is_own && are_mates);
                    if count < NAMED_AHEAD {
                        rivals.first.insert(self.scene.board.place(key, line.project.as_ref()));
                    }
                    count += 1;
                }
                while rivals.first.len() > NAMED_AHEAD {
                    rivals.first.pop_last();
                }
                rivals.count += count;
                if let Some(pace) = pace {
                    rivals.known += count;
                    rivals.work += pace.mean().saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
                }
            }
        }
        rivals
    }

    /// The earliest of the starts that this stage and the later ones let expect.
    fn start(&self, roll: &[Called<'_>], rivals: &Rivals) -> Option<Estimate> {
        if self.paused().is_some() {
            return None;
        }
        let mut starts = vec![self.start_in(self.stage, roll, rivals)];
        for stage in self.stage + 1..self.stages.len() {
            let asker = self.asker(stage);
            let roll = roll::call(self.scene, &asker);
            starts.push(self.start_in(stage, &roll, &self.rivals(asker.eligibility)));
        }
        starts.into_iter().flatten().min_by_key(|estimate| estimate.at)
    }

    fn start_in(&self, stage: usize, roll: &[Called<'_>], rivals: &Rivals) -> Option<Estimate> {
        let from = self.spec.submitted_at.after(self.stages[stage].from).max(self.scene.now);
        // What is idle now is no use now.
        let is_later = stage > self.stage;
        let free = roll.iter().filter_map(|called| match called.obstacle {
            Obstacle::Idle => is_later.then_some(from),
            Obstacle::Busy => Some(self.free_at(called.name)?.max(from)),
            Obstacle::Held => Some(self.scene.farm.jobs.health().quarantined_until(called.name)?.max(from)),
            Obstacle::Away
            | Obstacle::Class(_)
            | Obstacle::Common
            | Obstacle::Dedicated(_)
            | Obstacle::Lacks(_)
            | Obstacle::Gone => None,
        });
        let free: Vec<_> = free.collect();
        if free.is_empty() {
            return None;
        }
        let (at, run) = match rivals.run() {
            Some(run) => (start_after(&free, rivals.count, run), run),
            None if rivals.count == 0 => (start_after(&free, 0, Duration::ZERO), Duration::ZERO),
            None => return None,
        };
        let workers = if free.len() == 1 { "one worker".to_owned() } else { format!("{} workers", free.len()) };
        let because = match rivals.count {
            0 => format!("it is the next for {workers}"),
            1 => format!("one job goes first on {workers}, and its run takes {:.0} s on average", run.as_secs_f64()),
            count => {
                format!("{count} jobs go first on {workers}, and their runs take {:.0} s on average", run.as_secs_f64())
            }
        };
        Some(Estimate { at, because })
    }

    /// When the worker is expected to have ended its run, if its builder has run before.
    fn free_at(&self, worker: &WorkerName) -> Option<Timestamp> {
        let jobs = self.scene.farm.jobs;
        let (_, running) = jobs.claim_of(worker)?;
        let pace = jobs.paces().of(&jobs.job(running.job)?.spec.builder)?;
        Some(running.started_at.after(pace.mean()).max(self.scene.now))
    }
}

impl Rivals {
    fn shown(&self, scene: &Scene<'_>) -> Ahead {
        Ahead { count: self.count, jobs: self.first.iter().map(|place| (scene.name)(place.key.id)).collect() }
    }

    /// How long one of them runs, as far as is known.
    fn run(&self) -> Option<Duration> {
        (self.known > 0).then(|| self.work.div_f64(self.known as f64))
    }
}

/// Some worker could be in both sets.
fn overlap(one: &Eligibility, other: &Eligibility) -> bool {
    let (Some(own), Some(others)) = (&one.dedicated, &other.dedicated) else {
        return one.uses_common() && other.uses_common();
    };
    one.overflows && other.overflows || own.iter().any(|worker| others.binary_search(worker).is_ok())
}
