//! What a figure cost: time and CPU, so that it is seen how much of the machine the load generator took.

use std::fmt;
use std::fs;
use std::ops::AddAssign;
use std::process;
use std::time::{Duration, Instant};

use anyhow::Context;

/// The unit of CPU time in `/proc/<pid>/stat`: USER_HZ of proc(5), 100 wherever Linux is built for servers.
const TICKS_PER_SECOND: f64 = 100.0;

/// What one or more timed parts took.
#[derive(Default)]
pub(super) struct Cost {
    pub wall: Duration,
    /// CPU seconds of this process and of the measured one.
    load: f64,
    server: f64,
}

impl Cost {
    /// Does it, while `server` is the id of the process that is measured.
    pub(super) fn of<T>(server: u32, act: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Self)> {
        let (load_before, server_before) = (cpu_seconds(process::id())?, cpu_seconds(server)?);
        let begun = Instant::now();
        let done = act()?;
        let wall = begun.elapsed();
        let (load, server) = (cpu_seconds(process::id())? - load_before, cpu_seconds(server)? - server_before);
        Ok((done, Self { wall, load, server }))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.load += other.load;
        self.server += other.server;
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores = |seconds| seconds / self.wall.as_secs_f64();
        write!(f, "CPU: load generator {:.2}, server {:.2} cores", cores(self.load), cores(self.server))
    }
}

/// User and system time of a process and of all its threads so far.
fn cpu_seconds(process: u32) -> anyhow::Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name, in parentheses, may hold anything. utime and stime are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(')').context("a stat file names its process")?;
    let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / TICKS_PER_SECOND)
}
