//! What runs beside requests: daemons look at the world and at the farm, plan, and submit commands.

mod farm_file;
mod run_recorder;
mod ticker;

pub use farm_file::{FarmFileDaemon, ReadDefinition, ReloadError, Reloaded};
pub use run_recorder::{RunRecorder, RunRecorderThread};
pub use ticker::Ticker;
