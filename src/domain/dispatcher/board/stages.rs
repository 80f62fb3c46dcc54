//! Which workers a builder's jobs may use, by how long they have waited: at first perhaps one class only, in the end
//! perhaps also workers that no builder has.

use std::collections::BTreeSet;
use std::time::Duration;

use super::queues::Eligibility;
use super::settle::Farm;
use crate::domain::fleet::{Attributes, BuilderRule, Options, WorkerClass};
use crate::domain::names::{BuilderName, PoolName};

/// A stage of waiting.
#[derive(Debug, Clone)]
pub struct Stage {
    /// How long a job waits before it is in this stage.
    pub from: Duration,
    pub eligibility: Eligibility,
}

/// The kinds of workers that no builder has; looked for when somebody asks.
#[derive(Default)]
pub struct Commons(Option<BTreeSet<(PoolName, WorkerClass, Attributes)>>);

/// The stages of a builder's jobs, the first of them from the start.
pub fn stages(
    farm: Farm<'_>,
    commons: &mut Commons,
    builder: &BuilderName,
    rule: &BuilderRule,
    options: &Options,
) -> Vec<Stage> {
    let dedicated = farm.allocations.shared_workers_of(builder);
    let overflow = options.overflow_after.filter(|_| dedicated.is_some()).map(Duration::from);
    let first_class = options.prefer.as_deref().and_then(<[_]>::first);
    let wait = options.inhouse_wait.map(Duration::from).zip(first_class.copied());
    let starts =
        BTreeSet::from_iter([Some(Duration::ZERO), overflow, wait.map(|(wait, _)| wait)].into_iter().flatten());
    let mut stages: Vec<Stage> = Vec::new();
    for from in starts {
        let mut eligibility = Eligibility {
            pool: rule.pool.clone(),
            requires: rule.requires.clone(),
            dedicated: dedicated.cloned(),
            overflows: overflow.is_some_and(|overflow| from >= overflow),
            only: wait.filter(|(wait, _)| from < *wait).map(|(_, class)| class),
            reserve: options.reserve.unwrap_or(0),
        };
        if !has_any(farm, commons, &eligibility) {
            eligibility.only = None;
        }
        if stages.last().is_none_or(|last| last.eligibility != eligibility) {
            stages.push(Stage { from, eligibility });
        }
    }
    stages
}

/// Whether the worker set has any worker of the only class that it is to use.
fn has_any(farm: Farm<'_>, commons: &mut Commons, eligibility: &Eligibility) -> bool {
    let Some(class) = eligibility.only else { return true };
    let own = eligibility.dedicated.iter().flat_map(|workers| workers.iter());
    own.filter_map(|name| farm.fleet.worker(name)).any(|worker| eligibility.takes(worker.class, &worker.attributes))
        || eligibility.uses_common() && commons.in_pool(farm, &eligibility.pool, class, eligibility)
}

impl Commons {
    fn in_pool(&mut self, farm: Farm<'_>, pool: &PoolName, class: WorkerClass, eligibility: &Eligibility) -> bool {
        let kinds = self.0.get_or_insert_with(|| {
            let common = farm.fleet.workers().filter(|(name, _)| farm.allocations.builders_of(name).is_none());
            common.map(|(_, worker)| (worker.pool.clone(), worker.class, worker.attributes.clone())).collect()
        });
        let from = (pool.clone(), class, Attributes::default());
        let alike = kinds.range(from..).take_while(|(other, of, _)| (other, *of) == (pool, class));
        alike.into_iter().any(|(_, of, attributes)| eligibility.takes(*of, attributes))
    }
}
