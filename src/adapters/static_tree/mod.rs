//! The static tree that masters can be served from by any web server: `v1/builders/*`, `v1/machines/*`, `v1/allocated/all`.

mod look;
mod names;
mod place;
mod read;
mod views;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use look::{Look, look};
pub use names::{NoPath, Reason};
pub use read::{StaticTree, read};
pub use views::{Disagreement, View};
pub use write::write;

use crate::domain::BadName;

/// Why a tree cannot be read or written. A tree that cannot be written leaves the one before it in place.
#[derive(Debug, Error)]
pub enum TreeFault {
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is no static tree: it has neither v1/builders nor builders", .0.display())]
    NotATree(PathBuf),
    #[error("{}, line {line}, column {column}: {problem}", path.display())]
    Content { path: PathBuf, line: usize, column: usize, problem: String },
    #[error("{}: its path is no name of a builder or machine", path.display())]
    Name { path: PathBuf, source: BadName },
    #[error("{} is neither a file nor a folder", .0.display())]
    Odd(PathBuf),
    #[error("{} name(s) cannot be paths of files, so nothing is written:\n{}", .0.len(), list(.0))]
    NoPaths(Vec<NoPath>),
    #[error("{} names no folder to write: give the path of a folder that does not exist yet", .0.display())]
    NoFolderName(PathBuf),
    #[error("{} is {what}, which an export never replaces: move it away, or choose another folder", path.display())]
    Taken { path: PathBuf, what: &'static str },
    #[error("another export to {} is running: try again when it is done", .0.display())]
    Busy(PathBuf),
}

impl TreeFault {
    /// For `map_err`: what was being done to which path.
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

fn list(faults: &[NoPath]) -> String {
    let lines: Vec<_> = faults.iter().map(|fault| format!("  {fault}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests;
