//! The data folder: one process's private place on disk, held by a lock for as long as it runs.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::snapshot_files::SnapshotFiles;
use super::sqlite::SqliteJournal;
use super::whole_file;
use crate::ports::Fault;

/// The file that holds a fresh operator token for the people on this machine.
pub const TOKEN_FILE: &str = "operator.token";

/// Held by the process that uses the folder.
const LOCK_FILE: &str = "lock";

/// A data folder that is ours until this is dropped.
pub struct DataFolder {
    path: PathBuf,
    /// Held for its lock.
    _lock: File,
}

impl DataFolder {
    /// Makes the folder if need be and takes its lock; a folder that another
    /// process holds is refused.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let shown = path.display();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("cannot make the data folder {shown}"))?;
        let lock_path = path.join(LOCK_FILE);
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock_path)
            .with_context(|| format!("cannot open {}", lock_path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                lock.read_to_string(&mut holder).ok();
                bail!(
                    "the data folder {shown} is in use by another jacuzzi (process {}): stop that one, or name another folder with --data-dir",
                    holder.trim()
                );
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context(format!("cannot lock {}", lock_path.display()));
            }
        }
        lock.set_len(0)?;
        write!(lock, "{}", std::process::id())?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The journal in it, made if need be; refused where a restore was cut short.
    pub fn journal(&self) -> Result<SqliteJournal, Fault> {
        if unfinished_restore(&self.path).exists() {
            let shown = self.path.display();
            bail!("a restore into {shown} was cut short: run `jacuzzi restore` into it again");
        }
        SqliteJournal::open(&journal_path(&self.path))
    }

    /// The place for its snapshots; keeps the newest `keep` of them.
    pub fn snapshots(&self, keep: usize) -> Result<SnapshotFiles, Fault> {
        SnapshotFiles::open(&self.path.join("snapshots"), keep)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The operator token that a start left here.
    pub fn operator_token(&self) -> Result<Option<String>, Fault> {
        read_token(&self.path.join(TOKEN_FILE))
    }

    /// Leaves a token for the people on this machine; its file is readable by its owner alone.
    pub fn leave_operator_token(&self, token: &str) -> Result<(), Fault> {
        let path = self.path.join(TOKEN_FILE);
        let line = format!("{token}\n");
        whole_file::replace_private(&path, line.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// What a restore writes before all of it is there.
pub fn unfinished_restore(folder: &Path) -> PathBuf {
    folder.join("restoring.sqlite")
}

/// Nobody's: there is no folder, or nothing in it but what a restore that was cut short left.
pub fn is_free(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return true };
    let mut names = entries.filter_map(Result::ok).map(|entry| entry.file_name());
    let restoring = unfinished_restore(folder);
    names.all(|name| name == LOCK_FILE || restoring.file_name() == Some(&name))
}

/// The journal's file in a data folder.
pub fn journal_path(folder: &Path) -> PathBuf {
    folder.join("journal.sqlite")
}

/// The run history's file in a data folder.
pub fn runs_path(folder: &Path) -> PathBuf {
    folder.join("runs.sqlite")
}

/// A token file's content; `None` when there is no such file or it is empty.
pub fn read_token(path: &Path) -> Result<Option<String>, Fault> {
    match fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}
