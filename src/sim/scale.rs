//! A farm of the scale that we aim for: every builder in a jacuzzi.

use crate::domain::allocator::Builders;
use crate::domain::{BuilderName, WorkerName};

/// How many workers each builder has.
const WORKERS_EACH: usize = 10;

/// Builders with ten workers each. With at least five workers a builder, no
/// worker has more than two.
pub fn many_builders(builders: usize, workers: usize) -> Builders {
    (0..builders)
        .map(|at| {
            let builder = BuilderName::parse(&format!("Linux x86-64 branch-{:03} build {at:05}", at % 100));
            let workers = (at * WORKERS_EACH..(at + 1) * WORKERS_EACH).map(|at| worker(at % workers)).collect();
            (builder.expect("a short name"), workers)
        })
        .collect()
}

/// The worker of this number, as [`farm_file`] names it.
pub fn worker(number: usize) -> WorkerName {
    WorkerName::parse(&format!("worker-{number:06}")).expect("a short name")
}

/// A farm file, as JSON, with one pool of such workers that every builder belongs to.
pub fn farm_file(workers: usize) -> serde_json::Value {
    serde_json::json!({
        "farm": {"name": "scale"},
        "pools": [{"name": "all", "workers": [format!("worker-{{000000..{:06}}}", workers.saturating_sub(1))], "class": "spot"}],
        "builders": [{"match": ".", "pool": "all"}],
    })
}
