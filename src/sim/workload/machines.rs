//! The machines of a made-up farm, and which builder has which: no two isolation groups share one, and no three builders.

use std::collections::BTreeMap;

use super::Shape;
use super::builders::{Builder, Builders, rules};
use super::catalog::{Branch, POOLS, Pool, Series};
use crate::domain::fleet::{self, AllocationLimits, BuilderRule, Definition, WorkerClass, WorkerEntry, WorkerRange};
use crate::domain::{PoolName, WorkerName, allocator};

/// So many builders share a machine at most.
const BUILDERS_A_MACHINE: u64 = 2;

/// The farm file and the allocation.
pub(super) struct Farm {
    pub definition: Definition,
    pub allocations: allocator::Builders,
}

/// The builders of one pool and branch, by their places: they share their machines with nobody else.
type Groups = BTreeMap<(usize, usize), Vec<usize>>;

/// The fewest machines on which so many builders have room.
pub(super) fn fewest(builders: &Builders) -> u64 {
    groups(builders).values().map(|group| fewest_of_group(group)).sum()
}

fn fewest_of_group(group: &[usize]) -> u64 {
    (group.len() as u64).div_ceil(BUILDERS_A_MACHINE)
}

fn groups(builders: &Builders) -> Groups {
    let mut groups = Groups::new();
    for (at, builder) in builders.list.iter().enumerate() {
        let pool = POOLS.iter().position(|pool| pool.name == builder.pool.as_str()).expect("a rule names a pool");
        groups.entry((pool, builder.branch)).or_default().push(at);
    }
    groups
}

impl Farm {
    /// Gives out all machines of the shape, which are at least the [`fewest`].
    pub(super) fn new(shape: &Shape, builders: &Builders) -> Self {
        let groups = groups(builders);
        let parts: Vec<Part> = groups
            .values()
            .map(|group| Part {
                weight: group.iter().map(|at| need(&builders.list[*at])).sum(),
                fewest: fewest_of_group(group),
                most: u64::from(shape.machines),
            })
            .collect();
        let shares = apportion(u64::from(shape.machines), &parts);
        let mut machines = [0; POOLS.len()];
        for ((pool, _), share) in groups.keys().zip(&shares) {
            machines[*pool] += share;
        }
        let mut names = POOLS.iter().zip(machines).map(|(pool, count)| names(pool, count)).collect::<Vec<_>>();
        let mut allocations = allocator::Builders::new();
        for (((pool, _), group), share) in groups.iter().zip(shares) {
            let ring: Vec<WorkerName> = names[*pool].drain(..share as usize).collect();
            allocations.extend(around(&ring, group, builders));
        }
        Self { definition: definition(builders, machines), allocations }
    }
}

/// What a builder would have: its load, and a margin as for a queue of many servers
/// (the square-root rule; Halfin, Whitt: Heavy-traffic limits for queues with many exponential servers, 1981).
fn need(builder: &Builder) -> f64 {
    builder.load + libm::sqrt(builder.load)
}

/// Sets of machines for a group's builders, each set going on where the one
/// before it ended: with two sets' worth of places in all, no machine is in more than two.
fn around(ring: &[WorkerName], group: &[usize], builders: &Builders) -> allocator::Builders {
    let machines = ring.len() as u64;
    let part = |at: &usize| Part { weight: need(&builders.list[*at]), fewest: 1, most: machines };
    let parts: Vec<Part> = group.iter().map(part).collect();
    let places = machines * BUILDERS_A_MACHINE.min(group.len() as u64);
    let mut next = ring.iter().cycle();
    let sets = group.iter().zip(apportion(places, &parts)).map(|(at, size)| {
        let mut set: Vec<WorkerName> = next.by_ref().take(size as usize).cloned().collect();
        set.sort();
        (builders.list[*at].name.clone(), set)
    });
    sets.collect()
}

/// Who wants a part of something.
struct Part {
    weight: f64,
    fewest: u64,
    most: u64,
}

