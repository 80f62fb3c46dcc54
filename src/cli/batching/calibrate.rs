//! `jacuzzi batching calibrate`: what predicted risks mean, learnt from commits whose fate is known.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::flags::read_log;
use crate::adapters::risk_table::{self, Row};
use crate::domain::batching::calibration::{Calibration, Labelled};

/// Fit predicted risks to what became of commits, and mend a log's risks by that
///
/// Prints the fit as JSON; with --apply, prints the log instead, each risk replaced by what it
/// means. Platt scaling on the logit: risk' = 1 / (1 + e^-(slope · logit(risk) + intercept)).
#[derive(Debug, Args)]
pub(super) struct Calibrate {
    /// A table of past commits: commit,regressed,risk
    #[arg(value_name = "TABLE")]
    table: PathBuf,

    /// A log of pushes, or - for stdin
    #[arg(long, value_name = "FILE|-")]
    apply: Option<PathBuf>,
}

/// The answer.
#[derive(Debug, Serialize)]
struct Fitted {
    #[serde(flatten)]
    calibration: Calibration,
    commits: usize,
    regressed: usize,
    /// Σ of the risks as they were predicted, and as they are now.
    sum_before: f64,
    sum_after: f64,
}

impl Calibrate {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let rows = read_table(&self.table)?;
        let calibration = fit(&rows).with_context(|| format!("cannot learn from {}", self.table.display()))?;
        let Some(log) = self.apply else {
            let risks = || rows.iter().map(|row| row.labelled.risk);
            let fitted = Fitted {
                calibration,
                commits: rows.len(),
                regressed: rows.iter().filter(|row| row.labelled.regressed).count(),
                sum_before: risks().sum(),
                sum_after: risks().map(|risk| calibration.apply(risk)).sum(),
            };
            serde_json::to_writer(&mut *out, &fitted)?;
            return Ok(writeln!(out)?);
        };
        for mut line in read_log(&log)?.lines {
            for risk in line.commits.iter_mut().filter_map(|commit| commit.risk.as_mut()?.as_mut()) {
                *risk = calibration.apply(*risk);
            }
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
        Ok(())
    }
}

pub(super) fn read_table(path: &PathBuf) -> anyhow::Result<Vec<Row>> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    risk_table::parse(&text).with_context(|| format!("{shown} is no table of risks"))
}

pub(super) fn fit(rows: &[Row]) -> anyhow::Result<Calibration> {
    let commits: Vec<Labelled> = rows.iter().map(|row| row.labelled).collect();
    Ok(Calibration::fit(&commits)?)
}
