//! A look at a static tree from outside: cheap enough to repeat every few seconds, and enough to see that it changed.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::TreeFault;
use super::read::{all_file, files_below, find_v1, is_folder, machines_folder};

/// Which files a tree has, and what the file system says of each. Two equal
/// looks some time apart are of the same tree; a change within the file
/// system's clock tick of the first look may be missed by it alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look(BTreeMap<PathBuf, Stamp>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    /// A tree that is swapped has other files under the same paths.
    inode: (u64, u64),
    size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    /// Changes even where a tool sets the time of modification back.
    changed: (i64, i64),
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Self {
            inode: (found.dev(), found.ino()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// Looks at every file that [`read`](super::read()) would read.
///
/// # Errors
/// The first path that cannot be looked at, also because it has just gone.
pub fn look(folder: &Path) -> Result<Look, TreeFault> {
    let v1 = find_v1(folder)?;
    let mut files = files_below(&v1.join("builders"))?;
    if is_folder(&machines_folder(&v1))? {
        files.extend(files_below(&machines_folder(&v1))?);
    }
    let all = all_file(&v1);
    match fs::metadata(&all) {
        Ok(found) => drop(files.insert(all, found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(TreeFault::io("look at", &all)(error)),
    }
    Ok(Look(files.iter().map(|(path, found)| (path.clone(), Stamp::from(found))).collect()))
}
