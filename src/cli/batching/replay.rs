//! `jacuzzi batching replay`: the batches that a strategy comes to on a log, and why.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::Args;
use serde::Serialize;

use super::compare::compare;
use super::flags::{Start, StrategyFlags, read_log};
use crate::adapters::push_log::Line;
use crate::cli::globals::Globals;
use crate::config::read_strategies;
use crate::domain::batching::{Batch, Decision, Parameters, PushId, Strategy};

/// Replay a log with a strategy, or with several side by side
///
/// With --strategy, every decision is printed as JSON. With --config, the `strategies` of a file
/// are compared, each beside the backstop and the offline optimum; their keys are the names of the
/// flags here. Without --start, the first push that may be a batch is one, by a cold start.
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// A log of pushes, or - for stdin
    #[arg(value_name = "FILE|-")]
    log: PathBuf,

    #[command(flatten)]
    strategy: StrategyFlags,

    /// A TOML file of strategies to compare
    #[arg(long, value_name = "FILE", conflicts_with = "strategy")]
    config: Option<PathBuf>,

    /// The last batch before the log; pushes up to it are left out
    #[arg(long, value_name = "ID@DATE")]
    start: Option<Start>,
}

/// The answer.
#[derive(Debug, Serialize)]
struct Replayed<'a> {
    strategy: &'static str,
    config: &'a Parameters,
    batches: Vec<Batch>,
    decisions: Vec<ShownDecision>,
}

#[derive(Debug, Serialize)]
pub(super) struct ShownDecision {
    pushlog_id: PushId,
    batched: bool,
    cold_start: bool,
    score: Option<f64>,
    replayed_from: Option<PushId>,
    reason: String,
}

impl ShownDecision {
    pub fn new(strategy: &Strategy, line: &Line, decision: &Decision) -> Self {
        Self {
            pushlog_id: line.pushlog_id,
            batched: decision.batched,
            cold_start: decision.cold_start,
            score: decision.score,
            replayed_from: decision.replayed_from,
            reason: strategy.explain(decision),
        }
    }
}

impl Replay {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let file = read_log(&self.log)?;
        let start = self.start.map(|Start(mark)| mark);
        match (self.strategy.strategy()?, self.config) {
            (Some(strategy), _) => {
                let replay = strategy.replay(&file.log, start)?;
                let decisions = replay.decisions.iter();
                let replayed = Replayed {
                    strategy: strategy.kind().name(),
                    config: strategy.parameters(),
                    batches: replay.batches.iter().map(|found| file.batch(found)).collect(),
                    decisions: decisions
                        .map(|decision| ShownDecision::new(&strategy, &file.lines[decision.place], decision))
                        .collect(),
                };
                serde_json::to_writer(&mut *out, &replayed)?;
                Ok(writeln!(out)?)
            }
            (None, Some(config)) => {
                let strategies = read_strategies(&config).map_err(|faults| anyhow!("no strategies:\n{faults}"))?;
                compare(file, start, strategies, globals, out)
            }
            (None, None) => bail!("say which: --strategy, or --config with a file of them"),
        }
    }
}
