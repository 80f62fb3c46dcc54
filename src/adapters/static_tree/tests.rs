//! Round trips, swaps and faults on real folders.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::domain::allocator::{Builders, Generation};
use crate::domain::{BuilderName, WorkerName};

fn builders(lists: &[(&str, &[&str])]) -> Builders {
    let machines = |names: &[&str]| names.iter().map(|name| WorkerName::parse(name).unwrap()).collect();
    lists.iter().map(|(builder, names)| (BuilderName::parse(builder).unwrap(), machines(names))).collect()
}

/// A tree under `v1`, file by file.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("v1/builders")).unwrap();
    for (path, text) in files {
        let path = folder.path().join("v1").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// What is beside an export, sorted.
fn generations(target: &Path) -> Vec<String> {
    let folder = PathBuf::from(format!("{}.generations", target.display()));
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "lock").collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_read_back() {
    let long = "é".repeat(127);
    let hostile = builders(&[
        ("Android API 11+ debug", &["w1", "w2"]),
        ("a/b", &["pool/w 3"]),
        ("a/c/d", &["w1"]),
        ("50%", &["..."]),
        (".hidden", &["w2"]),
        ("...", &["-"]),
        ("*?\"<>|\\:", &["w1"]),
        (" ", &["\u{202e}"]),
        (&long, &["w1"]),
    ]);
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out");
    write(&target, &hostile, Generation(7), Some(b"{}")).unwrap();
    for from in [target.clone(), target.join("v1")] {
        assert_eq!(read(&from).unwrap(), StaticTree { builders: hostile.clone(), disagreements: Vec::new() });
    }
    let text = |path: &str| fs::read_to_string(target.join("v1").join(path)).unwrap();
    assert_eq!(text("builders/a/b"), "{\n  \"machines\": [\n    \"pool/w 3\"\n  ]\n}\n");
    assert_eq!(text("machines/w2"), "{\n  \"builders\": [\n    \".hidden\",\n    \"Android API 11+ debug\"\n  ]\n}\n");
    assert!(text("allocated/all").contains("\"w1\",\n    \"w2\""));
    assert_eq!(text("allocations"), "{}");
}

#[test]
fn an_empty_generation_is_a_tree_too() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out/");
    write(&target, &Builders::new(), Generation(0), None).unwrap();
    assert_eq!(read(&target).unwrap(), StaticTree { builders: Builders::new(), disagreements: Vec::new() });
    assert!(!target.join("v1/allocations").exists());
}

#[test]
fn a_reader_of_the_old_tree_keeps_it_through_the_swap() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out");
    write(&target, &builders(&[("b", &["w1"])]), Generation(1), None).unwrap();
    let held = fs::canonicalize(&target).unwrap();
    write(&target, &builders(&[("b", &["w2"])]), Generation(2), None).unwrap();
    assert_eq!(read(&held).unwrap().builders, builders(&[("b", &["w1"])]));
    assert_eq!(read(&target).unwrap().builders, builders(&[("b", &["w2"])]));
    assert_eq!(generations(&target), ["1-1", "2-1"]);
    write(&target, &builders(&[("b", &["w3"])]), Generation(2), None).unwrap();
    assert_eq!(generations(&target), ["2-1", "2-2"], "the last two stay");
    assert!(fs::read_link(&target).unwrap().is_relative(), "the parent can be moved");
}

#[test]
fn what_a_crash_left_is_removed_by_the_next_export() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out");
    write(&target, &builders(&[("b", &["w1"])]), Generation(1), None).unwrap();
    let beside = folder.path().join("out.generations");
    fs::create_dir_all(beside.join("2-1/v1/builders")).unwrap();
    symlink("out.generations/2-1", beside.join("next")).unwrap();
    write(&target, &builders(&[("b", &["w2"])]), Generation(2), None).unwrap();
    assert_eq!(generations(&target), ["1-1", "2-2"]);
    assert_eq!(read(&target).unwrap().builders, builders(&[("b", &["w2"])]));
}

