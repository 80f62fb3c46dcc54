//! `jacuzzi simulate`: farms that are not there, to try ours on.

mod faults;
mod scenario;
mod workload;

use std::io::Write;

use clap::{Args, Subcommand};

use super::globals::Globals;

/// Make up a farm, or play what happens to one
#[derive(Debug, Args)]
pub(super) struct Simulate {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Faults(faults::Faults),
    Scenario(scenario::Scenario),
    Workload(workload::Workload),
}

impl Simulate {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.action {
            Action::Faults(faults) => faults.run(globals, out),
            Action::Scenario(scenario) => scenario.run(out),
            Action::Workload(workload) => workload.run(globals, out),
        }
    }
}
