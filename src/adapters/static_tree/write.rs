//! Writes a static tree so that a reader sees the old one or the new one: a new folder first, then a symlink is swapped.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::names::without_path;
use super::views::{ByMachine, by_machine};
use super::{TreeFault, View};
use crate::domain::allocator::{Builders, Generation};
use crate::domain::{BuilderName, WorkerName};

/// Writes the tree of one generation to `target`, which becomes a symlink to a
/// new folder in `<target>.generations`, beside it. The folder that `target`
/// was before stays, for readers that hold it; older ones are removed.
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
    let folder = place.new_folder(generation)?;
    let mut tree = Tree { folder: place.generations.join(&folder), written: BTreeSet::new() };
    let written = tree.write(builders, &machines, blob).and_then(|()| tree.sync());
    if let Err(fault) = written {
        // Best effort: the first fault is the one to report.
        fs::remove_dir_all(&tree.folder).ok();
        return Err(fault);
    }
    let before = place.swap(&folder)?;
    place.remove_all_but([Some(folder), before])
}

/// Where a tree goes: `target` in `parent`, and `generations` beside it.
struct Place {
    target: PathBuf,
    parent: PathBuf,
    generations: PathBuf,
    /// `generations` as seen from `parent`.
    generations_name: OsString,
}

impl Place {
    fn of(target: &Path) -> Result<Self, TreeFault> {
        let name = target.file_name().ok_or_else(|| TreeFault::NoFolderName(target.to_owned()))?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut generations_name = name.to_owned();
        generations_name.push(".generations");
        Ok(Self {
            target: parent.join(name),
            parent: parent.to_owned(),
            generations: parent.join(&generations_name),
            generations_name,
        })
    }

    /// The target may be absent, an empty folder, or a symlink that we made.
    fn check_target(&self) -> Result<(), TreeFault> {
        let path = &self.target;
        let taken = |what| Err(TreeFault::Taken { path: path.clone(), what });
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(TreeFault::io("look at", path)(error)),
        };
        if found.is_symlink() {
            let ours = self.current()?.is_some();
            return if ours { Ok(()) } else { taken("a symlink that no export made") };
        }
        if !found.is_dir() {
            return taken("a file");
        }
        let empty = fs::read_dir(path).map_err(TreeFault::io("list", path))?.next().is_none();
        if empty { Ok(()) } else { taken("a folder with something in it that no export made") }
    }

    /// The folder that the target's symlink names, if that is one of ours.
    fn current(&self) -> Result<Option<OsString>, TreeFault> {
        match fs::read_link(&self.target) {
            Ok(link) if link.parent() == Some(Path::new(&self.generations_name)) => {
                Ok(link.file_name().map(OsStr::to_owned))
            }
            Ok(_) => Ok(None),
            // No symlink, or nothing at all.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => Ok(None),
            Err(error) => Err(TreeFault::io("look at", &self.target)(error)),
        }
    }

    /// Held until the file is dropped: two exports at once would remove each other's folders.
    fn lock(&self) -> Result<File, TreeFault> {
        fs::create_dir_all(&self.generations).map_err(TreeFault::io("make the folder", &self.generations))?;
        let path = self.generations.join("lock");
        let file = File::create(&path).map_err(TreeFault::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(TreeFault::Busy(self.target.clone())),
            Err(TryLockError::Error(error)) => Err(TreeFault::io("lock", &path)(error)),
        }
    }

    /// `<generation>-<n>`, with the first `n` that is free.
    fn new_folder(&self, generation: Generation) -> Result<OsString, TreeFault> {
        for number in 1_u64.. {
            let name = OsString::from(format!("{generation}-{number}"));
            let path = self.generations.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(TreeFault::io("make the folder", &path)(error)),
            }
        }
        unreachable!("no file system holds so many folders")
    }

    /// Points the target to the folder; answers the folder that it named before.
    fn swap(&self, folder: &OsStr) -> Result<Option<OsString>, TreeFault> {
        let before = self.current()?;
        let next = self.generations.join("next");
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(TreeFault::io("remove", &next)(error)),
            Ok(()) | Err(_) => {}
        }
        let link = Path::new(&self.generations_name).join(folder);
        symlink(link, &next).map_err(TreeFault::io("make the symlink", &next))?;
        if before.is_none() && self.target.exists() {
            // The empty folder: a rename puts a symlink in the place of anything but that.
            fs::remove_dir(&self.target).map_err(TreeFault::io("remove", &self.target))?;
        }
        fs::rename(&next, &self.target).map_err(TreeFault::io("swap the symlink", &self.target))?;
        sync(&self.generations)?;
        sync(&self.parent)?;
        Ok(before)
    }

    /// Removes every other folder of ours, also what a crash left half written.
    fn remove_all_but(&self, keep: [Option<OsString>; 2]) -> Result<(), TreeFault> {
        let list = TreeFault::io("list", &self.generations);
        let entries: Vec<_> = fs::read_dir(&self.generations).and_then(Iterator::collect).map_err(list)?;
        for entry in entries {
            let name = entry.file_name();
            if is_folder_name(&name) && !keep.contains(&Some(name)) {
                let path = entry.path();
                fs::remove_dir_all(&path).map_err(TreeFault::io("remove the old folder", &path))?;
            }
        }
        Ok(())
    }
}

fn is_folder_name(name: &OsStr) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.to_str().and_then(|name| name.split_once('-'));
    parts.is_some_and(|(generation, number)| is_number(generation) && is_number(number))
}

/// The files of one export, in its new folder.
struct Tree {
    folder: PathBuf,
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

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), TreeFault> {
        let path = self.folder.join(path);
        if let Some(folder) = path.parent().filter(|folder| !self.written.contains(*folder)) {
            self.make_folder(folder)?;
        }
        // A new file, so that names which this file system holds for equal do not overwrite each other.
        let file = File::create_new(&path).and_then(|mut file| file.write_all(bytes));
        file.map_err(TreeFault::io("write", &path))?;
        self.written.insert(path);
        Ok(())
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

/// Takes files and folders alike.
fn sync(path: &Path) -> Result<(), TreeFault> {
    File::open(path).and_then(|file| file.sync_all()).map_err(TreeFault::io("sync", path))
}
