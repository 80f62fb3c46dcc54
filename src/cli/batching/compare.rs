//! Several strategies on one log, each beside the backstop, the offline optimum and an oracle that knows the labels.

use std::io::Write;

use anyhow::Context;
use serde::Serialize;

use crate::adapters::push_log::PushLog;
use crate::cli::globals::{Globals, Output};
use crate::cli::print::{print_json, print_table};
use crate::config::NamedStrategy;
use crate::domain::batching::tuning::Trial;
use crate::domain::batching::{Evaluation, Kind, Mark, Parameters, Strategy};

/// A regression is to be tested on its push, or on one of the pushes after it, so many in all: the backstop's interval.
pub(super) const WITHIN_PUSHES: usize = 20;

/// One strategy on the log.
#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a str,
    strategy: &'static str,
    config: &'a Parameters,
    #[serde(flatten)]
    evaluation: Evaluation,
    /// Batches more than the backstop's, in percent.
    against_backstop_percent: Option<f64>,
    /// Batches of the offline optimum at the same expected delay.
    optimum_batches: f64,
    /// Batches more than those.
    regret: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Labels>,
}

#[derive(Debug, Clone, Serialize)]
struct Labels {
    regressions: usize,
    /// Of those, how many were not tested in time.
    late: usize,
    /// Batches of an oracle that tests each in time, and no more.
    oracle_batches: usize,
    /// Batches more than those.
    regret: i64,
}

pub(super) fn compare(
    file: PushLog,
    start: Option<Mark>,
    strategies: Vec<NamedStrategy>,
    globals: &Globals,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let start = start.or_else(|| file.log.first_batch()).context("the log has no push that may be a batch")?;
    let regressions = file.regressions();
    let trial = Trial::new(file.log, start);
    let regressions: Option<Vec<_>> =
        regressions.map(|places| places.into_iter().filter(|place| *place >= trial.first).collect());
    let backstop = Strategy::new(Kind::Backstop, Parameters::default())?;
    let backstop = NamedStrategy { name: "backstop".to_owned(), strategy: backstop };
    let of_backstop = trial.evaluate(&backstop.strategy)?.batches;
    let has_own = strategies.iter().any(|named| named.name == backstop.name);
    let all = if has_own { None } else { Some(&backstop) }.into_iter().chain(&strategies);
    let rows =
        all.map(|named| row(named, &trial, of_backstop, regressions.as_deref())).collect::<anyhow::Result<Vec<_>>>()?;
    match globals.output {
        Output::Json => print_json(out, &serde_json::to_vec(&rows)?)?,
        Output::Table => table(out, &rows)?,
    }
    Ok(())
}

fn row<'a>(
    named: &'a NamedStrategy,
    trial: &Trial,
    of_backstop: usize,
    regressions: Option<&[usize]>,
) -> anyhow::Result<Row<'a>> {
    let batches = trial.batches(&named.strategy).with_context(|| format!("{} cannot decide", named.name))?;
    let evaluation = trial.yardstick.evaluate(&batches);
    let optimum_batches = trial.yardstick.up_to_last(&batches).optimal_batches(evaluation.delay_hours);
    let percent = |batches: usize| (batches as f64 / of_backstop as f64 - 1.0) * 100.0;
    Ok(Row {
        name: &named.name,
        strategy: named.strategy.kind().name(),
        config: named.strategy.parameters(),
        evaluation,
        against_backstop_percent: (of_backstop > 0).then(|| percent(evaluation.batches)),
        optimum_batches,
        regret: evaluation.batches as f64 - optimum_batches,
        labels: regressions.map(|regressions| {
            let is_late = |push: &&usize| !trial.yardstick.catches(&batches, **push, WITHIN_PUSHES);
            let oracle_batches = trial.yardstick.label_oracle(regressions, WITHIN_PUSHES);
            Labels {
                regressions: regressions.len(),
                late: regressions.iter().filter(is_late).count(),
                oracle_batches,
                regret: evaluation.batches as i64 - oracle_batches as i64,
            }
        }),
    })
}

fn table(out: &mut dyn Write, rows: &[Row<'_>]) -> std::io::Result<()> {
    let cells = |row: &Row<'_>| {
        let labels = row.labels.as_ref();
        let none = || "-".to_owned();
        [
            row.name.to_owned(),
            row.evaluation.batches.to_string(),
            row.against_backstop_percent.map_or_else(none, |percent| format!("{percent:+.1} %")),
            format!("{:.2} h", row.evaluation.delay_hours),
            format!("{:.1} h", row.evaluation.longest_gap_hours),
            format!("{:+.1}", row.regret),
            labels.map_or_else(none, |labels| format!("{:+}", labels.regret)),
            labels.map_or_else(none, |labels| format!("{} of {}", labels.late, labels.regressions)),
        ]
    };
    let headings = [
        "STRATEGY",
        "BATCHES",
        "BACKSTOP",
        "EXPECTED DELAY",
        "LONGEST GAP",
        "OPTIMUM",
        "LABEL ORACLE",
        "LATE REGRESSIONS",
    ];
    print_table(out, headings, rows.iter().map(cells))
}
