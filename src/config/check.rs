//! `jacuzzi config check`: are these files fit to be used, and if not, what is wrong with them?

use std::path::{Path, PathBuf};

use super::farm_file::FarmFile;
use super::fault::{Faults, Place};
use super::node::{Node, Value};
use super::settings::Settings;
use super::toml_file;
use crate::domain::fleet::{Definition, Fleet};

const FARM_KEYS: [&str; 6] = ["farm", "pools", "workers", "branches", "builders", "allocations"];
const SERVER_KEYS: [&str; 4] = ["server", "data", "limits", "log"];

/// Checks farm files and server files, told apart by their sections. Gives a
/// line a file if all are sound, else all faults of all files, a line each.
pub fn check(files: &[PathBuf]) -> Result<String, String> {
    let (mut sound, mut faulty) = (Vec::new(), Vec::new());
    for file in files {
        match check_one(file) {
            Ok(summary) => sound.push(format!("{}: {summary}", file.display())),
            Err(faults) => faulty.push(faults.to_string()),
        }
    }
    if faulty.is_empty() { Ok(sound.join("\n")) } else { Err(faulty.join("\n")) }
}

fn check_one(file: &Path) -> Result<String, Faults> {
    let root = toml_file::read(file)?;
    if has_any(&root, &FARM_KEYS) {
        FarmFile::from_node(&root, file.parent()).map(|farm| summary(farm.definition))
    } else if has_any(&root, &SERVER_KEYS) {
        // The file alone: this shell's environment says nothing about the server's.
        Settings::from_layers(Some(&root), [], &[]).map(|_| "a sound server file".to_owned())
    } else {
        let place = Place::Named(file.display().to_string().into());
        Err(Faults::one(
            place,
            format!(
                "neither a farm file (it would have {}) nor a server file ({})",
                FARM_KEYS.join(", "),
                SERVER_KEYS.join(", ")
            ),
        ))
    }
}

fn has_any(root: &Node, keys: &[&str]) -> bool {
    matches!(&root.value, Value::Table(entries) if keys.iter().any(|key| entries.contains_key(*key)))
}

fn summary(farm: Definition) -> String {
    let (pools, branches, rules) = (farm.pools.len(), farm.branches.len(), farm.builders.len());
    let workers = Fleet::from(farm).workers().len();
    format!("a sound farm file (pools: {pools}, workers: {workers}, branches: {branches}, builder rules: {rules})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_and_all_their_faults_listed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let farm = write("farm.toml", b"[farm]\nname = 'x'\n[[pools]]\nname = 'p'\nworkers = ['w{1..3}']\n");
        let server = write("server.toml", b"[log]\nformat = 'json'\n");
        let sound = check(&[farm.clone(), server]).unwrap();
        assert!(
            sound.contains("farm.toml: a sound farm file (pools: 1, workers: 3, branches: 0, builder rules: 0)"),
            "{sound}"
        );
        assert!(sound.ends_with("server.toml: a sound server file"), "{sound}");

        let bad = [
            farm,
            write("bad.toml", b"[log]\nformat = 'xml'\n"),
            write("other.toml", b"[package]\n"),
            write("latin1.toml", b"[farm]\nname = 'caf\xe9'\n"),
            folder.path().join("absent.toml"),
        ];
        let faults = check(&bad).unwrap_err();
        let parts = [
            "bad.toml:2:10: log.format: \"xml\" is not a log format (text or json)",
            "other.toml: neither a farm file",
            "latin1.toml:2:12: the file is not UTF-8 from here on",
            "absent.toml: cannot be read: No such file",
        ];
        assert_eq!(faults.lines().count(), parts.len(), "{faults}");
        for (line, part) in faults.lines().zip(parts) {
            assert!(line.contains(part), "{line} lacks {part}");
        }
    }
}
