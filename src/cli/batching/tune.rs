//! `jacuzzi batching tune`: what each cadence could do on a log, at the cost and at the delay of the backstop.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use super::compare::WITHIN_PUSHES;
use super::flags::{Start, read_log};
use super::svg::{Curve, draw};
use crate::adapters::push_log::PushLog;
use crate::cli::globals::{Globals, Output};
use crate::cli::print::{print_json, print_table, say};
use crate::config::read_forecast;
use crate::domain::batching::tuning::{Family, Mean, Trial, Tuned, mean};
use crate::domain::batching::{Forecast, Kind, Mark, Parameters, Strategy};

/// Aging rates that are tried, an hour.
const AGINGS: [f64; 3] = [0.001, 0.003, 0.01];

/// The drawing shows this many times the cost and the delay of the backstop.
const SHOWN: f64 = 3.0;

/// Of the optimum in the drawing.
const OPTIMUM_POINTS: u32 = 60;

/// Sweep the parameter of every cadence over a log: cost and expected delay, as a table and a drawing
///
/// Of each cadence the table has the strategy that costs what the backstop costs, the one that
/// delays as long, and the cheapest that still catches every labelled regression that the backstop
/// caught, within 20 pushes.
#[derive(Debug, Args)]
pub(super) struct Tune {
    /// A log of pushes, or - for stdin
    #[arg(value_name = "FILE|-")]
    log: PathBuf,

    /// The last batch before the log [default: the first push that may be a batch]
    #[arg(long, value_name = "ID@DATE")]
    start: Option<Start>,

    /// What pushes will come [default: learnt from this very log]
    #[arg(long, value_name = "FILE")]
    forecast: Option<PathBuf>,

    /// How many parameters are tried, of each cadence
    #[arg(long, value_name = "N", default_value_t = 200)]
    points: usize,

    /// Draw the fronts into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A cadence on the log.
#[derive(Debug, Serialize)]
struct Row {
    cadence: String,
    /// Those that exist, each the best of its kind.
    at_backstop_cost: Option<Point>,
    at_backstop_delay: Option<Point>,
    catching_all: Option<Point>,
    front: Vec<Point>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Point {
    parameter: f64,
    #[serde(flatten)]
    mean: Mean,
}

/// The log, and what the backstop makes of it.
struct Bench {
    trials: [Trial; 1],
    backstop: Mean,
    /// The regressing pushes that it tests in time; `None` without labels.
    caught: Option<Vec<usize>>,
}

impl Tune {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let file = read_log(&self.log)?;
        let start = self.start.map(|Start(mark)| mark).or_else(|| file.log.first_batch());
        let start = start.context("the log has no push that may be a batch")?;
        let forecast = match &self.forecast {
            Some(path) => Some(read_forecast(path).map_err(anyhow::Error::msg)?),
            None => Forecast::of(&file.log).ok(),
        };
        let bench = Bench::new(file, start)?;
        let rows = families(forecast.as_ref());
        let rows = rows.iter().map(|(name, family)| bench.row(name, family, self.points));
        let rows: Vec<_> = rows.collect::<anyhow::Result<_>>()?;
        if let Some(path) = &self.svg {
            fs::write(path, bench.drawing(&rows)).with_context(|| format!("cannot write {}", path.display()))?;
        }
        match globals.output {
            Output::Json => print_json(out, &serde_json::to_vec(&rows)?)?,
            Output::Table => {
                let Mean { batches, delay_hours, .. } = bench.backstop;
                say(format_args!("the backstop: {batches} batches, expected delay {delay_hours:.2} h"));
                table(out, &rows)?;
            }
        }
        Ok(())
    }
}

impl Bench {
    fn new(file: PushLog, start: Mark) -> anyhow::Result<Self> {
        let regressions = file.regressions();
        let trial = Trial::new(file.log, start);
        let backstop = Strategy::new(Kind::Backstop, Parameters::default())?;
        let batches = trial.batches(&backstop)?;
        let caught = regressions.map(|mut pushes| {
            pushes.retain(|push| *push >= trial.first && trial.yardstick.catches(&batches, *push, WITHIN_PUSHES));
            pushes
        });
        ensure!(!batches.is_empty(), "the backstop comes to no batch on this log: it is too short to tune on");
        let trials = [trial];
        Ok(Self { backstop: mean(&trials, &backstop)?, trials, caught })
    }

