//! `jacuzzi simulate`: farms that are not there, to try ours on.

mod scenario;

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
    Scenario(scenario::Scenario),
}

impl Simulate {
    pub(super) fn run(self, _: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.action {
            Action::Scenario(scenario) => scenario.run(out),
        }
    }
}
