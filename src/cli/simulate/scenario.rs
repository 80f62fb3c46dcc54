//! `jacuzzi simulate scenario`: what would start when, and where, if this happened to that farm.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;

use crate::config::read_scenario;
use crate::sim::scenario::play;

/// Play a scenario on the real decision code, with a clock of its own
///
/// A scenario is a farm file as JSON with what happens to that farm; the outcome is JSON, too. So
/// a farm file can be tried before it is used. What happens is a list of events, each with its
/// time and one of submit, idle, claim, allocate, finish, remove, lost, drain and cancel:
/// {"at": 10, "claim": {"workers": ["W1", "W2"], "max": 1, "wait": 30}}
#[derive(Debug, Args)]
pub(super) struct Scenario {
    /// A JSON file, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

impl Scenario {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut source = String::new();
        let shown = self.file.display();
        if self.file.as_os_str() == "-" {
            io::stdin().read_to_string(&mut source).context("cannot read a scenario from stdin")?;
        } else {
            source = fs::read_to_string(&self.file).with_context(|| format!("cannot read {shown}"))?;
        }
        let scenario = read_scenario(&source).map_err(|faults| anyhow!("{shown} cannot be played:\n{faults}"))?;
        serde_json::to_writer(&mut *out, &play(&scenario))?;
        Ok(writeln!(out)?)
    }
}
