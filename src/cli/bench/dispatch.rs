//! The dispatcher in process, without disk or network: what a decision costs on a farm of full scale.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use hdrhistogram::Histogram;

use crate::config::FarmFile;
use crate::domain::allocator::{self, WriteCommand};
use crate::domain::dispatcher::{self, NewJob, Offer, OfferId, RunResult, Token};
use crate::domain::{
    Author, BuilderName, Command, Event, Farm, Refusal, Reply, Timestamp, Volatile, WorkerName, fleet,
};
use crate::engine::beside_recovered;
use crate::sim::{Chance, FullScale};

/// Jobs of one call while the farm is filled.
const FILL: usize = 10_000;

/// Virtual time between two events.
const STEP: Duration = Duration::from_micros(20);

/// Decisions a second, the time of an event and memory at 10,000 builders and 100,000 workers
///
/// Every round ends a run, offers its worker, which gets its next job, and submits another job, so
/// that as many wait as before. Each of these three is one decision.
#[derive(Debug, Args)]
pub(super) struct Dispatch {
    /// Jobs that wait
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pending: usize,

    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    rounds: usize,

    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
}

/// The farm, and what happens to it.
struct Bench {
    farm: Farm,
    volatile: Volatile,
    now: Timestamp,
    chance: Chance,
    builders: Vec<BuilderName>,
    author: Author,
    session: Arc<str>,
    offers: u64,
    submitted: u64,
    running: Vec<(dispatcher::ClaimId, Token, WorkerName)>,
}

/// How long each kind of event took, in nanoseconds.
struct Times {
    finish: Histogram<u64>,
    offer: Histogram<u64>,
    submit: Histogram<u64>,
    all: Histogram<u64>,
}

impl Dispatch {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let begun = Instant::now();
        let mut bench = Bench::new(FullScale::default(), self.seed)?;
        bench.fill(self.pending)?;
        writeln!(
            out,
            "{} pending, {} running, {} builders: filled in {:.1} s, resident {:.0} MiB",
            bench.farm.jobs.pending(),
            bench.running.len(),
            bench.builders.len(),
            begun.elapsed().as_secs_f64(),
            resident_mib()
        )?;
        // The replica's state beside the writer's.
        let replica = bench.farm.clone();
        writeln!(out, "with a second state for the replica: resident {:.0} MiB", resident_mib())?;
        out.flush()?;
        let mut times = Times::new()?;
        for _ in 0..self.rounds {
            bench.round(&mut times)?;
        }
        // Without the time in which the next event is made up.
        writeln!(out, "{:.0} decisions/s over {} rounds", 1e9 / times.all.mean(), self.rounds)?;
        times.print(out)?;
        drop(replica);
        bench.restart(out)
    }
}

impl Times {
    fn new() -> anyhow::Result<Self> {
        let new = || Histogram::new(3);
        Ok(Self { finish: new()?, offer: new()?, submit: new()?, all: new()? })
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let kinds =
            [("any event", &self.all), ("finish", &self.finish), ("offer", &self.offer), ("submit", &self.submit)];
        for (kind, times) in kinds {
            let micros = |quantile| times.value_at_quantile(quantile) as f64 / 1e3;
            writeln!(
                out,
                "{kind:>9}: p50 {:.1} µs, p99 {:.1} µs, p99.9 {:.1} µs, worst {:.0} µs",
                micros(0.5),
                micros(0.99),
                micros(0.999),
                times.max() as f64 / 1e3
            )?;
        }
        Ok(())
    }
}

impl Bench {
    fn new(scale: FullScale, seed: u64) -> anyhow::Result<Self> {
        let mut bench = Self {
            farm: Farm::default(),
            volatile: Volatile::default(),
            now: Timestamp::from_unix_seconds(1_400_000_000),
            chance: Chance::seeded(seed),
            builders: scale.builders(),
            author: Author::new("bench"),
            session: Arc::from("bench"),
            offers: 0,
            submitted: 0,
            running: Vec::new(),
        };
        let definition = Box::new(FarmFile::from_json(&scale.farm_file())?.definition);
        let author = bench.author.clone();
        bench.carry_out(fleet::Command::Define { definition, author: author.clone() })?;
        let write = WriteCommand {
            write: allocator::Write::Replace(scale.allocations()),
            author,
            reason: None,
            expected: None,
            force: true,
            bad_names: Vec::new(),
        };
        bench.carry_out(allocator::Command::Write(write))?;
        Ok(bench)
    }

