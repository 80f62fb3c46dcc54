//! Disks that fail on command: a sync that reports an error, a file system that is full.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// What fails.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `fsync` and `fdatasync`, with EIO.
    Sync,
    /// Every write, with ENOSPC.
    Space,
}

/// A fault that waits until it is armed; pass `env` to what shall suffer it.
pub struct Fault {
    kind: Kind,
    path: String,
    folder: TempDir,
}

impl Fault {
    /// A fault of the files whose path contains `path`.
    pub fn new(kind: Kind, path: &str) -> Self {
        let fault = Self { kind, path: path.to_owned(), folder: TempDir::with_prefix("jacuzzi-fault-").unwrap() };
        compile(&fault.shim());
        fault
    }

    /// What the suffering program needs in its environment.
    pub fn env(&self) -> [(&'static str, PathBuf); 4] {
        let kind = match self.kind {
            Kind::Sync => "sync",
            Kind::Space => "space",
        };
        [
            ("LD_PRELOAD", self.shim()),
            ("JACUZZI_FAULT", kind.into()),
            ("JACUZZI_FAULT_PATH", self.path.clone().into()),
            ("JACUZZI_FAULT_FILE", self.switch()),
        ]
    }

    /// From now on it fails.
    pub fn arm(&self) {
        fs::write(self.switch(), "").unwrap();
    }

    /// From now on it works again.
    pub fn disarm(&self) {
        fs::remove_file(self.switch()).unwrap();
    }

    fn shim(&self) -> PathBuf {
        shim_in(&self.folder)
    }

    fn switch(&self) -> PathBuf {
        self.folder.path().join("armed")
    }
}

/// Remembers what a power cut would leave; pass `env` to what shall be cut off.
pub struct PowerCut {
    path: &'static str,
    folder: TempDir,
}

impl PowerCut {
    /// Of the files whose path contains `path`.
    pub fn of(path: &'static str) -> Self {
        let power = Self { path, folder: TempDir::with_prefix("jacuzzi-power-").unwrap() };
        compile(&shim_in(&power.folder));
        fs::create_dir(power.synced()).unwrap();
        power
    }

    /// What the program needs in its environment.
    pub fn env(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("LD_PRELOAD", shim_in(&self.folder)),
            ("JACUZZI_FAULT", "power".into()),
            ("JACUZZI_FAULT_PATH", self.path.into()),
            ("JACUZZI_FAULT_FILE", self.synced()),
        ]
    }

    /// Puts these files of a folder back to what they were at their last sync; one that had none is gone.
    pub fn forget_what_was_not_synced(&self, folder: &Path, files: &[&str]) {
        for file in files {
            let synced = fs::read(self.synced().join(file));
            match synced {
                Ok(content) => fs::write(folder.join(file), content).unwrap(),
                Err(_) => drop(fs::remove_file(folder.join(file))),
            }
        }
    }

    fn synced(&self) -> PathBuf {
        self.folder.path().join("synced")
    }
}

fn shim_in(folder: &TempDir) -> PathBuf {
    folder.path().join("fault.so")
}

fn compile(shim: &Path) {
    let source = "tests/faults/fsync.c";
    let flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"];
    let status = Command::new("gcc").args(flags).arg(shim).args([source, "-ldl"]).status();
    let status = status.expect("gcc is there: `tests/run` installs it");
    assert!(status.success(), "gcc {source}: {status}");
}

/// A file system of its own that is soon full; unmounted when dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// `None`, said on stderr, where this user may not mount: then use [`Kind::Space`].
    pub fn mount(mebibytes: u32) -> Option<Self> {
        let folder = TempDir::with_prefix("jacuzzi-disk-").unwrap();
        let size = format!("size={mebibytes}m");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        let mount = mount.expect("mount is part of every system");
        if mount.status.success() {
            return Some(Self { folder });
        }
        let why = String::from_utf8_lossy(&mount.stderr);
        eprintln!(
            "NOT TESTED on a real small disk, which only root may mount ({}): writes are made to fail instead",
            why.trim()
        );
        None
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves no free byte, but for what is deleted later.
    pub fn fill(&self) {
        let full = fs::write(self.path().join("filler"), vec![0; 1 << 30]).unwrap_err();
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    }

    /// Takes back what `fill` took.
    pub fn drain(&self) {
        fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{} is still mounted", self.path().display());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Stdio;

    use super::*;

    /// Writes and syncs a file each time it is told to, and says what came of it.
    const VICTIM: &str = r#"
import os, sys
for line in sys.stdin:
    for name, act in [("write", lambda fd: os.write(fd, b"x")), ("pwrite", lambda fd: os.pwrite(fd, b"x", 0)),
                      ("fsync", os.fsync), ("fdatasync", os.fdatasync)]:
        fd = os.open(line.strip(), os.O_CREAT | os.O_WRONLY)
        try: act(fd)
        except OSError as error: print(name, error.errno)
        os.close(fd)
"#;

    /// What fails on a file, as `call errno` lines.
    fn suffer(fault: &Fault, file: &Path) -> String {
        let mut victim = Command::new("python3")
            .args(["-c", VICTIM])
            .envs(fault.env())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(victim.stdin.take().unwrap(), "{}", file.display()).unwrap();
        let output = victim.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_sync_fails_on_the_named_files_while_armed() {
        let folder = TempDir::new().unwrap();
        let (inside, outside) = (folder.path().join("journal-wal"), folder.path().join("other"));
        let fault = Fault::new(Kind::Sync, "journal");
        assert_eq!(suffer(&fault, &inside), "");
        fault.arm();
        assert_eq!(suffer(&fault, &inside), "fsync 5\nfdatasync 5\n");
        assert_eq!(suffer(&fault, &outside), "");
        fault.disarm();
        assert_eq!(suffer(&fault, &inside), "");
    }

    #[test]
    fn a_write_finds_no_space_while_armed() {
        let folder = TempDir::new().unwrap();
        let fault = Fault::new(Kind::Space, "journal");
        fault.arm();
        assert_eq!(suffer(&fault, &folder.path().join("journal")), "write 28\npwrite 28\n");
        assert_eq!(suffer(&fault, &folder.path().join("other")), "");
    }

    #[test]
    fn a_small_disk_fills_up() {
        let Some(disk) = SmallDisk::mount(1) else { return };
        disk.fill();
        assert!(fs::write(disk.path().join("more"), vec![0; 8192]).is_err());
        disk.drain();
        fs::write(disk.path().join("more"), vec![0; 8192]).unwrap();
    }
}
