//! `jacuzzi config`: check files before they are used, see what is in force, and have the farm file read again.

use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde::Deserialize;

use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, say};
use super::target::Target;
use crate::config::{Settings, check};
use crate::domain::fleet::Change;

/// Check configuration files, show the settings in force, reload the farm file
#[derive(Debug, Args)]
pub(super) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check farm files and server files; all faults are listed, each with its place
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print the settings that `serve` would have here, each with where it comes from
    Show {
        /// The server file
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Have the server read its farm file again: all of it or nothing, with what changes shown
    Reload {
        /// Only show what would change
        #[arg(long)]
        dry_run: bool,
    },
}

/// `POST /v1/farm/reload`
#[derive(Debug, Deserialize)]
struct Reloaded {
    changes: Vec<Change>,
    lost: Vec<String>,
}

impl Config {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        match self.action {
            Action::Check { files } => {
                let summary = check(&files).map_err(|faults| anyhow!("{faults}"))?;
                writeln!(out, "{summary}")?;
            }
            Action::Show { config } => {
                let flags = globals.data_dir_flag()?;
                let settings = Settings::load(config.as_deref(), std::env::vars_os(), &Vec::from_iter(flags));
                write!(out, "{}", settings.map_err(|faults| anyhow!("{faults}"))?.to_toml())?;
            }
            Action::Reload { dry_run } => reload(globals, dry_run, out)?,
        }
        Ok(())
    }
}

fn reload(globals: &Globals, dry_run: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let target = Target::path("/v1/farm/reload").query("dry_run", dry_run);
    let answer = Client::new(globals).post(&target, "application/json", b"")?;
    if globals.output == Output::Json {
        return Ok(print_json(out, &answer)?);
    }
    let reloaded: Reloaded = decode(&answer)?;
    reloaded.changes.iter().try_for_each(|change| writeln!(out, "{change}"))?;
    for machine in &reloaded.lost {
        say(format_args!("{machine:?} is allocated, but no worker of the new farm"));
    }
    say(match (reloaded.changes.len(), dry_run) {
        (0, _) => "the farm file says what is in force already".to_owned(),
        (count, true) => format!("{count} change(s) would be made"),
        (count, false) => format!("{count} change(s) are in force"),
    });
    Ok(())
}
