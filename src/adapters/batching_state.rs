//! The state file of a scheduler: the newest batches, and its last decision beside them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::whole_file;
use crate::domain::batching::{Batch, History, Parameters, PushId};

/// What is written. Only the batches are read again: they are the state.
#[derive(Debug, Serialize)]
pub struct StateFile<'a> {
    pub batches: Vec<&'a Batch>,
    pub batched: bool,
    pub cold_start: bool,
    pub score: Option<f64>,
    pub replayed_from: Option<PushId>,
    pub strategy: &'static str,
    pub config: &'a Parameters,
    /// Of the commits of the push that was decided; null for those without.
    pub risk_prediction: BTreeMap<&'a str, Option<f64>>,
}

#[derive(Deserialize)]
struct Read {
    batches: Vec<Batch>,
}

/// Keeps other runs from recording meanwhile, until it is dropped. The folder
/// is locked, since the file itself is replaced.
///
/// # Errors
/// A folder that cannot be opened or locked.
pub fn lock(path: &Path) -> anyhow::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let locked = File::open(folder).and_then(|file| file.lock().map(|()| file));
    locked.with_context(|| format!("cannot lock {}", folder.display()))
}

/// The recorded batches; none if there is no such file yet.
///
/// # Errors
/// A file that cannot be read, or is no state.
pub fn read(path: &Path) -> anyhow::Result<History> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(History::default()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let Read { batches } = serde_json::from_slice(&text).with_context(|| format!("{} is no state", path.display()))?;
    Ok(batches.into_iter().collect())
}

/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, state: &StateFile<'_>) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec(state)?;
    text.push(b'\n');
    whole_file::replace(path, &text).with_context(|| format!("cannot write {}", path.display()))
}
