//! `jacuzzi bench`: how fast we are, always beside a peer or a bound that is measured in the same run.

mod batching;
mod claims;
mod cost;
mod dispatch;
mod farm;
mod reads;
mod scale;
mod server;
mod writes;

use std::io::Write;

use clap::{Args, Subcommand};

/// Measure this build on this machine, beside a peer or a bound in the same run
#[derive(Debug, Args)]
pub(super) struct Bench {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Batching(batching::Batching),
    Claims(claims::Claims),
    Dispatch(dispatch::Dispatch),
    Reads(reads::Reads),
    Writes(writes::Writes),
    Scale(scale::Scale),
}

impl Bench {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        writeln!(out, "load before: {}", load.split(' ').take(3).collect::<Vec<_>>().join(" "))?;
        out.flush()?;
        match self.action {
            Action::Batching(batching) => batching.run(out),
            Action::Claims(claims) => claims.run(out),
            Action::Dispatch(dispatch) => dispatch.run(out),
            Action::Reads(reads) => reads.run(out),
            Action::Writes(writes) => writes.run(out),
            Action::Scale(scale) => scale.run(out),
        }
    }
}
