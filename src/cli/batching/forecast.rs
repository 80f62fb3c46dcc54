//! `jacuzzi batching forecast`: what pushes will come, as a log has had them.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::flags::read_log;
use crate::domain::batching::Forecast;

/// Learn from a log how many pushes each hour of the week has, and what risk one brings
///
/// Prints JSON, for --forecast. It is used as it is: learn again from time to time.
#[derive(Debug, Args)]
pub(super) struct MakeForecast {
    /// A log of pushes, best of several weeks, or - for stdin
    #[arg(value_name = "FILE|-")]
    log: PathBuf,
}

impl MakeForecast {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let file = read_log(&self.log)?;
        let forecast = Forecast::of(&file.log).with_context(|| format!("cannot learn from {}", self.log.display()))?;
        serde_json::to_writer(&mut *out, &forecast)?;
        Ok(writeln!(out)?)
    }
}
