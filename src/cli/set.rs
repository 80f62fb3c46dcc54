//! `jacuzzi set`: give one builder its machines, or take its allocation away.

use std::io::Write;

use clap::Args;
use serde::Serialize;

use super::answers::{Delta, Machines};
use super::change::Change;
use super::client::{Client, ClientFault, decode};
use super::globals::{Globals, Output};
use super::target::Target;
use crate::domain::allocator::Builders;
use crate::domain::{BuilderName, WorkerName};

/// Give one builder its machines, as one generation
#[derive(Debug, Args)]
pub(super) struct Set {
    /// The builder
    #[arg(value_parser = BuilderName::parse)]
    builder: BuilderName,

    /// All its machines; those that it has now and are not named here are taken away
    #[arg(value_name = "MACHINE", value_parser = WorkerName::parse, required_unless_present = "none")]
    machines: Vec<WorkerName>,

    /// Take its allocation away: it may then use the workers of its pool that no builder has
    #[arg(long, conflicts_with = "machines")]
    none: bool,

    #[command(flatten)]
    change: Change,
}

/// `PUT /v1/builders/<name>`
#[derive(Serialize)]
struct Body<'a> {
    machines: &'a [WorkerName],
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl Set {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        let builder = Target::path("/v1/builders").component(self.builder.as_str());
        let before = match client.read(&builder) {
            Ok(answer) => Builders::from([(self.builder, decode::<Machines>(&answer)?.machines)]),
            Err(ClientFault::NotFound(_)) => Builders::new(),
            Err(fault) => return Err(fault.into()),
        };
        let (target, reason) = (self.change.of(builder), self.change.reason.as_deref());
        let answer = match self.none {
            true => client.delete(&target.optional("reason", reason))?,
            false => client.put_json(&target, &Body { machines: &self.machines, reason }, None)?,
        };
        if globals.output == Output::Table {
            decode::<Delta>(&answer)?.difference.print(&before, out)?;
        }
        self.change.conclude(&answer, globals, out)
    }
}
