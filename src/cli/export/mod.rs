//! `jacuzzi export`: the allocations in force as a static tree that any web server can serve, or as one blob.

pub(super) mod watch;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use super::answers::Blob;
use super::client::{Client, decode};
use super::follower::Follower;
use super::globals::Globals;
use super::print::{print_json, say};
use super::target::Target;
use super::until_stopped::until_stopped;
use crate::adapters::{static_tree, whole_file};

/// Export the allocations in force as a static tree, or as one blob
///
/// The tree is written beside DIR first, and DIR is then swapped as a symlink: a web server
/// that serves DIR never shows half of it. Trees that were replaced stay in DIR.generations for
/// a minute, for readers that still hold them; the next export removes them.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// A folder for the tree, or a file that ends with .json for the blob, or - for the blob to stdout
    #[arg(value_name = "DIR|FILE.json|-")]
    to: PathBuf,

    /// Keep it up to date, until SIGTERM or SIGINT
    ///
    /// Changes are written as they come, ten a second at most, each with a line to stderr. The
    /// server may be restarted meanwhile.
    #[arg(long)]
    watch: bool,
}

impl Export {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        let to_stdout = self.to == Path::new("-");
        if self.watch {
            if to_stdout {
                bail!("stdout cannot be kept up to date: give a folder, or a file that ends with .json");
            }
            return until_stopped(watch::keep(Follower::new(client), &self.to));
        }
        let answer = client.read(&Target::path("/v1/allocations"))?;
        if to_stdout {
            return Ok(print_json(out, &answer)?);
        }
        write(&decode(&answer)?, &answer, &self.to)
    }
}

/// `answer`: the blob's bytes.
fn write(blob: &Blob, answer: &[u8], to: &Path) -> anyhow::Result<()> {
    let written = match to.extension() == Some(OsStr::new("json")) {
        true => whole_file::replace(to, answer).map_err(anyhow::Error::from),
        false => static_tree::write(to, &blob.builders, blob.generation, Some(answer)).map_err(Into::into),
    };
    written.with_context(|| format!("cannot export to {}", to.display()))?;
    say(format_args!("wrote generation {}, {} builder(s), to {}", blob.generation, blob.builders.len(), to.display()));
    Ok(())
}
