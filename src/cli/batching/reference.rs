//! `jacuzzi batching reference`: every cadence on a trace that other programs can make, too, for figures to compare.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::calibrate::{fit, read_table};
use super::compare::WITHIN_PUSHES;
use crate::adapters::push_log::{Commit, Line};
use crate::adapters::risk_table;
use crate::cli::globals::{Globals, Output};
use crate::cli::print::{print_json, print_table, say};
use crate::domain::batching::calibration::Labelled;
use crate::domain::batching::tuning::{Family, Mean, Trial, mean};
use crate::domain::batching::{Forecast, Kind, Log, Mark, Parameters, Push, PushId, Score, Strategy};
use crate::sim::push_trace::{push_dates, pushes_an_hour};

/// An hour; the best of those tried.
const AGING: f64 = 0.003;

/// Compare all cadences on the reference trace, each at the backstop's expected delay
///
/// The risks of TEST in their order, calibrated on EVAL, one commit a push, on the clocks of 20
/// seeds: a Poisson process of 79 pushes a day with the cycles of a day and a week. Figures are
/// means over the seeds, and count the start as a batch.
#[derive(Debug, Args)]
pub(super) struct Reference {
    /// A table to calibrate on: commit,regressed,risk
    #[arg(value_name = "EVAL")]
    eval: PathBuf,

    /// A table of the commits to replay
    #[arg(value_name = "TEST")]
    test: PathBuf,

    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,

    /// Write the trace of seed 0 as a log of pushes with labels, its risks as they were predicted
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// The answer. All numbers of batches count the start.
#[derive(Debug, Serialize)]
struct Figures {
    strategies: Vec<Row>,
    /// Of the offline optimum at the backstop's delay.
    optimum_batches: f64,
    /// Of an oracle that knows which commits regress, and tests each within 20 pushes; without the start.
    oracle_batches: usize,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    parameters: Parameters,
    batches: f64,
    delay_hours: f64,
    longest_gap_hours: f64,
    /// Batches more than the optimum's.
    regret: f64,
    #[serde(flatten)]
    against_optimum: Option<AgainstOptimum>,
}

/// Costs at the price of a batch that a strategy has, over those of the optimum at that price.
#[derive(Debug, Serialize)]
struct AgainstOptimum {
    /// Of all weeks, mean over the seeds.
    all_weeks: f64,
    /// Of the week where this is most.
    dearest_week: f64,
}

impl Reference {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let (eval, test) = (read_table(&self.eval)?, read_table(&self.test)?);
        if let Some(path) = &self.write {
            let lines = log_lines(&test).map(|line| serde_json::to_string(&line)).collect::<Result<Vec<_>, _>>()?;
            fs::write(path, lines.join("\n") + "\n").with_context(|| format!("cannot write {}", path.display()))?;
        }
        let calibration = fit(&eval)?;
        let raw: Vec<f64> = test.iter().map(|row| row.labelled.risk).collect();
        let risks: Vec<f64> = raw.iter().map(|risk| calibration.apply(*risk)).collect();
        say(format_args!(
            "calibration: slope {:.4}, intercept {:.4}; Σ risk {:.2}, raw {:.2}, of {} regressions",
            calibration.slope,
            calibration.intercept,
            risks.iter().sum::<f64>(),
            raw.iter().sum::<f64>(),
            test.iter().filter(|row| row.labelled.regressed).count()
        ));
        let trials: Vec<_> = (0..self.seeds).map(|seed| trial(&risks, seed)).collect::<anyhow::Result<_>>()?;
        // What raw risks decide is measured by the calibrated ones.
        let on_raw = |(seed, measured): (u64, &Trial)| {
            anyhow::Ok(Trial { yardstick: measured.yardstick.clone(), ..trial(&raw, seed)? })
        };
        let raw_trials: Vec<_> = (0..).zip(&trials).map(on_raw).collect::<anyhow::Result<_>>()?;
        let forecast = Forecast::new(pushes_an_hour(), risks.iter().sum::<f64>() / risks.len() as f64)?;

        let backstop = Strategy::new(Kind::Backstop, Parameters::default())?;
        let of_backstop = mean(&trials, &backstop)?;
        let optimum = optimum(&trials, of_backstop.delay_hours);
        let mut rows = vec![row("backstop", &backstop, of_backstop, optimum, &trials)?];
        let families = families(&forecast);
        for (name, family, on_raw) in &families {
            let trials = if *on_raw { &raw_trials } else { &trials };
            let [tuned, _] = family.edge(trials, |mean| mean.delay_hours <= of_backstop.delay_hours)?;
            rows.push(row(name, &tuned.strategy, tuned.mean, optimum, trials)?);
        }
        let regressions: Vec<_> = (1..test.len()).filter(|place| test[*place].labelled.regressed).collect();
        let figures = Figures {
            strategies: rows,
            optimum_batches: optimum,
            oracle_batches: trials[0].yardstick.label_oracle(&regressions, WITHIN_PUSHES),
        };
        match globals.output {
            Output::Json => print_json(out, &serde_json::to_vec(&figures)?)?,
            Output::Table => figures.print(out)?,
        }
        Ok(())
    }
}

