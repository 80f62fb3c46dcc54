//! Made-up farms, for benchmarks and tests: the same arguments give the same farm.

mod chance;
pub mod faults;
mod full_scale;
pub mod push_trace;
mod scale;
pub mod scenario;
pub mod workload;

pub(crate) use chance::Chance;
pub use full_scale::FullScale;
pub use scale::{farm_file, many_builders, worker};