#[test]
fn an_export_replaces_only_what_an_export_made() {
    let folder = TempDir::new().unwrap();
    let list = builders(&[("b", &["w1"])]);
    let to = |name: &str| write(&folder.path().join(name), &list, Generation(1), None);
    fs::create_dir_all(folder.path().join("full/x")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    symlink("full", folder.path().join("link")).unwrap();
    for name in ["full", "file", "link"] {
        let fault = to(name).unwrap_err();
        assert!(matches!(&fault, TreeFault::Taken { path, .. } if path.ends_with(name)), "{fault}");
        assert!(!folder.path().join(format!("{name}.generations")).exists());
    }
    assert!(matches!(write(Path::new(".."), &list, Generation(1), None), Err(TreeFault::NoFolderName(_))));
    fs::create_dir(folder.path().join("empty")).unwrap();
    to("empty").unwrap();
    assert_eq!(read(&folder.path().join("empty")).unwrap().builders, list);
}

#[test]
fn two_exports_at_once_are_not_mixed() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out");
    fs::create_dir(folder.path().join("out.generations")).unwrap();
    let lock = fs::File::create(folder.path().join("out.generations/lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(write(&target, &Builders::new(), Generation(1), None), Err(TreeFault::Busy(_))));
    drop(lock);
    write(&target, &Builders::new(), Generation(1), None).unwrap();
}

#[test]
fn names_without_a_path_refuse_the_whole_export_with_all_of_them() {
    let long = "é".repeat(128);
    let list = builders(&[("a", &["/w"]), ("a/b", &["w//1"]), ("..", &["w/."]), (&long, &["w"]), ("fine", &["w/"])]);
    let folder = TempDir::new().unwrap();
    let fault = write(&folder.path().join("out"), &list, Generation(1), None).unwrap_err();
    let TreeFault::NoPaths(faults) = &fault else { panic!("{fault}") };
    let found: Vec<_> = faults.iter().map(|fault| (fault.name.as_str(), fault.reason.clone())).collect();
    let expected = [
        ("..", Reason::DotComponent),
        ("a/b", Reason::InsideOf("a".into())),
        (long.as_str(), Reason::LongComponent { bytes: 256 }),
        ("/w", Reason::EmptyComponent),
        ("w/", Reason::EmptyComponent),
        ("w/.", Reason::DotComponent),
        ("w//1", Reason::EmptyComponent),
    ];
    assert_eq!(found, expected);
    assert!(fault.to_string().contains("builder \"a/b\": it needs a folder \"a\""), "{fault}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn the_three_views_are_compared_both_ways() {
    let folder = tree(&[
        ("builders/b1", r#"{"machines": ["w1", "w2", "w2"]}"#),
        ("builders/b2", r#"{"machines": ["w3"]}"#),
        ("builders/none", r#"{"machines": []}"#),
        ("machines/w1", r#"{"builders": ["b1", "b2", "b3"]}"#),
        ("machines/w3", r#"{"builders": []}"#),
        ("allocated/all", r#"{"machines": ["w1", "w3", "w9"]}"#),
    ]);
    let read = read(folder.path()).unwrap();
    assert_eq!(read.builders, builders(&[("b1", &["w1", "w2", "w2"]), ("b2", &["w3"]), ("none", &[])]));
    let found: Vec<_> = read.disagreements.iter().map(ToString::to_string).collect();
    let expected = [
        r#"v1/builders/b1 lists machine "w2", but v1/machines/w2 does not exist"#,
        r#"v1/builders/b2 lists machine "w3", but v1/machines/w3 does not list that builder"#,
        r#"v1/machines/w1 lists builder "b2", but v1/builders/b2 does not list that machine"#,
        r#"v1/machines/w1 lists builder "b3", but v1/builders/b3 does not exist"#,
        r#"a builder's file lists machine "w2", but v1/allocated/all does not"#,
        r#"v1/allocated/all lists machine "w9", but no builder's file does"#,
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_missing_view_is_one_disagreement() {
    let folder = tree(&[("builders/b", r#"{"machines": ["w1", "w2"]}"#)]);
    let missing = [Disagreement::Missing(View::Machines), Disagreement::Missing(View::All)];
    assert_eq!(read(folder.path()).unwrap().disagreements, missing);
}

#[test]
fn an_odd_file_is_named() {
    let fault = |files: &[(&str, &str)]| read(tree(files).path()).unwrap_err().to_string();
    let of_b = |text: &str| fault(&[("builders/b", text)]);
    assert!(of_b("Usage: allocate").contains("v1/builders/b, line 1, column 1: expected value"));
    assert!(of_b("").contains("v1/builders/b, line 1"));
    assert!(of_b("[]").contains("expected an object with the key \"machines\""));
    assert!(of_b("{\"builders\": []}").contains("there is no key \"machines\""));
    assert!(of_b("{\"machines\": [],\n\"machines\": []}").contains("line 2"));
    assert!(of_b("{\"machines\": [3]}").contains("integer `3`, expected the name of a machine in \"machines\""));
    assert!(of_b("{\"machines\": []} x").contains("trailing characters"));
    assert!(fault(&[("builders/a\tb", "{\"machines\": []}")]).contains("a\tb: its path is no name"));
    assert!(fault(&[("allocated/all", "{}")]).contains("v1/allocated/all, line 1"));
    let not_a_tree = TempDir::new().unwrap();
    assert!(matches!(read(not_a_tree.path()), Err(TreeFault::NotATree(_))));
}

#[test]
fn a_path_that_is_no_text_is_named() {
    let folder = tree(&[]);
    fs::write(folder.path().join("v1/builders").join(std::ffi::OsStr::from_bytes(b"a\xff")), "{}").unwrap();
    assert!(matches!(read(folder.path()), Err(TreeFault::Name { source: BadName::NotUtf8 { at: 1 }, .. })));
    let folder = tree(&[]);
    symlink("nowhere", folder.path().join("v1/builders/b")).unwrap();
    let fault = read(folder.path()).unwrap_err().to_string();
    assert!(fault.starts_with("cannot look at ") && fault.ends_with("v1/builders/b"), "{fault}");
    let folder = tree(&[]);
    drop(std::os::unix::net::UnixListener::bind(folder.path().join("v1/builders/socket")).unwrap());
    assert!(matches!(read(folder.path()), Err(TreeFault::Odd(path)) if path.ends_with("socket")));
}
