//! `jacuzzi backup` and `jacuzzi restore`: one file that holds all that a farm knows, and a new data folder made of it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use super::globals::Globals;
use super::journal;
use super::print::say;
use crate::adapters::data_folder::{self, DataFolder, journal_path, unfinished_restore};
use crate::adapters::sqlite::SqliteJournal;
use crate::domain::{Event, Farm};
use crate::engine::decode;
use crate::ports::Journal as _;

/// Write a backup of a data folder (--data-dir) to a file, also while its server runs
///
/// The run history is not in it by itself: a server that starts on the restored folder makes it
/// anew of the journal, which is.
#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The file to make; one that exists is replaced when the new one is whole
    file: PathBuf,
}

/// Make a new data folder (--data-dir) of a backup
///
/// The new folder has a new epoch: clients that followed the old one read everything again. Its
/// first start makes a new operator token.
#[derive(Debug, Args)]
pub(super) struct Restore {
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(self, globals: &Globals) -> anyhow::Result<()> {
        let shown = self.file.display();
        let unfinished = beside(&self.file, "unfinished")?;
        // Left over from a backup that was interrupted.
        fs::remove_file(&unfinished).ok();
        let copied = journal::open(globals)?.copy_to(&unfinished);
        let checked = copied.and_then(|()| summary(&unfinished));
        let kept = checked.and_then(|summary| {
            fs::rename(&unfinished, &self.file)?;
            fs::File::open(parent(&self.file))?.sync_all()?;
            Ok(summary)
        });
        if kept.is_err() {
            fs::remove_file(&unfinished).ok();
        }
        let summary = kept.with_context(|| format!("cannot back up to {shown}"))?;
        say(format_args!("backed up {summary} to {shown}"));
        Ok(())
    }
}

impl Restore {
    pub(super) fn run(self, globals: &Globals) -> anyhow::Result<()> {
        let folder = &globals.data_folder();
        let shown = folder.display();
        if !data_folder::is_free(folder) {
            bail!("{shown} is not empty: restore into a new folder, then start the server with that one");
        }
        let summary = summary(&self.file).with_context(|| format!("{} cannot be restored", self.file.display()))?;
        let data = DataFolder::open(folder)?;
        let unfinished = unfinished_restore(folder);
        // Left over from a restore that was interrupted.
        fs::remove_file(&unfinished).ok();
        SqliteJournal::open_to_read(&self.file)?.restore(&unfinished)?;
        fs::rename(&unfinished, journal_path(folder))?;
        fs::File::open(folder)?.sync_all()?;
        drop(data);
        say(format_args!("restored {summary} to {shown}; start it with `jacuzzi serve --data-dir {shown}`"));
        Ok(())
    }
}

/// Replays a copy, so that what it leads to is known before it is relied on.
fn summary(file: &Path) -> anyhow::Result<String> {
    let mut journal = SqliteJournal::open_to_read(file)?;
    let (mut farm, mut records) = (Farm::default(), 0);
    journal.replay(0, &mut |record| {
        farm.apply(&decode::<Event>(&record)?);
        records += 1;
        Ok(())
    })?;
    Ok(format!("{records} records up to generation {}", farm.allocations.generation()))
}

fn beside(file: &Path, suffix: &str) -> anyhow::Result<PathBuf> {
    let name = file.file_name().with_context(|| format!("{} names no file", file.display()))?;
    let mut name = name.to_owned();
    name.push(".");
    name.push(suffix);
    Ok(file.with_file_name(name))
}

fn parent(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
