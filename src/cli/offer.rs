//! A whole state of the allocations that somebody hands in: the folder of a static tree, or a blob.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};

use super::print::{listed, say};
use crate::adapters::history_file;
use crate::adapters::static_tree::{self, Disagreement};
use crate::domain::allocator::{Builders, Write};

/// Reads a tree's folder or a blob's file; `-` is stdin.
///
/// # Errors
/// What cannot be read or is something else, with its place.
pub(super) fn read(from: &Path) -> anyhow::Result<Builders> {
    read_either(from).with_context(|| format!("cannot read {}", from.display()))
}

fn read_either(from: &Path) -> anyhow::Result<Builders> {
    if from != Path::new("-") && fs::metadata(from)?.is_dir() {
        let tree = static_tree::read(from)?;
        say_disagreements(&tree.disagreements, true);
        return Ok(tree.builders);
    }
    let mut lines = history_file::parse(&bytes(from)?)?;
    match lines.pop().map(|line| line.write) {
        Some(Write::Replace(builders)) => Ok(builders),
        _ => bail!("this is a history of changes, not one state of all allocations: `jacuzzi import` takes it"),
    }
}

/// What stands in a file, or comes from stdin.
pub(super) fn bytes(from: &Path) -> anyhow::Result<Vec<u8>> {
    if from != Path::new("-") {
        return Ok(fs::read(from)?);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(bytes)
}

/// Says where a tree's views disagree, if they do.
pub(super) fn say_disagreements(disagreements: &[Disagreement], verbose: bool) {
    if disagreements.is_empty() {
        return;
    }
    let lines: Vec<_> = disagreements.iter().map(ToString::to_string).collect();
    say(format_args!("the tree's three views disagree in {} place(s); v1/builders is taken:", lines.len()));
    say(listed(&lines, verbose).trim_end());
}
