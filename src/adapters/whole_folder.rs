//! Makes a folder in one step: it is there with all that belongs into it, or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, bail};

/// Fills a new folder beside `path` and renames it to `path`, which must not
/// exist or be an empty folder; folders above it are made. `fill` makes its
/// files durable itself.
///
/// # Errors
/// What `fill` says, what the file system says, or that `path` is taken;
/// nothing new is there then.
pub fn create<T>(path: &Path, fill: impl FnOnce(&Path) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let name = path.file_name().with_context(|| format!("{} names no new folder", path.display()))?;
    if path.symlink_metadata().is_ok() && !fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
        bail!("{} is not an empty folder: name a new one, or remove it first", path.display());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    let mut new_name = OsString::from(".");
    new_name.push(name);
    new_name.push(format!(".{}", std::process::id()));
    let new = path.with_file_name(new_name);
    fs::create_dir(&new).with_context(|| new.display().to_string())?;
    let filled = fill(&new).and_then(|value| {
        File::open(&new)?.sync_all()?;
        fs::rename(&new, path).with_context(|| path.display().to_string())?;
        File::open(parent)?.sync_all()?;
        Ok(value)
    });
    if filled.is_err() {
        // Best effort: the first error is the one to report.
        fs::remove_dir_all(&new).ok();
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_there_whole_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("above/made");
        let fill = |new: &Path| Ok(fs::write(new.join("file"), "text")?);
        let broken = create(&path, |new| fill(new).and_then(|()| -> anyhow::Result<()> { bail!("the disk is full") }));
        assert_eq!(broken.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read_dir(home.path().join("above")).unwrap().count(), 0);

        fs::create_dir(&path).unwrap();
        create(&path, fill).unwrap();
        assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "text");
        assert_eq!(fs::read_dir(home.path().join("above")).unwrap().count(), 1);

        for taken in [path.clone(), path.join("file")] {
            let refused = create(&taken, fill).unwrap_err().to_string();
            assert!(refused.contains("is not an empty folder"), "{refused}");
        }
        assert!(create(Path::new(".."), fill).unwrap_err().to_string().contains("names no new folder"));
    }
}
