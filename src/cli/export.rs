//! `jacuzzi export`: the allocations in force as a static tree that any web server can serve, or as one blob.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::answers::Blob;
use super::client::{Client, Target, decode};
use super::globals::Globals;
use super::print::{print_json, say};
use crate::adapters::{static_tree, whole_file};

/// Export the allocations in force as a static tree, or as one blob
///
/// The tree is written beside DIR first, and DIR is then swapped as a symlink: a web server
/// that serves DIR never shows half of it.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// A folder for the tree, or a file that ends with .json for the blob, or - for the blob to stdout
    #[arg(value_name = "DIR|FILE.json|-")]
    to: PathBuf,
}

impl Export {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let answer = Client::new(globals).read(&Target::path("/v1/allocations"))?;
        if self.to == Path::new("-") {
            return Ok(print_json(out, &answer)?);
        }
        let blob: Blob = decode(&answer)?;
        let written = match self.to.extension() == Some(OsStr::new("json")) {
            true => whole_file::replace(&self.to, &answer).map_err(anyhow::Error::from),
            false => static_tree::write(&self.to, &blob.builders, blob.generation, Some(&answer)).map_err(Into::into),
        };
        written.with_context(|| format!("cannot export to {}", self.to.display()))?;
        let (generation, builders) = (blob.generation, blob.builders.len());
        say(format_args!("wrote generation {generation}, {builders} builder(s), to {}", self.to.display()));
        Ok(())
    }
}