    fn row(&self, name: &str, family: &Family, points: usize) -> anyhow::Result<Row> {
        let mut front = Vec::with_capacity(points);
        let mut catching = Vec::new();
        for (parameter, strategy) in family.sweep(family.range(), points)? {
            let point = Point { parameter, mean: mean(&self.trials, &strategy)? };
            front.push(point);
            if self.catches_all(&strategy)? {
                catching.push(point);
            }
        }
        let point = |tuned: &Tuned| Point { parameter: tuned.parameter, mean: tuned.mean };
        let [_, cheap] = family.edge(&self.trials, |mean| mean.batches > self.backstop.batches)?;
        let [quick, _] = family.edge(&self.trials, |mean| mean.delay_hours <= self.backstop.delay_hours)?;
        Ok(Row {
            cadence: name.to_owned(),
            at_backstop_cost: Some(point(&cheap)).filter(|point| point.mean.batches <= self.backstop.batches),
            at_backstop_delay: Some(point(&quick)).filter(|point| point.mean.delay_hours <= self.backstop.delay_hours),
            catching_all: catching.into_iter().min_by(|a, b| a.mean.batches.total_cmp(&b.mean.batches)),
            front,
        })
    }

    /// Whether it tests in time all that the backstop does; false without labels.
    fn catches_all(&self, strategy: &Strategy) -> anyhow::Result<bool> {
        let Some(caught) = &self.caught else { return Ok(false) };
        let batches = self.trials[0].batches(strategy)?;
        Ok(caught.iter().all(|push| self.trials[0].yardstick.catches(&batches, *push, WITHIN_PUSHES)))
    }

    fn drawing(&self, rows: &[Row]) -> String {
        let days = self.trials[0].yardstick.days();
        let place = |mean: &Mean| (mean.batches / days, mean.delay_hours);
        let curve = |row: &Row| Curve {
            name: row.cadence.clone(),
            points: row.front.iter().map(|point| place(&point.mean)).collect(),
        };
        let of_optimum = |hours: f64| (self.trials[0].yardstick.optimal_batches(hours) / days, hours);
        let (batches, hours) = place(&self.backstop);
        let (most_batches, most_hours) = (batches * SHOWN, hours * SHOWN);
        let steps = (1..=OPTIMUM_POINTS).map(|step| most_hours * f64::from(step) / f64::from(OPTIMUM_POINTS));
        let mut curves: Vec<_> = rows.iter().map(curve).collect();
        curves.push(Curve { name: "offline optimum".to_owned(), points: steps.map(of_optimum).collect() });
        curves.push(Curve { name: "backstop".to_owned(), points: vec![(batches, hours)] });
        draw(&curves, (most_batches, most_hours))
    }
}

/// Without a forecast, no cadence that needs one.
fn families(forecast: Option<&Forecast>) -> Vec<(String, Family)> {
    let none = Parameters::default;
    let plain =
        [Kind::Pushes, Kind::Time, Kind::Rasb, Kind::RasbLa, Kind::Rdb].map(|kind| (kind.to_string(), none(), kind));
    let aged = [Kind::Rapb, Kind::RapbLa].into_iter().flat_map(|kind| {
        AGINGS.map(|aging| (format!("{kind} a={aging}"), Parameters { aging: Some(aging), ..none() }, kind))
    });
    let foreseen = forecast.into_iter().flat_map(|forecast| {
        let parameters = || Parameters { forecast: Some(forecast.clone()), ..none() };
        [("rdb, forecast", parameters(), Kind::Rdb), ("rdb_steady", parameters(), Kind::RdbSteady)]
    });
    let foreseen = foreseen.map(|(name, parameters, kind)| (name.to_owned(), parameters, kind));
    let all = plain.into_iter().chain(aged).chain(foreseen);
    all.map(|(name, parameters, kind)| (name, Family { kind, parameters })).collect()
}

fn table(out: &mut dyn Write, rows: &[Row]) -> std::io::Result<()> {
    let none = || "-".to_owned();
    let parameter = |point: &Point| format!("{:.4}", point.parameter);
    let batches = |point: &Point| format!("{} ({})", point.mean.batches, parameter(point));
    let delay = |point: &Point| format!("{:.2} h ({})", point.mean.delay_hours, parameter(point));
    let cells = |row: &Row| {
        [
            row.cadence.clone(),
            row.at_backstop_cost.as_ref().map_or_else(none, delay),
            row.at_backstop_delay.as_ref().map_or_else(none, batches),
            row.catching_all.as_ref().map_or_else(none, batches),
        ]
    };
    let headings = ["CADENCE", "DELAY AT ITS COST", "BATCHES AT ITS DELAY", "BATCHES TO CATCH AS MUCH"];
    print_table(out, headings, rows.iter().map(cells))
}
