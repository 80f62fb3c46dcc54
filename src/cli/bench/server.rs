//! Our own server as a process of its own, so that a benchmark measures what users run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use tempfile::TempDir;

/// A server on a free port, with a farm and what is allocated in it; killed when dropped.
pub(super) struct Server {
    pub url: String,
    pub token: String,
    process: Child,
    /// Holds farm file, import and data folder.
    _folder: TempDir,
}

impl Server {
    /// One HTTP thread, logs kept away.
    pub(super) fn start(farm: &str, blob: &[u8]) -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix_in("jacuzzi-bench-", ".")?;
        let (farm_file, import, data) =
            (folder.path().join("farm.toml"), folder.path().join("blob.json"), folder.path().join("data"));
        fs::write(&farm_file, farm)?;
        fs::write(&import, blob)?;
        let mut process = Command::new(std::env::current_exe()?)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args([Path::new("--farm"), &farm_file, Path::new("--import"), &import, Path::new("--data-dir"), &data])
            .env("JACUZZI__SERVER__WORKERS", "1")
            .env("JACUZZI__LIMITS__READS_PER_SECOND", "1000000")
            .env("JACUZZI__LIMITS__WRITES_PER_SECOND", "1000000")
            .env("JACUZZI__LIMITS__JOB_CALLS_PER_SECOND", "1000000")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the server")?;
        let mut line = String::new();
        let stdout = process.stdout.take().context("the server's stdout is a pipe")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let Some(url) = line.trim().strip_prefix("listening on ") else {
            process.kill().ok();
            bail!("the server did not start (it printed {line:?})");
        };
        let token = fs::read_to_string(data.join(crate::adapters::data_folder::TOKEN_FILE))?.trim().to_owned();
        Ok(Self { url: url.to_owned(), token, process, _folder: folder })
    }

    pub(super) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The resident memory of the process, in MiB.
    pub(super) fn resident_mib(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process_id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its folder goes with it, so nothing needs to be finished.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
