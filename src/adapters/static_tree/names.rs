//! Which names can be paths of files: a `/` becomes a folder, so that a web server answers it raw and encoded alike.

use std::collections::BTreeSet;
use std::fmt;

use super::View;

/// The longest part of a path that Linux file systems take.
const MAX_COMPONENT_BYTES: usize = 255;

/// A name that no path can stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPath {
    pub view: View,
    pub name: String,
    pub reason: Reason,
}

/// Why a name has no path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It begins or ends with `/`, or has `//` in it.
    EmptyComponent,
    /// A part of it is `.` or `..`.
    DotComponent,
    /// A part of it has more bytes than a file's name can have.
    LongComponent { bytes: usize },
    /// This other name would have to be both a file and the folder of this one.
    InsideOf(String),
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.view {
            View::Builders => "builder",
            View::Machines => "machine",
            View::All => "name",
        };
        write!(f, "{kind} {:?}: ", self.name)?;
        match &self.reason {
            Reason::EmptyComponent => f.write_str("there is nothing before, after or between its slashes"),
            Reason::DotComponent => f.write_str("\".\" and \"..\" are folders of their own"),
            Reason::LongComponent { bytes } => {
                write!(f, "a part of a path has at most {MAX_COMPONENT_BYTES} bytes, one of this has {bytes}")
            }
            Reason::InsideOf(other) => write!(f, "it needs a folder {other:?}, but that is the file of another {kind}"),
        }
    }
}

/// Every name of the view that has no path; none means that all can be written side by side.
pub(super) fn without_path<'a>(view: View, names: impl Iterator<Item = &'a str>) -> Vec<NoPath> {
    let names: BTreeSet<&str> = names.collect();
    let reason_of = |name: &str| {
        let components = || name.split('/');
        let longest = components().map(str::len).max().unwrap_or(0);
        if components().any(str::is_empty) {
            Some(Reason::EmptyComponent)
        } else if components().any(|part| part == "." || part == "..") {
            Some(Reason::DotComponent)
        } else if longest > MAX_COMPONENT_BYTES {
            Some(Reason::LongComponent { bytes: longest })
        } else {
            let mut folders = name.match_indices('/').map(|(at, _)| &name[..at]);
            folders.find(|folder| names.contains(folder)).map(|folder| Reason::InsideOf(folder.to_owned()))
        }
    };
    let found =
        names.iter().filter_map(|name| Some(NoPath { view, name: (*name).to_owned(), reason: reason_of(name)? }));
    found.collect()
}
