//! `jacuzzi completions`: what a shell needs to complete our command line.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;

/// Print the completions for a shell
#[derive(Debug, Args)]
pub(super) struct Completions {
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        // By way of memory, since the generator panics on a pipe that is closed.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "jacuzzi", &mut script);
        Ok(out.write_all(&script)?)
    }
}
