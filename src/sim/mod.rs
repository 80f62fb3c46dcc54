//! Made-up farms, for benchmarks and tests: the same arguments give the same farm.

mod chance;
mod scale;
pub mod scenario;
pub mod workload;

pub use scale::{farm_file, many_builders, worker};
