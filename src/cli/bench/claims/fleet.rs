//! The farm that is claimed from: a pool for each connection, so that nobody waits for somebody else's workers.

use serde_json::json;

/// Builders of each pool.
const BUILDERS: usize = 10;

/// How many different priorities jobs have.
const PRIORITIES: usize = 10;

/// How much of everything there is.
#[derive(Clone, Copy)]
pub(super) struct Fleet {
    pub pools: usize,
    /// Workers of each pool.
    pub workers: usize,
}

impl Fleet {
    pub(super) fn size(self) -> usize {
        self.pools * self.workers
    }

    pub(super) fn farm_file(self) -> anyhow::Result<String> {
        let last = self.workers - 1;
        let pools = (0..self.pools).map(|pool| {
            let workers = format!("pool-{pool:03}-{{000000..{last:06}}}");
            json!({"name": format!("pool-{pool:03}"), "class": "spot", "workers": [workers]})
        });
        let builders = (0..self.pools)
            .map(|pool| json!({"match": format!("^pool-{pool:03} "), "pool": format!("pool-{pool:03}")}));
        Ok(toml::to_string(&json!({
            "farm": {"name": "claims"},
            "pools": pools.collect::<Vec<_>>(),
            "builders": builders.collect::<Vec<_>>(),
        }))?)
    }

    /// The names of a pool's workers.
    pub(super) fn workers(self, pool: usize) -> Vec<String> {
        (0..self.workers).map(|worker| format!("pool-{pool:03}-{worker:06}")).collect()
    }

    /// As many jobs as there are workers, pool by pool in turn.
    pub(super) fn jobs(self) -> Vec<String> {
        (0..self.size()).map(|at| job(at % self.pools, at / self.pools)).collect()
    }
}

/// One job for a pool, as it is sent.
pub(super) fn job(pool: usize, number: usize) -> String {
    let builder = format!("pool-{pool:03} mozilla-inbound opt build {:03}", number % BUILDERS);
    json!({"builder": builder, "priority": number / BUILDERS % PRIORITIES}).to_string()
}
