//! `jacuzzi queue`: the jobs that wait or run, in the order in which they would start.

use std::io::Write;

use clap::{Args, value_parser};

use super::client::Client;
use super::globals::Globals;
use super::job::show;
use super::target::Target;
use crate::domain::{BuilderName, PoolName};

/// List the jobs that wait or run, the most important first
#[derive(Debug, Args)]
pub(super) struct Queue {
    /// Only those of this builder
    #[arg(long, value_parser = BuilderName::parse)]
    builder: Option<BuilderName>,

    /// Only those of builders of this pool
    #[arg(long, value_parser = PoolName::parse)]
    pool: Option<PoolName>,

    /// Only those in this state
    #[arg(long, value_parser = ["pending", "running"])]
    state: Option<String>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u64).range(1..=1000))]
    limit: u64,

    /// Only those behind this place, as the page before named it
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,
}

impl Queue {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let target = Target::path("/v1/jobs")
            .optional("builder", self.builder)
            .optional("pool", self.pool)
            .optional("state", self.state)
            .query("limit", self.limit)
            .optional("after", self.after);
        show::page(&Client::new(globals).read(&target)?, globals.output, out)
    }
}
