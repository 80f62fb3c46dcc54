//! Replaces a file in one step: a reader, and a crash, find the old one or the new one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Writes `bytes` beside `path`, makes them durable, and renames them to `path`.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// The same for what is written piece by piece.
pub fn replace_with<E: From<io::Error>>(path: &Path, fill: impl FnOnce(&mut File) -> Result<(), E>) -> Result<(), E> {
    replace_with_mode(path, 0o666, fill)
}

/// The same for what only its owner may read.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with_mode(path, 0o600, |file| file.write_all(bytes))
}

fn replace_with_mode<E: From<io::Error>>(
    path: &Path,
    mode: u32,
    fill: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let mut new_name = OsString::from(".");
    new_name.push(name);
    new_name.push(format!(".{}", std::process::id()));
    let new = path.with_file_name(new_name);
    let written = write_durably(&new, mode, fill).and_then(|()| Ok(fs::rename(&new, path)?));
    if written.is_err() {
        // Best effort: the first error is the one to report.
        fs::remove_file(&new).ok();
    }
    written?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(File::open(folder)?.sync_all()?)
}

fn write_durably<E: From<io::Error>>(
    path: &Path,
    mode: u32,
    fill: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
    fill(&mut file)?;
    Ok(file.sync_all()?)
}
