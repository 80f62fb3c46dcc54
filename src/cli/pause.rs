//! `jacuzzi pause` and `jacuzzi resume`: let nothing of a pool or a builder start, and let it go on.

use std::io::Write;

use clap::{Args, Subcommand};
use serde_json::json;

use super::client::Client;
use super::globals::{Globals, Output};
use super::print::{print_json, say};
use super::target::Target;
use crate::domain::{BuilderName, PoolName};

/// Let no job of a pool or a builder start; what runs goes on
#[derive(Debug, Args)]
pub(super) struct Pause {
    #[command(flatten)]
    change: Change,
}

/// Let the jobs of a paused pool or builder start again
#[derive(Debug, Args)]
pub(super) struct Resume {
    #[command(flatten)]
    change: Change,
}

#[derive(Debug, Args)]
struct Change {
    #[command(subcommand)]
    what: What,

    /// Why, for the audit log and for whoever asks why a job waits
    #[arg(long, global = true, value_name = "TEXT")]
    reason: Option<String>,

    /// Change nothing: only say what would be done
    #[arg(long, global = true)]
    dry_run: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// All builders that a pool runs
    Pool {
        #[arg(value_parser = PoolName::parse)]
        name: PoolName,
    },
    /// One builder
    Builder {
        #[arg(value_parser = BuilderName::parse)]
        name: BuilderName,
    },
}

impl Pause {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        self.change.send("pause", "paused", globals, out)
    }
}

impl Resume {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        self.change.send("resume", "resumed", globals, out)
    }
}

impl Change {
    fn send(self, action: &str, done: &str, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let (kind, path, name) = match &self.what {
            What::Pool { name } => ("pool", "/v1/pools", name.as_str()),
            What::Builder { name } => ("builder", "/v1/builders", name.as_str()),
        };
        if self.dry_run {
            say(format_args!("{kind} {name:?} would be {done}; nothing is changed (dry run)"));
            return Ok(());
        }
        let target = Target::path(path).component(name).component(action);
        let answer = Client::new(globals).post_json(&target, &json!({"reason": self.reason}), None)?;
        say(format_args!("{kind} {name:?} is {done}"));
        if globals.output == Output::Json {
            print_json(out, &answer)?;
        }
        Ok(())
    }
}
