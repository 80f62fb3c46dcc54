//! The project's Rust files, as the rules read them.

use std::fs;
use std::path::Path;

use super::tokens::{self, Token};

/// The folders that hold our Rust files.
const FOLDERS: [&str; 3] = ["src", "tests", "benches"];

/// One Rust file.
pub(super) struct Source {
    /// From the project's root, with `/` between its parts.
    pub path: String,
    pub text: String,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// The code, without comments, texts and lifetimes.
    pub(super) fn tokens(&self) -> Vec<Token<'_>> {
        tokens::scan(&self.text)
    }

    /// Where the file stands in the crate: `src/domain/fleet/mod.rs` is
    /// `["domain", "fleet"]`. `None` outside `src`; the crate's root is empty.
    pub(super) fn module(&self) -> Option<Vec<&str>> {
        let inside = self.path.strip_prefix("src/")?.strip_suffix(".rs")?;
        let mut module: Vec<&str> = inside.split('/').collect();
        let is_root = matches!(module[..], ["lib" | "main"]);
        if is_root || module.last() == Some(&"mod") {
            module.pop();
        }
        Some(module)
    }

    /// A file of unit tests only.
    pub(super) fn is_test(&self) -> bool {
        self.module().is_none_or(|module| module.contains(&"tests"))
    }
}

/// Every Rust file of the project, in the order of their paths.
pub(super) fn all() -> Vec<Source> {
    let root = &crate::suite::in_checkout("");
    let mut sources = Vec::new();
    for folder in FOLDERS {
        gather(root, &root.join(folder), &mut sources);
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.iter().any(|source| source.path == "src/lib.rs"), "{} is not the project", root.display());
    sources
}

fn gather(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let inside = path.strip_prefix(root).unwrap().to_str().unwrap();
            sources.push(Source::new(inside, &fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn a_file_knows_its_module() {
    let module = |path| Source::new(path, "").module().map(|module| module.join("::"));
    assert_eq!(module("src/domain/fleet/mod.rs").unwrap(), "domain::fleet");
    assert_eq!(module("src/domain/fleet/diff.rs").unwrap(), "domain::fleet::diff");
    assert_eq!(module("src/ports.rs").unwrap(), "ports");
    assert_eq!(module("src/lib.rs").unwrap(), "");
    assert_eq!(module("tests/main.rs"), None);
}
