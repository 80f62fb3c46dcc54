//! Snapshots as files: written beside, synced, then renamed, with a check line at the end.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::ports::{Fault, Snapshots};

/// The format that is written, and the newest that is read.
const FORMAT: u32 = 1;

/// So many bytes are synced at a time while a snapshot is written: one large sync
/// at the end would hold up the journal's syncs on the same disk.
const SYNC_EVERY: u64 = 4 << 20;

/// A folder of `<record number>.json` files.
pub struct SnapshotFiles {
    folder: PathBuf,
    keep: usize,
}

/// The last line of a file.
#[derive(Serialize, Deserialize)]
struct CheckLine {
    format: u32,
    seq: u64,
    bytes: u64,
    crc32: u32,
}

impl SnapshotFiles {
    /// Makes the folder if need be; `keep` newest snapshots stay, at least one.
    pub fn open(folder: &Path, keep: usize) -> Result<Self, Fault> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { folder: folder.to_owned(), keep: keep.max(1) })
    }

    fn path(&self, seq: u64) -> PathBuf {
        self.folder.join(format!("{seq:020}.json"))
    }

    fn write(
        &self,
        path: &Path,
        seq: u64,
        state: &mut dyn FnMut(&mut dyn Write) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let file = File::create(path)?;
        let mut to = Checked { file: &file, bytes: 0, crc: crc32fast::Hasher::new() };
        state(&mut to)?;
        let check = CheckLine { format: FORMAT, seq, bytes: to.bytes, crc32: to.crc.finalize() };
        writeln!(to.file, "\n{}", serde_json::to_string(&check)?)?;
        Ok(file.sync_all()?)
    }
}

impl Snapshots for SnapshotFiles {
    fn keep(&mut self, seq: u64, state: &mut dyn FnMut(&mut dyn Write) -> Result<(), Fault>) -> Result<(), Fault> {
        let unfinished = self.folder.join("unfinished");
        let written = self.write(&unfinished, seq, state);
        if let Err(fault) = written {
            fs::remove_file(&unfinished).ok();
            return Err(fault.context(format!("cannot write {}", unfinished.display())));
        }
        fs::rename(&unfinished, self.path(seq))?;
        File::open(&self.folder)?.sync_all()?;
        for old in self.list()?.into_iter().skip(self.keep) {
            fs::remove_file(self.path(old))?;
        }
        Ok(())
    }

    fn list(&self) -> Result<Vec<u64>, Fault> {
        let mut seqs = Vec::new();
        for entry in fs::read_dir(&self.folder).with_context(|| format!("cannot read {}", self.folder.display()))? {
            let name = entry?.file_name();
            let seq = name.to_str().and_then(|name| name.strip_suffix(".json")).and_then(|seq| seq.parse().ok());
            seqs.extend::<Option<u64>>(seq);
        }
        seqs.sort_unstable_by(|a, b| b.cmp(a));
        Ok(seqs)
    }

    fn read(&self, seq: u64) -> Result<Vec<u8>, Fault> {
        let path = self.path(seq);
        let mut content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let body = sound_body(&content, seq).with_context(|| path.display().to_string())?;
        content.truncate(body);
        Ok(content)
    }
}

/// The length of the state in a file's content, if the check line vouches for it.
fn sound_body(content: &[u8], seq: u64) -> Result<usize, Fault> {
    let trimmed = content.strip_suffix(b"\n").context("it has no check line")?;
    let end = trimmed.iter().rposition(|byte| *byte == b'\n').context("it has no check line")?;
    let check: CheckLine = serde_json::from_slice(&trimmed[end + 1..]).context("its check line is not one")?;
    if check.format > FORMAT {
        bail!("it has format {}, this program reads up to {FORMAT}", check.format);
    }
    let body = &trimmed[..end];
    if check.seq != seq || check.bytes != body.len() as u64 || check.crc32 != crc32fast::hash(body) {
        bail!("its check line does not fit its content");
    }
    Ok(end)
}

/// Counts, sums and syncs what goes through it; expects large pieces.
struct Checked<'a> {
    file: &'a File,
    bytes: u64,
    crc: crc32fast::Hasher,
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.crc.update(&bytes[..written]);
        let synced = self.bytes / SYNC_EVERY;
        self.bytes += written as u64;
        if self.bytes / SYNC_EVERY > synced {
            self.file.sync_data()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