/// Shares that sum to the total, if the bounds of the parts allow it, by the
/// greatest-quotients method of D'Hondt (Système pratique et raisonné de représentation proportionnelle, 1882).
fn apportion(total: u64, parts: &[Part]) -> Vec<u64> {
    let mut shares: Vec<u64> = parts.iter().map(|part| part.fewest).collect();
    for _ in shares.iter().sum()..total {
        let quotient = |at: &usize| parts[*at].weight / (shares[*at] + 1) as f64;
        let open = (0..parts.len()).rev().filter(|at| shares[*at] < parts[*at].most);
        let Some(next) = open.max_by(|a, b| quotient(a).total_cmp(&quotient(b))) else { break };
        shares[next] += 1;
    }
    shares
}

/// How many machines of a pool are of its first series and of its second.
fn by_series(pool: &Pool, machines: u64) -> [u64; 2] {
    let second = if pool.series.len() > 1 { machines / 8 } else { 0 };
    [machines - second, second]
}

/// The names of a pool's machines, so that each stretch of them has some of both series.
fn names(pool: &Pool, machines: u64) -> Vec<WorkerName> {
    let mut used = [0, 0];
    let name = |at: u64| {
        let series = usize::from(pool.series.len() > 1 && at % 8 == 7);
        used[series] += 1;
        let (prefix, digits) = (pool.series[series].prefix, pool.series[series].digits);
        WorkerName::parse(&format!("{prefix}{:0digits$}", used[series])).expect("a short name")
    };
    (0..machines).map(name).collect()
}

fn definition(builders: &Builders, machines: [u64; POOLS.len()]) -> Definition {
    let (mut pools, mut workers) = (Vec::new(), Vec::new());
    for (pool, count) in POOLS.iter().zip(machines).filter(|(_, count)| *count > 0) {
        let name = PoolName::parse(pool.name).expect("a short name");
        let class = pool.series[0].class;
        let ranges = ranges(pool, count);
        let others = ranges.iter().filter(|(_, of)| *of != class);
        workers.extend(others.map(|(range, of)| WorkerEntry {
            name: range.clone(),
            pool: name.clone(),
            class: Some(*of),
            attributes: BTreeMap::new(),
        }));
        let ranges = ranges.into_iter().map(|(range, _)| range).collect();
        pools.push(fleet::Pool { name, workers: ranges, class, options: fleet::Options::default() });
    }
    let branches = &builders.branches;
    let branch = |branch: &&Branch| fleet::Branch { name: branch.name.into(), priority: branch.priority };
    let has_pool = |rule: &BuilderRule| pools.iter().any(|pool| pool.name == rule.pool);
    Definition {
        name: "workload".into(),
        branches: branches.iter().map(branch).collect(),
        builders: rules().into_iter().filter(has_pool).collect(),
        allocations: AllocationLimits {
            max_builders_per_machine: BUILDERS_A_MACHINE,
            isolation_groups: Some(branches.iter().map(|branch| branch.name.into()).collect()),
            ..AllocationLimits::default()
        },
        pools,
        workers,
        ..Definition::default()
    }
}

/// The machines of a pool as a farm file names them, with their class.
fn ranges(pool: &Pool, machines: u64) -> Vec<(WorkerRange, WorkerClass)> {
    let counted = pool.series.iter().zip(by_series(pool, machines)).filter(|(_, count)| *count > 0);
    let range = |(series, count): (&Series, u64)| {
        let text = format!("{}{{{:0digits$}..{count:0digits$}}}", series.prefix, 1, digits = series.digits);
        (WorkerRange::parse(&text).expect("a range from 1 up"), series.class)
    };
    counted.map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_in_proportion_and_within_their_bounds() {
        let part = |weight, fewest, most| Part { weight, fewest, most };
        assert_eq!(apportion(10, &[part(5.0, 0, 10), part(3.0, 0, 10), part(2.0, 0, 10)]), [5, 3, 2]);
        assert_eq!(apportion(10, &[part(9.0, 1, 4), part(1.0, 1, 10), part(0.0, 2, 10)]), [4, 4, 2]);
        assert_eq!(apportion(3, &[part(1.0, 0, 9), part(1.0, 0, 9)]), [2, 1], "the first of equals");
        assert_eq!(apportion(9, &[part(1.0, 1, 2)]), [2], "no more than the bounds allow");
    }
}
