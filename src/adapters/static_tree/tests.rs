//! Round trips, swaps and faults on real folders.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

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
    assert!(fs::read_link(&target).unwrap().is_relative(), "the parent can be moved");
}

/// As if the folder had been made that many seconds before now.
fn age(target: &Path, folder: &str, seconds: u64) {
    let path = PathBuf::from(format!("{}.generations", target.display())).join(folder);
    let folder = fs::File::open(path).unwrap();
    let made = folder.metadata().unwrap().modified().unwrap();
    folder.set_modified(made - Duration::from_secs(seconds)).unwrap();
}

#[test]
fn a_folder_stays_a_minute_after_it_was_replaced() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out");
    let to = |generation: u64| write(&target, &builders(&[("b", &["w1"])]), Generation(generation), None).unwrap();
    to(1);
    age(&target, "1-1", 500);
    to(2);
    assert_eq!(generations(&target), ["1-1", "2-1"], "it was replaced just now");
    to(2);
    assert_eq!(generations(&target), ["1-1", "2-1", "2-2"]);
    age(&target, "2-1", 61);
    age(&target, "2-2", 59);
    to(4);
    assert_eq!(generations(&target), ["2-1", "2-2", "4-1"], "the first was replaced 61 s ago, the second 59 s ago");
    age(&target, "2-1", 900);
    age(&target, "2-2", 800);
    age(&target, "4-1", 700);
    to(5);
    assert_eq!(generations(&target), ["4-1", "5-1"], "the one before stays, however old");
}

#[test]
fn what_did_not_change_is_the_same_file() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out");
    let inode = |path: &str| fs::metadata(target.join("v1").join(path)).unwrap().ino();
    write(&target, &builders(&[("b", &["w1"]), ("c", &["w2"]), ("d", &["w3"])]), Generation(1), None).unwrap();
    let before = ["builders/b", "builders/c", "machines/w1", "machines/w2"].map(inode);
    fs::write(target.join("v1/builders/d"), "edited").unwrap();
    let list = builders(&[("b", &["w1"]), ("c", &["w4"]), ("d", &["w3"])]);
    write(&target, &list, Generation(2), None).unwrap();
    assert_eq!(inode("builders/b"), before[0]);
    assert_ne!(inode("builders/c"), before[1]);
    assert_eq!(inode("machines/w1"), before[2]);
    assert_eq!(read(&target).unwrap(), StaticTree { builders: list, disagreements: Vec::new() }, "d is written anew");
}

#[test]
fn a_look_sees_every_change() {
    let folder = tree(&[("builders/b", r#"{"machines": ["w1"]}"#), ("allocated/all", "1")]);
    let (of, file) = (|| look(folder.path()).unwrap(), |path: &str| folder.path().join("v1").join(path));
    let mut before = of();
    assert_eq!(of(), before, "looking changes nothing");
    let steps: [&dyn Fn(); 6] = [
        &|| fs::write(file("builders/c"), "new").unwrap(),
        &|| fs::rename(file("builders/c"), file("builders/d")).unwrap(),
        &|| fs::write(file("builders/b"), "longer than it was before, whenever that was").unwrap(),
        &|| fs::create_dir(file("machines")).and_then(|()| fs::write(file("machines/w"), "")).unwrap(),
        &|| fs::remove_file(file("allocated/all")).unwrap(),
        &|| fs::copy(file("builders/b"), file("x")).and_then(|_| fs::rename(file("x"), file("builders/b"))).unwrap(),
    ];
    for (at, step) in steps.iter().enumerate() {
        step();
        let after = of();
        assert_ne!(after, before, "step {at}");
        before = after;
    }
    fs::write(file("allocations"), "no view").unwrap();
    assert_eq!(of(), before);
}

/// The generation that all files of a tree are of.
fn one_generation(folder: &Path) -> u64 {
    let number: u64 = fs::read_to_string(folder.join("v1/allocations")).unwrap().parse().unwrap();
    assert_eq!(read(folder).unwrap(), StaticTree { builders: generation(number), disagreements: Vec::new() });
    number
}

/// Small, and different from that of every other number.
fn generation(number: u64) -> Builders {
    let other = format!("w{number}");
    builders(&[("always", &["w0"]), ("changing", &["w0", &other])])
}

#[test]
fn readers_that_hold_a_folder_see_one_generation_through_a_thousand_changes() {
    const CHANGES: u64 = 1000;
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap();
    let target = folder.path().join("out");
    let to = |number: u64| {
        write(&target, &generation(number), Generation(number), Some(number.to_string().as_bytes())).unwrap();
    };
    to(1);
    let published = AtomicU64::new(1);
    let reader = || {
        let mut seen = BTreeSet::new();
        while published.load(Ordering::Acquire) < CHANGES {
            let handle = fs::File::open(&target).unwrap();
            let held = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
            let number = one_generation(&held);
            let until = (number + 10).min(CHANGES);
            while published.load(Ordering::Acquire) < until {
                assert_eq!(one_generation(&held), number);
            }
            assert_eq!(one_generation(&held), number);
            seen.insert(number);
        }
        seen.len()
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..3).map(|_| scope.spawn(reader)).collect();
        for number in 2..=CHANGES {
            to(number);
            published.store(number, Ordering::Release);
        }
        for reader in readers {
            let seen = reader.join().unwrap();
            assert!(seen > 10, "a reader saw only {seen} generations");
        }
    });
    assert_eq!(one_generation(&target), CHANGES);
}

#[test]
fn what_a_crash_left_is_removed_by_the_next_export() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("out");
    write(&target, &builders(&[("b", &["w1"])]), Generation(1), None).unwrap();
    let beside = folder.path().join("out.generations");
    fs::create_dir_all(beside.join("unfinished/v1/builders/b/c")).unwrap();
    symlink("out.generations/2-1", beside.join("next")).unwrap();
    write(&target, &builders(&[("b", &["w2"])]), Generation(2), None).unwrap();
    assert_eq!(generations(&target), ["1-1", "2-1"]);
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
