//! `jacuzzi batching decide`: one run as a scheduler makes it, from the state that the runs before it left.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use serde::Serialize;

use super::flags::{StrategyFlags, read_log};
use super::replay::ShownDecision;
use crate::adapters::batching_state::{self, StateFile};
use crate::cli::exit::Exit;
use crate::domain::batching::{Batch, Limits, Parameters, PushId};

/// Decide on one push: exit 0 if it is a batch, 10 if not, 75 if a risk is missing
#[derive(Debug, Args)]
pub(super) struct Decide {
    /// The recorded batches; a file that is not there holds none
    #[arg(long, value_name = "FILE")]
    state: PathBuf,

    /// All pushes since the last recorded batch, or - for stdin
    #[arg(long, value_name = "FILE|-")]
    pushlog: PathBuf,

    /// The pushlog id to decide on
    #[arg(long, value_name = "ID")]
    push: u64,

    #[command(flatten)]
    strategy: StrategyFlags,

    /// With more pushes than this since the last recorded batch, do not replay: it is a cold start
    #[arg(long, value_name = "PUSHES", default_value_t = 1_000)]
    max_replayed: usize,

    /// How many batches are kept
    #[arg(long, value_name = "BATCHES", default_value_t = 100, value_parser = at_least_one)]
    max_recorded: usize,

    /// Write the next state
    #[arg(long)]
    record: bool,
}

fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|kept| *kept > 0).ok_or("give a whole number from 1 up")
}

/// The answer.
#[derive(Debug, Serialize)]
struct Decided<'a> {
    strategy: &'static str,
    config: &'a Parameters,
    #[serde(flatten)]
    decision: ShownDecision,
    /// Batches that the replay found at older pushes, and that no run has recorded.
    missed: Vec<Batch>,
}

impl Decide {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        let strategy = self.strategy.strategy()?.context("say which: --strategy")?;
        let limits = Limits { max_replayed: self.max_replayed, max_recorded: self.max_recorded };
        let file = read_log(&self.pushlog)?;
        let id = PushId(self.push);
        let place = file.log.place_of(id);
        let place = place.ok_or_else(|| anyhow!("push {id} is not in {}", self.pushlog.display()))?;
        let _locked = if self.record { Some(batching_state::lock(&self.state)?) } else { None };
        let mut history = batching_state::read(&self.state)?;
        let run = history.run(&strategy, &file.log, place, limits)?;

        let mut new: Vec<_> = run.batches.iter().map(|found| file.batch(found)).collect();
        new.retain(|batch| !history.has(batch.id));
        let decided = Decided {
            strategy: strategy.kind().name(),
            config: strategy.parameters(),
            decision: ShownDecision::new(&strategy, &file.lines[place], &run.decision),
            missed: new.iter().filter(|batch| batch.id < id).cloned().collect(),
        };

        let is_late = history.batches().last().is_some_and(|batch| batch.id > id);
        if self.record && !(is_late && new.is_empty()) {
            history.record(new, limits);
            let risk_prediction = file.lines[place].commits.iter();
            let state = StateFile {
                batches: history.batches().collect(),
                batched: run.decision.batched,
                cold_start: run.decision.cold_start,
                score: run.decision.score,
                replayed_from: run.decision.replayed_from,
                strategy: decided.strategy,
                config: decided.config,
                risk_prediction: risk_prediction.map(|commit| (&*commit.rev, commit.risk.flatten())).collect(),
            };
            batching_state::write(&self.state, &state)?;
        }
        // Nobody is answered before it is recorded.
        serde_json::to_writer(&mut *out, &decided)?;
        writeln!(out)?;
        Ok(if run.decision.batched { Exit::Ok } else { Exit::NoBatch })
    }
}
