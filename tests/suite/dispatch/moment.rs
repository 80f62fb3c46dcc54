//! What there is to decide about at one moment of a scenario, and what the law says to it.

use std::cmp::Reverse;

use super::law;
use super::outcome::Micros;
use super::setting::{Class, Job};
use super::world::{Doing, Worker, World};

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
    /// The workers that the job may use, by name, whatever they do.
    pub fn worker_set(&self, job: &Job) -> Vec<&'w str> {
        self.world.worker_set(job, self.at)
    }

    /// What the law says.
    pub fn decide(&self) -> Vec<Option<usize>> {
        self.decide_with(&self.calls)
    }

    /// What would be if no call had a limit.
    pub fn decide_without_limits(&self) -> Vec<Option<usize>> {
        self.decide_with(&[])
    }

    fn decide_with(&self, calls: &[law::Call]) -> Vec<Option<usize>> {
        let jobs = self
            .waiting
            .iter()
            .map(|Waiting { job, wishes }| law::Job { workers: wishes.clone(), reserve: self.reserve(job) });
        law::decide(&jobs.collect::<Vec<_>>(), calls, |job, accepted| self.rank(job, accepted))
    }

    /// The turn of each waiting job, if these are the ones that start.
    pub fn turns(&self, starts: &[Option<usize>]) -> Vec<usize> {
        let order =
            law::in_turn(starts.len(), |job, accepted| self.rank(job, accepted), |job, _| starts[job].is_some());
        let mut turns = vec![0; starts.len()];
        order.into_iter().enumerate().for_each(|(turn, job)| turns[job] = turn);
        turns
    }

    /// By fair share: among jobs that are equal but for their age, the one goes first whose project runs the fewest.
    fn rank(&self, job: usize, accepted: &[usize]) -> Option<(Class, i64, usize)> {
        let Job { class, priority, project, .. } = self.waiting[job].job;
        let running = self.world.workers.values().filter_map(|worker| match &worker.doing {
            Doing::Running(run) => Some(&run.job),
            Doing::Away | Doing::Idle(_) => None,
        });
        let started = running.chain(accepted.iter().map(|job| self.waiting[*job].job));
        let of_project = started.filter(|other| other.project == *project).count();
        self.world.setting.fair.then_some((*class, *priority, of_project))
    }

    /// How many workers beyond its own the job must leave to its like.
    pub fn reserve(&self, job: &Job) -> usize {
        self.world.terms(&job.builder).reserve
    }
}

impl World {
    pub fn moment(&self) -> Moment<'_> {
        let mut jobs: Vec<&Job> = self.pending.iter().collect();
        jobs.sort_by_key(|job| self.setting.key(job));
        let waiting = jobs.into_iter().map(|job| {
            let set = self.worker_set(job, self.now);
            let terms = self.terms(&job.builder);
            let usable = self.idle().enumerate().filter(|(_, (name, _))| set.contains(&name.as_str()));
            let mut wishes: Vec<_> = usable
                .map(|(at, (name, worker))| {
                    let warmest = Reverse(self.latest_success(&job.builder, name).filter(|_| terms.warmth));
                    (terms.preference(&worker.listed.class), warmest, name, at)
                })
                .collect();
            wishes.sort();
            Waiting { job, wishes: wishes.into_iter().map(|(.., at)| at).collect() }
        });
        let calls = self.calls.iter().map(|(number, call)| {
            let offers = |worker: &Worker| matches!(worker.doing, Doing::Idle(Some(of)) if of == *number);
            let workers = self.idle().enumerate().filter(|(_, (_, worker))| offers(worker)).map(|(at, _)| at);
            law::Call { workers: workers.collect(), max: call.max }
        });
        Moment {
            world: self,
            at: self.now,
            waiting: waiting.collect(),
            idle: self.idle().map(|(name, _)| name.as_str()).collect(),
            calls: calls.collect(),
        }
    }
}
