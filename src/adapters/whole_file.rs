//! Replaces a file in one step: a reader, and a crash, find the old one or the new one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Writes `bytes` beside `path`, makes them durable, and renames them to `path`.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with_mode(path, bytes, 0o666)
}

/// The same for what only its owner may read.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with_mode(path, bytes, 0o600)
}

fn replace_with_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let mut new_name = OsString::from(".");
    new_name.push(name);
    new_name.push(format!(".{}", std::process::id()));
    let new = path.with_file_name(new_name);
    let written = write_durably(&new, bytes, mode).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // Best effort: the first error is the one to report.
        fs::remove_file(&new).ok();
    }
    written?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn write_durably(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
