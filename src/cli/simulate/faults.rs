//! `jacuzzi simulate faults`: crashes, lost answers, late heartbeats and clocks that jump, seed after seed.

use std::io::Write;

use clap::Args;

use crate::cli::globals::{Globals, Output};
use crate::cli::print::print_json;
use crate::sim::faults::{Report, run};

/// Let everything go wrong, and see that every job ends and none runs twice at a time
///
/// Masters, workers and a server on the real decision code, which crashes at any append. The same
/// seed goes wrong in the same way; the first promise that is broken ends the run with its seed.
#[derive(Debug, Args)]
pub(super) struct Faults {
    /// How many seeds
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    seeds: u64,

    /// The first of them
    #[arg(long, default_value_t = 0, value_name = "S")]
    seed: u64,
}

impl Faults {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut sum = Report::default();
        for seed in self.seed..self.seed.saturating_add(self.seeds) {
            sum += run(seed)?;
        }
        match globals.output {
            Output::Json => print_json(out, &serde_json::to_vec(&sum)?)?,
            Output::Table => writeln!(
                out,
                "{} seeds: {} jobs in {} runs all ended, with {} crashes, {} lost messages, {} lost leases, {} clock jumps",
                sum.seeds, sum.jobs, sum.runs, sum.crashes, sum.lost_messages, sum.leases_lost, sum.clock_jumps
            )?,
        }
        Ok(())
    }
}