    /// Gives every worker that can have one a job, and lets so many more wait.
    fn fill(&mut self, pending: usize) -> anyhow::Result<()> {
        let workers: Vec<_> = self.farm.fleet.workers().map(|(name, _)| name.clone()).collect();
        while self.farm.jobs.pending() < pending + workers.len() {
            let jobs = (0..FILL).map(|_| self.job()).collect();
            self.carry_out(dispatcher::Command::Submit { jobs, author: self.author.clone() })?;
        }
        for worker in workers {
            self.offer(worker)?;
        }
        Ok(())
    }

    fn round(&mut self, times: &mut Times) -> anyhow::Result<()> {
        let at = self.chance.bits() as usize % self.running.len();
        let (claim, token, worker) = self.running.swap_remove(at);
        let (result, author) = (RunResult::Success, self.author.clone());
        let finish =
            self.timed(|bench| bench.carry_out(dispatcher::Command::Finish { claim, token, result, author }))?;
        let offer = self.timed(|bench| bench.offer(worker))?;
        let jobs = vec![self.job()];
        let submit =
            self.timed(|bench| bench.carry_out(dispatcher::Command::Submit { jobs, author: bench.author.clone() }))?;
        for (histogram, nanos) in [(&mut times.finish, finish), (&mut times.offer, offer), (&mut times.submit, submit)]
        {
            histogram.record(nanos)?;
            times.all.record(nanos)?;
        }
        Ok(())
    }

    fn timed<T>(&mut self, event: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<u64, Refusal> {
        let begun = Instant::now();
        event(self)?;
        Ok(begun.elapsed().as_nanos() as u64)
    }

    fn carry_out(&mut self, command: impl Into<Command>) -> Result<Reply, Refusal> {
        self.now = self.now.after(STEP);
        let done = self.farm.carry_out(&mut self.volatile, self.now, command.into())?;
        for event in done.events {
            if let Event::Dispatcher(dispatcher::Event::Claimed { claims, .. }) = event {
                self.running.extend(claims.into_iter().map(|claim| (claim.id, claim.token, claim.worker)));
            }
        }
        Ok(done.reply)
    }

    fn offer(&mut self, worker: WorkerName) -> Result<Reply, Refusal> {
        self.offers += 1;
        let offer = Offer {
            workers: vec![worker],
            max: 1,
            session: self.session.clone(),
            idempotency_key: None,
            token: Token::new(u128::from(self.offers)),
            author: self.author.clone(),
            stays_open: true,
        };
        self.carry_out(dispatcher::Command::Offer { id: OfferId(self.offers), offer })
    }

    fn job(&mut self) -> NewJob {
        self.submitted += 1;
        let builder = self.builders[self.chance.bits() as usize % self.builders.len()].clone();
        NewJob {
            priority: Some((self.chance.bits() % 10) as i64),
            branch: Some("mozilla-inbound".into()),
            push: Some(format!("{:012x}", self.submitted / 100).into()),
            idempotency_key: Some(format!("{:016x}", self.submitted).into()),
            ..NewJob::of(builder)
        }
    }

    /// From the bytes of a snapshot to a farm that can decide, and its replica.
    fn restart(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let snapshot = serde_json::to_vec(&self.farm)?;
        let Self { farm, volatile, now, .. } = self;
        drop((farm, volatile));
        let begun = Instant::now();
        let farm: Farm = serde_json::from_slice(&snapshot)?;
        let read = begun.elapsed().as_secs_f64();
        let (replica, volatile) = beside_recovered(&farm, now);
        writeln!(
            out,
            "restart from a snapshot of {:.0} MB: {:.2} s, of which {read:.2} s to read it",
            snapshot.len() as f64 / 1e6,
            begun.elapsed().as_secs_f64()
        )?;
        drop((farm, volatile, replica));
        Ok(())
    }
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(f64::NAN) / 1024.0
}
