//! Everything that is set from outside: the server's settings and the farm file, each read whole or not at all, with every fault at its place.

mod check;
mod duration;
mod farm_file;
mod fault;
mod json;
mod layers;
mod node;
mod reader;
mod scenario;
mod settings;
#[cfg(test)]
mod shipped;
mod strategies;
mod toml_file;
mod values;

pub use check::check;
pub use farm_file::FarmFile;
pub use fault::{Fault, Faults, Place};
pub use scenario::read_scenario;
pub use settings::{Data, Limits, Log, LogFormat, Server, Settings, Tls};
pub use strategies::{NamedStrategy, read_forecast, read_strategies};