/// The trace of seed 0 as a file.
fn log_lines(rows: &[risk_table::Row]) -> impl Iterator<Item = Line> {
    let dates = push_dates(rows.len(), 0);
    rows.iter().zip(dates).zip(0..).map(|((row, pushdate), id)| {
        let Labelled { risk, regressed } = row.labelled;
        let commit = Commit { rev: row.commit.clone(), risk: Some(Some(risk)), regressed: Some(regressed) };
        Line {
            pushlog_id: PushId(id),
            pushdate,
            head_rev: row.commit.clone(),
            message: String::new(),
            commits: vec![commit],
        }
    })
}

/// One commit a push, from the start on.
fn trial(risks: &[f64], seed: u64) -> anyhow::Result<Trial> {
    let dates = push_dates(risks.len(), seed);
    let pushes = dates.iter().zip(risks).zip(0..);
    let push = |((at, risk), id): ((&i64, &f64), u64)| Push {
        id: PushId(id),
        at: *at,
        may_batch: true,
        scores: vec![Score::Risk(*risk)],
    };
    let start = Mark { id: PushId(0), at: dates.first().copied().unwrap_or_default() };
    Ok(Trial::new(Log::new(pushes.map(push))?, start))
}

/// With their names, and whether they decide on raw risks.
fn families(forecast: &Forecast) -> Vec<(&'static str, Family, bool)> {
    let none = Parameters::default;
    let aged = || Parameters { aging: Some(AGING), ..none() };
    let foreseen = || Parameters { forecast: Some(forecast.clone()), ..none() };
    let family = |kind, parameters| Family { kind, parameters };
    vec![
        ("pushes", family(Kind::Pushes, none()), false),
        ("time", family(Kind::Time, none()), false),
        ("rasb", family(Kind::Rasb, none()), false),
        ("rasb, raw risks", family(Kind::Rasb, none()), true),
        ("rasb_la", family(Kind::RasbLa, none()), false),
        ("rapb", family(Kind::Rapb, aged()), false),
        ("rapb_la", family(Kind::RapbLa, aged()), false),
        ("rdb", family(Kind::Rdb, none()), false),
        ("rdb, forecast", family(Kind::Rdb, foreseen()), false),
        ("rdb_steady", family(Kind::RdbSteady, foreseen()), false),
    ]
}

/// Mean batches of the offline optimum, with the start.
fn optimum(trials: &[Trial], delay_hours: f64) -> f64 {
    let batches = trials.iter().map(|trial| trial.yardstick.optimal_batches(delay_hours));
    1.0 + batches.sum::<f64>() / trials.len() as f64
}

fn row(name: &'static str, strategy: &Strategy, mean: Mean, optimum: f64, trials: &[Trial]) -> anyhow::Result<Row> {
    let batches = mean.batches + 1.0;
    let price = strategy.parameters().price;
    let against_optimum = price.map(|price| against_optimum(strategy, price, trials)).transpose()?;
    Ok(Row {
        name,
        // A forecast is long, and the same for all.
        parameters: Parameters { forecast: None, ..strategy.parameters().clone() },
        batches,
        delay_hours: mean.delay_hours,
        longest_gap_hours: mean.longest_gap_hours,
        regret: batches - optimum,
        against_optimum,
    })
}

fn against_optimum(strategy: &Strategy, price: f64, trials: &[Trial]) -> anyhow::Result<AgainstOptimum> {
    let mut cost = AgainstOptimum { all_weeks: 0.0, dearest_week: 0.0 };
    for trial in trials {
        let (dearest, all) = trial.yardstick.weekly_against_optimum(&trial.batches(strategy)?, price);
        cost.dearest_week = cost.dearest_week.max(dearest);
        cost.all_weeks += all / trials.len() as f64;
    }
    Ok(cost)
}

impl Figures {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let headings = ["STRATEGY", "PARAMETER", "BATCHES", "DELAY", "LONGEST GAP", "OPTIMUM", "WEEKLY COST"];
        print_table(out, headings, self.strategies.iter().map(Row::cells))?;
        writeln!(out, "the offline optimum: {:.1} batches for the same delay", self.optimum_batches)?;
        writeln!(out, "an oracle of the labels: {} batches", self.oracle_batches)
    }
}

impl Row {
    fn cells(&self) -> [String; 7] {
        let Parameters { pushes, hours, threshold, price, .. } = &self.parameters;
        let pushes = pushes.map(|pushes| format!("{pushes} ids"));
        let hours = hours.map(|hours| format!("{hours:.2} h"));
        let threshold = threshold.map(|threshold| format!("{threshold:.4}"));
        let price = price.map(|price| format!("{price:.4} h"));
        let parameters: Vec<_> = [pushes, hours, threshold, price].into_iter().flatten().collect();
        let cost = self.against_optimum.as_ref();
        [
            self.name.to_owned(),
            parameters.join(", "),
            format!("{:.1}", self.batches),
            format!("{:.3} h", self.delay_hours),
            format!("{:.1} h", self.longest_gap_hours),
            format!("{:+.1}", self.regret),
            cost.map_or_else(
                || "-".to_owned(),
                |cost| format!("×{:.2}, at most {:.2}", cost.all_weeks, cost.dearest_week),
            ),
        ]
    }
}
