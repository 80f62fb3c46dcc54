//! Writes a static tree so that a reader sees the old one or the new one: a new folder first, then a symlink is swapped.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::names::without_path;
use super::place::{Place, sync};
use super::views::{ByMachine, by_machine};
use super::{TreeFault, View};
use crate::domain::allocator::{Builders, Generation};
use crate::domain::{BuilderName, WorkerName};

/// Writes the tree of one generation to `target`, which becomes a symlink to a
/// new folder in `<target>.generations`, beside it. Folders that `target` was
/// before stay, for readers that hold one: the last one always, the others for
/// a minute after they were replaced. A later write removes them.
///
/// Files that have not changed are hard links to those of the folder before,
/// so that a small change costs little and web servers see the same file.
///
/// `blob`: the body of `/v1/allocations`, written to `v1/allocations`.
///
/// # Errors
/// Names without a path (all of them), a `target` that is something else, and
/// whatever the file system says. `target` is unchanged then.
pub fn write(target: &Path, builders: &Builders, generation: Generation, blob: Option<&[u8]>) -> Result<(), TreeFault> {
    let machines = by_machine(builders);
    let mut no_paths = without_path(View::Builders, builders.keys().map(|name| name.as_str()));
    no_paths.extend(without_path(View::Machines, machines.keys().map(|name| name.as_str())));
    if !no_paths.is_empty() {
        return Err(TreeFault::NoPaths(no_paths));
    }
    let place = Place::of(target)?;
    place.check_target()?;
    let _lock = place.lock()?;
    let before = place.current()?.map(|name| place.folder(&name));
    let mut tree = Tree { folder: place.unfinished()?, before, written: BTreeSet::new() };
    let written = tree.write(builders, &machines, blob).and_then(|()| tree.sync());
    if let Err(fault) = written {
        // Best effort: the first fault is the one to report.
        fs::remove_dir_all(&tree.folder).ok();
        return Err(fault);
    }
    let folder = place.finish(&tree.folder, generation)?;
    place.swap(&folder)?;
    place.remove_outdated(&folder)
}

/// The files of one export, in its new folder.
struct Tree {
    folder: PathBuf,
    /// The folder in force, if there is one.
    before: Option<PathBuf>,
    /// Files and folders, to be synced when all are written.
    written: BTreeSet<PathBuf>,
}

impl Tree {
    fn write(&mut self, builders: &Builders, machines: &ByMachine, blob: Option<&[u8]>) -> Result<(), TreeFault> {
        for folder in ["v1/builders", "v1/machines", "v1/allocated"] {
            self.make_folder(&self.folder.join(folder))?;
        }
        for (builder, list) in builders {
            let list = json(&MachineList { machines: BTreeSet::from_iter(list) });
            self.write_file(&format!("v1/builders/{builder}"), &list)?;
        }
        for (machine, list) in machines {
            self.write_file(&format!("v1/machines/{machine}"), &json(&BuilderList { builders: list }))?;
        }
        let all = json(&MachineList { machines: machines.keys().collect() });
        self.write_file("v1/allocated/all", &all)?;
        blob.map_or(Ok(()), |blob| self.write_file("v1/allocations", blob))
    }

    /// Makes the folder and those above it that are missing.
    fn make_folder(&mut self, path: &Path) -> Result<(), TreeFault> {
        fs::create_dir_all(path).map_err(TreeFault::io("make the folder", path))?;
        let ours = path.ancestors().take_while(|folder| folder.starts_with(&self.folder));
        self.written.extend(ours.map(Path::to_owned));
        Ok(())
    }

    fn write_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), TreeFault> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent().filter(|folder| !self.written.contains(*folder)) {
            self.make_folder(folder)?;
        }
        if self.link_unchanged(name, bytes, &path) {
            return Ok(());
        }
        // A new file, so that names which this file system holds for equal do not overwrite each other.
        let file = File::create_new(&path).and_then(|mut file| file.write_all(bytes));
        file.map_err(TreeFault::io("write", &path))?;
        self.written.insert(path);
        Ok(())
    }

    /// Whether the file could be taken over from the folder in force. Its
    /// bytes are compared, so that a damaged or edited file is written anew.
    fn link_unchanged(&self, name: &str, bytes: &[u8], path: &Path) -> bool {
        let Some(before) = &self.before else { return false };
        let was = before.join(name);
        fs::read(&was).is_ok_and(|found| found == bytes) && fs::hard_link(&was, path).is_ok()
    }

    /// After all is written: the first sync of a file system carries most of
    /// the rest with it, so this is far cheaper than a sync after each file.
    fn sync(&self) -> Result<(), TreeFault> {
        self.written.iter().try_for_each(|path| sync(path))?;
        self.folder.parent().map_or(Ok(()), sync)
    }
}

#[derive(Serialize)]
struct MachineList<'a> {
    machines: BTreeSet<&'a WorkerName>,
}

#[derive(Serialize)]
struct BuilderList<'a> {
    builders: &'a BTreeSet<BuilderName>,
}

fn json(list: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(list).expect("a list of texts is always JSON");
    text.push(b'\n');
    text
}
