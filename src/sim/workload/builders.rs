//! The builders of a made-up farm: how many jobs each gets, and how long they take.

use super::Shape;
use super::calendar::{SECONDS_A_DAY, peak_pace};
use super::catalog::{self, Branch, Project, RULES, Trigger};
use crate::domain::fleet::{BuilderRule, Definition, Fleet, Options};
use crate::domain::{BuilderName, PoolName};
use crate::sim::chance::Chance;

/// Of all machines, so many are at work in the busiest hour of an even week.
const BUSY_AT_PEAK: f64 = 0.60;

/// A run's mean time beside a cold one's, with the share of warm runs that the farm turns out to have.
const MEAN_TO_COLD: f64 = 0.62;

/// How much builders differ from what their kind takes (deviation of the logarithm).
const SPREAD_OF_BUILDERS: f64 = 0.15;

/// A nightly builder gets a job for each language: 90 of 75,000 jobs a day.
const NIGHTLY_JOBS_IN_100_000: u64 = 120;

/// One builder.
#[derive(Debug)]
pub(super) struct Builder {
    pub name: BuilderName,
    /// Its place in [`Builders::branches`].
    pub branch: usize,
    pub project: Project,
    pub trigger: Trigger,
    pub pool: PoolName,
    /// Mean time of a cold run, in seconds.
    pub cold_seconds: f64,
    /// How many of its jobs run at once in the busiest hour of an even week.
    pub load: f64,
}

/// All of them, with what they have in common.
#[derive(Debug)]
pub(super) struct Builders {
    pub list: Vec<Builder>,
    /// Those that have a builder, in the catalogue's order.
    pub branches: Vec<&'static Branch>,
    pub pushes_a_weekday: Vec<f64>,
    /// Jobs that a nightly build of a branch submits for each of its builders.
    pub nightly_jobs: u64,
}

impl Builders {
    pub(super) fn new(shape: &Shape, chance: &mut Chance) -> Self {
        let ranked = &catalog::ranked()[..shape.builders as usize];
        let has_builder = |branch: &&Branch| ranked.iter().any(|(of, _)| of.name == branch.name);
        let branches: Vec<&Branch> = catalog::BRANCHES.iter().filter(has_builder).collect();
        let fleet = Fleet::from(Definition { builders: rules(), ..Definition::default() });
        let mut list: Vec<Builder> = ranked
            .iter()
            .map(|(branch, family)| {
                let name = BuilderName::parse(&family.name.replace("{}", branch.name)).expect("a short name");
                let rule = fleet.rule(&name).expect("a rule for every name of the catalogue");
                Builder {
                    branch: branches.iter().position(|other| other.name == branch.name).expect("has this builder"),
                    project: family.project,
                    trigger: family.trigger,
                    pool: rule.pool.clone(),
                    cold_seconds: chance.log_normal(f64::from(family.minutes) * 60.0, SPREAD_OF_BUILDERS),
                    load: 0.0,
                    name,
                }
            })
            .collect();
        let nightly_jobs = (u64::from(shape.jobs_per_day) * NIGHTLY_JOBS_IN_100_000 / 100_000).max(1);
        let pushes_a_weekday = pushes_a_weekday(shape.jobs_per_day, nightly_jobs, &branches, &list);
        let jobs_a_weekday = |builder: &Builder| match builder.trigger {
            Trigger::Push(of_thousand) => pushes_a_weekday[builder.branch] * f64::from(of_thousand) / 1_000.0,
            Trigger::Nightly => nightly_jobs as f64,
        };
        for builder in &mut list {
            let work = jobs_a_weekday(builder) * builder.cold_seconds * MEAN_TO_COLD;
            builder.load = work / SECONDS_A_DAY as f64 * peak_pace();
        }
        let fit = f64::from(shape.machines) * BUSY_AT_PEAK / list.iter().map(|builder| builder.load).sum::<f64>();
        for builder in &mut list {
            builder.cold_seconds *= fit;
            builder.load *= fit;
        }
        Self { list, branches, pushes_a_weekday, nightly_jobs }
    }
}

/// The rules of the catalogue as a farm file has them.
pub(super) fn rules() -> Vec<BuilderRule> {
    let rule = |rule: &catalog::Rule| BuilderRule {
        pattern: rule.pattern.to_owned(),
        pool: PoolName::parse(rule.pool).expect("a short name"),
        requires: Default::default(),
        class: rule.class,
        options: Options::default(),
        cadence: None,
    };
    RULES.iter().map(rule).collect()
}

/// By branch, so that they make all the jobs that nightly builds do not.
fn pushes_a_weekday(jobs_per_day: u32, nightly_jobs: u64, branches: &[&Branch], list: &[Builder]) -> Vec<f64> {
    let (mut by_push, mut by_clock) = (0.0, 0);
    for builder in list {
        match builder.trigger {
            Trigger::Push(of_thousand) => {
                by_push += f64::from(branches[builder.branch].pushes * of_thousand) / 1_000.0;
            }
            Trigger::Nightly => by_clock += nightly_jobs,
        }
    }
    let each = (f64::from(jobs_per_day) - by_clock as f64).max(0.0) / by_push;
    branches.iter().map(|branch| f64::from(branch.pushes) * each).collect()
}
