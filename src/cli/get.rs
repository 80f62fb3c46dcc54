//! `jacuzzi get`: which machines a builder has, or which builders a machine has.

use std::io::Write;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::answers::{BuilderNames, Machines};
use super::client::{Client, ClientFault, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, print_lines};
use super::target::Target;
use crate::domain::{BuilderName, WorkerName};

/// Show the machines of a builder, or the builders of a machine
///
/// `get NAME` is short for `get builder NAME`. One name a line; exit code 4 when there is no allocation.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Get {
    /// The builder
    #[arg(value_name = "NAME", required = true, value_parser = BuilderName::parse)]
    builder: Option<BuilderName>,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the machines of a builder
    Builder {
        #[arg(value_parser = BuilderName::parse)]
        name: BuilderName,
    },
    /// Show the builders of a machine
    Machine {
        #[arg(value_parser = WorkerName::parse)]
        name: WorkerName,
    },
}

impl Get {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        match (self.what, self.builder) {
            (Some(What::Machine { name }), _) => get_machine(globals, &name, out),
            (Some(What::Builder { name }), _) | (None, Some(name)) => get_builder(globals, &name, out),
            (None, None) => unreachable!("the command line requires a name where it has no subcommand"),
        }
    }
}

fn get_builder(globals: &Globals, name: &BuilderName, out: &mut dyn Write) -> anyhow::Result<()> {
    let answer = Client::new(globals).read(&Target::path("/v1/builders").component(name.as_str()));
    let meaning =
        || format!("builder {name:?} has no allocation: it may use the workers of its pool that no builder has");
    let answer = explain_not_found(answer, meaning)?;
    match globals.output {
        Output::Json => print_json(out, &answer)?,
        Output::Table => print_lines(out, &decode::<Machines>(&answer)?.machines)?,
    }
    Ok(())
}

fn get_machine(globals: &Globals, name: &WorkerName, out: &mut dyn Write) -> anyhow::Result<()> {
    let answer = Client::new(globals).read(&Target::path("/v1/machines").component(name.as_str()));
    let meaning = || {
        format!(
            "machine {name:?} is in no allocation: if it is a worker, any builder of its pool without one may use it"
        )
    };
    let answer = explain_not_found(answer, meaning)?;
    match globals.output {
        Output::Json => print_json(out, &answer)?,
        Output::Table => print_lines(out, &decode::<BuilderNames>(&answer)?.builders)?,
    }
    Ok(())
}

fn explain_not_found(
    answer: Result<Vec<u8>, ClientFault>,
    meaning: impl FnOnce() -> String,
) -> anyhow::Result<Vec<u8>> {
    match answer {
        Err(ClientFault::NotFound(_)) => answer.with_context(meaning),
        other => Ok(other?),
    }
}
