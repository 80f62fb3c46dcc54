//! Where exported trees live: one folder a generation, and a symlink that is swapped from one to the next.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::TreeFault;
use crate::domain::allocator::Generation;

/// A folder stays for so long after another one took its place, since readers
/// may hold it: a web server does for a request, a copying program for as long
/// as it copies. The folder before the one in force always stays.
const GRACE: Duration = Duration::from_secs(60);

/// Where a tree goes: `target` in `parent`, and `generations` beside it.
pub(super) struct Place {
    target: PathBuf,
    parent: PathBuf,
    generations: PathBuf,
    /// `generations` as seen from `parent`.
    generations_name: OsString,
}

impl Place {
    pub(super) fn of(target: &Path) -> Result<Self, TreeFault> {
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
    pub(super) fn check_target(&self) -> Result<(), TreeFault> {
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
    pub(super) fn current(&self) -> Result<Option<OsString>, TreeFault> {
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

    /// The path of one of our folders.
    pub(super) fn folder(&self, name: &OsStr) -> PathBuf {
        self.generations.join(name)
    }

    /// Held until the file is dropped: two exports at once would remove each other's folders.
    pub(super) fn lock(&self) -> Result<File, TreeFault> {
        fs::create_dir_all(&self.generations).map_err(TreeFault::io("make the folder", &self.generations))?;
        let path = self.generations.join("lock");
        let file = File::create(&path).map_err(TreeFault::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(TreeFault::Busy(self.target.clone())),
            Err(TryLockError::Error(error)) => Err(TreeFault::io("lock", &path)(error)),
        }
    }

    /// An empty folder to write a tree in; what a crash left in it is removed.
    pub(super) fn unfinished(&self) -> Result<PathBuf, TreeFault> {
        let path = self.generations.join("unfinished");
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(TreeFault::io("remove", &path)(error)),
            Ok(()) | Err(_) => {}
        }
        fs::create_dir(&path).map_err(TreeFault::io("make the folder", &path))?;
        Ok(path)
    }

    /// Names a whole tree `<generation>-<n>`, with the first `n` that is free.
    pub(super) fn finish(&self, unfinished: &Path, generation: Generation) -> Result<OsString, TreeFault> {
        for number in 1_u64.. {
            let name = OsString::from(format!("{generation}-{number}"));
            let path = self.folder(&name);
            match fs::symlink_metadata(&path) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::rename(unfinished, &path).map_err(TreeFault::io("name the new folder", &path))?;
                    return Ok(name);
                }
                Err(error) => return Err(TreeFault::io("look at", &path)(error)),
            }
        }
        unreachable!("no file system holds so many folders")
    }

    /// Points the target to the folder.
    pub(super) fn swap(&self, folder: &OsStr) -> Result<(), TreeFault> {
        let next = self.generations.join("next");
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(TreeFault::io("remove", &next)(error)),
            Ok(()) | Err(_) => {}
        }
        let link = Path::new(&self.generations_name).join(folder);
        symlink(link, &next).map_err(TreeFault::io("make the symlink", &next))?;
        if self.current()?.is_none() && self.target.exists() {
            // The empty folder: a rename puts a symlink in the place of anything but that.
            fs::remove_dir(&self.target).map_err(TreeFault::io("remove", &self.target))?;
        }
        fs::rename(&next, &self.target).map_err(TreeFault::io("swap the symlink", &self.target))?;
        sync(&self.generations)?;
        sync(&self.parent)
    }

    /// Removes the folders that were replaced more than [`GRACE`] ago.
    ///
    /// A folder's time is that of its making, and it was replaced when the one
    /// after it was made. Only the file system's own times are compared, so no
    /// other clock has to agree with them.
    pub(super) fn remove_outdated(&self, in_force: &OsStr) -> Result<(), TreeFault> {
        let mut folders = self.folders()?;
        folders.sort();
        let Some((now, _)) = folders.iter().find(|(_, name)| name == in_force).cloned() else { return Ok(()) };
        for pair in folders.windows(2) {
            let [(_, name), (replaced_at, _)] = pair else { continue };
            let outdated = now.duration_since(*replaced_at).is_ok_and(|since| since > GRACE);
            if outdated && name != in_force {
                let path = self.folder(name);
                fs::remove_dir_all(&path).map_err(TreeFault::io("remove the old folder", &path))?;
            }
        }
        Ok(())
    }

    fn folders(&self) -> Result<Vec<(SystemTime, OsString)>, TreeFault> {
        let list = TreeFault::io("list", &self.generations);
        let entries: Vec<_> = fs::read_dir(&self.generations).and_then(Iterator::collect).map_err(list)?;
        let ours = entries.into_iter().filter(|entry| is_folder_name(&entry.file_name()));
        let with_time = ours.map(|entry| {
            let made = entry.metadata().and_then(|found| found.modified());
            Ok((made.map_err(TreeFault::io("look at", &entry.path()))?, entry.file_name()))
        });
        with_time.collect()
    }
}

fn is_folder_name(name: &OsStr) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.to_str().and_then(|name| name.split_once('-'));
    parts.is_some_and(|(generation, number)| is_number(generation) && is_number(number))
}

/// Takes files and folders alike.
pub(super) fn sync(path: &Path) -> Result<(), TreeFault> {
    File::open(path).and_then(|file| file.sync_all()).map_err(TreeFault::io("sync", path))
}
