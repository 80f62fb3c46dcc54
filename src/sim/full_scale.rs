//! The farm that the dispatcher is measured on: ten thousand builders with jacuzzis that overlap, and pools that many share.

use serde_json::{Value, json};

use crate::domain::allocator::Builders;
use crate::domain::{BuilderName, WorkerName};

/// How much of everything there is in each pool.
#[derive(Debug, Clone, Copy)]
pub struct FullScale {
    pub pools: usize,
    /// Builders of a pool with an allocation.
    pub dedicated_builders: usize,
    /// Builders of a pool that share its common workers.
    pub common_builders: usize,
    /// Workers of a pool that some builder has.
    pub dedicated_workers: usize,
    /// Workers of a pool that no builder has.
    pub common_workers: usize,
    /// Of the common workers, those that lack what every job requires: idle, and of no use.
    pub held_workers: usize,
}

impl Default for FullScale {
    /// 10,000 builders, 100,000 workers of which 30 % are common, 1,000 held.
    fn default() -> Self {
        Self {
            pools: 50,
            dedicated_builders: 190,
            common_builders: 10,
            dedicated_workers: 1_400,
            common_workers: 600,
            held_workers: 20,
        }
    }
}

impl FullScale {
    /// As a farm file in JSON.
    pub fn farm_file(&self) -> Value {
        let big = json!({"ram": "big"});
        let range = |pool, kind, from: usize, to: usize| format!("{kind}-{pool:02}-{{{from:04}..{:04}}}", to - 1);
        let pools = (0..self.pools).map(|pool| {
            let held = range(pool, "common", 0, self.held_workers);
            json!({"name": format!("pool-{pool:02}"), "class": "spot", "workers": [held]})
        });
        let workers = (0..self.pools).flat_map(|pool| {
            let common = range(pool, "common", self.held_workers, self.common_workers);
            let dedicated = range(pool, "own", 0, self.dedicated_workers);
            [common, dedicated].map(|name| json!({"name": name, "pool": format!("pool-{pool:02}"), "attributes": big}))
        });
        let rules = (0..self.pools).map(
            |pool| json!({"match": format!("^pool-{pool:02} "), "pool": format!("pool-{pool:02}"), "requires": big}),
        );
        json!({
            "farm": {"name": "full scale"},
            "pools": pools.collect::<Vec<_>>(),
            "workers": workers.collect::<Vec<_>>(),
            "builders": rules.collect::<Vec<_>>(),
        })
    }

    /// All builders; in each pool those with an allocation come first.
    pub fn builders(&self) -> Vec<BuilderName> {
        let each = self.dedicated_builders + self.common_builders;
        (0..self.pools).flat_map(|pool| (0..each).map(move |at| builder(pool, at))).collect()
    }

    /// Ten and a half workers a builder on average, at most two builders a worker.
    pub fn allocations(&self) -> Builders {
        let mut allocations = Builders::new();
        for pool in 0..self.pools {
            let mut slot = 0;
            for at in 0..self.dedicated_builders {
                let size = 1 + at % 20;
                let workers = (slot..slot + size).map(|slot| worker(pool, "own", slot % self.dedicated_workers));
                allocations.insert(builder(pool, at), workers.collect());
                slot += size;
            }
        }
        allocations
    }

    /// All workers, pool by pool.
    pub fn workers(&self) -> Vec<WorkerName> {
        let of_pool = |pool| {
            let common = (0..self.common_workers).map(move |at| worker(pool, "common", at));
            common.chain((0..self.dedicated_workers).map(move |at| worker(pool, "own", at)))
        };
        (0..self.pools).flat_map(of_pool).collect()
    }
}

fn builder(pool: usize, at: usize) -> BuilderName {
    BuilderName::parse(&format!("pool-{pool:02} mozilla-inbound opt build {at:03}")).expect("a short name")
}

fn worker(pool: usize, kind: &str, at: usize) -> WorkerName {
    WorkerName::parse(&format!("{kind}-{pool:02}-{at:04}")).expect("a short name")
}
