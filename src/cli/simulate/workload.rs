//! `jacuzzi simulate workload`: a farm like Mozilla's of 2014 as files, with its jobs and its history.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::adapters::runs_file::{Form, Line};
use crate::adapters::whole_folder;
use crate::cli::globals::{Globals, Output};
use crate::cli::print::{print_table, say};
use crate::domain::Timestamp;
use crate::domain::allocator::Builders;
use crate::domain::dispatcher::{ClaimId, JobId};
use crate::domain::fleet::{AllocationLimits, Branch, BuilderRule, Definition, Pool, Seconds, WorkerEntry};
use crate::sim::workload::{HistoryRow, Part, Shape, Summary, Workload as Made};

/// Make a farm like Mozilla's of 2014, with its jobs and its history
///
/// Writes farm.toml, allocations.json, arrivals.jsonl (jobs as they are submitted; `service` is the
/// seconds of a cold run) and history.jsonl (their runs, first come first served) to a new folder,
/// and says how busy the farm was. The same flags make the same files, byte for byte.
#[derive(Debug, Args)]
pub(in crate::cli) struct Workload {
    /// All chance follows from this number
    #[arg(long, value_name = "S")]
    seed: u64,

    /// How many days; sizing looks at seven and the one before them
    #[arg(long, default_value_t = 8, value_name = "N")]
    days: u32,

    /// When they begin: RFC 3339, or Unix seconds
    #[arg(long, default_value = "2014-06-02T00:00:00Z", value_name = "TIME", value_parser = Timestamp::parse)]
    start: Timestamp,

    /// Jobs on a mean day from Monday to Friday; the fewer, the longer, so that the machines stay as busy
    #[arg(long, default_value_t = 75_000, value_name = "N")]
    jobs_per_day: u32,

    /// Builders, all with an allocation
    #[arg(long, default_value_t = 145, value_name = "N")]
    builders: u32,

    /// Machines, all allocated
    #[arg(long, default_value_t = 435, value_name = "N")]
    machines: u32,

    /// The folder to make [default: none, only the summary]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write the history as history.csv, not history.jsonl
    #[arg(long)]
    csv: bool,
}

impl Workload {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let made = Made::new(self.shape())?;
        let parts = match &self.out {
            None => self.play(&made, |_| Ok(()))?,
            Some(folder) => {
                let parts = whole_folder::create(folder, |new| self.write(&made, new))?;
                say(format_args!("made {}", folder.display()));
                parts
            }
        };
        match globals.output {
            Output::Table => print_summary(&mut io::stderr().lock(), &parts)?,
            Output::Json => writeln!(out, "{}", serde_json::to_string(&parts)?)?,
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        Shape {
            seed: self.seed,
            start: self.start,
            days: self.days,
            jobs_per_day: self.jobs_per_day,
            builders: self.builders,
            machines: self.machines,
        }
    }

    fn write(&self, made: &Made, folder: &Path) -> anyhow::Result<Vec<Part>> {
        write_file(&folder.join("farm.toml"), |file| {
            write!(file, "{}{}", self.opening(), farm_toml(&made.definition))
        })?;
        write_file(&folder.join("allocations.json"), |file| {
            serde_json::to_writer_pretty(&mut *file, &Blob { builders: &made.allocations })?;
            writeln!(file)
        })?;
        write_file(&folder.join("arrivals.jsonl"), |file| {
            made.arrivals().try_for_each(|arrival| json_line(file, &arrival))
        })?;
        let mut parts = Vec::new();
        let (name, form) = if self.csv { ("history.csv", Form::Csv) } else { ("history.jsonl", Form::JsonLines) };
        write_file(&folder.join(name), |file| {
            file.write_all(form.heading().as_bytes())?;
            parts = self.play(made, |row| history_line(file, form, row))?;
            Ok(())
        })?;
        Ok(parts)
    }

    /// Goes through the history once: for the summary, and for whoever else wants its rows.
    fn play(&self, made: &Made, mut each: impl FnMut(&HistoryRow) -> io::Result<()>) -> io::Result<Vec<Part>> {
        let mut summary = Summary::new(made);
        let bar = ProgressBar::new(self.days.into());
        for row in made.history() {
            each(&row)?;
            summary.add(&row);
            let days = (row.finished_at.unix_micros() - self.start.unix_micros()) / 86_400_000_000;
            bar.set_position(days.unsigned_abs());
        }
        bar.finish_and_clear();
        Ok(summary.parts())
    }

    /// What stands above the farm file.
    fn opening(&self) -> String {
        let Self { seed, days, start, jobs_per_day, builders, machines, out: _, csv: _ } = self;
        format!(
            "# A farm like Mozilla's build farm of 2014; nothing in it is real but the names.\n\
             # Made by jacuzzi simulate workload --seed {seed} --days {days} --start {start} \\\n\
             #   --jobs-per-day {jobs_per_day} --builders {builders} --machines {machines}\n\
             # Each branch's builders share its machines in each pool, two at most on one.\n\n"
        )
    }
}

#[derive(Serialize)]
struct Blob<'a> {
    builders: &'a Builders,
}

/// The definition in the sections of a farm file.
#[derive(Serialize)]
struct FarmToml<'a> {
    farm: FarmSection<'a>,
    pools: &'a [Pool],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    workers: &'a [WorkerEntry],
    branches: &'a [Branch],
    builders: &'a [BuilderRule],
    allocations: &'a AllocationLimits,
}

#[derive(Serialize)]
struct FarmSection<'a> {
    name: &'a str,
    import: &'static str,
    default_priority: i64,
    ageing_seconds_per_priority: Seconds,
}

fn farm_toml(definition: &Definition) -> String {
    let farm = FarmSection {
        name: &definition.name,
        import: "allocations.json",
        default_priority: definition.default_priority,
        ageing_seconds_per_priority: definition.ageing_seconds_per_priority,
    };
    let Definition { pools, workers, branches, builders, allocations, .. } = definition;
    let file = FarmToml { farm, pools, workers, branches, builders, allocations };
    toml::to_string(&file).expect("a definition has no value that TOML lacks")
}

fn write_file(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create_new(path)?);
    fill(&mut file)?;
    file.into_inner()?.sync_all()
}

fn json_line(to: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, line)?;
    writeln!(to)
}

/// The row as every other run history has it.
fn history_line(to: &mut impl Write, form: Form, row: &HistoryRow) -> io::Result<()> {
    let line = Line {
        job: JobId(row.job),
        claim: Some(ClaimId(row.claim)),
        builder: &row.builder,
        worker: Some(&row.worker),
        branch: Some(row.branch),
        project: Some(row.project),
        push: Some(&row.push.to_string()),
        attempt: row.attempt,
        submitted_at: row.submitted_at,
        started_at: Some(row.started_at),
        finished_at: row.finished_at,
        result: row.result.into(),
        warm: row.warm,
    };
    form.write(to, &line)
}

fn print_summary(to: &mut dyn Write, parts: &[Part]) -> io::Result<()> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let headings =
        ["POOL", "BUILDERS", "MACHINES", "JOBS", "BUSY", "BUSIEST HOUR", "MEDIAN WAIT", "9 IN 10 WAIT", "WARM"];
    let row = |part: &Part| {
        [
            part.pool.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string),
            part.builders.to_string(),
            part.machines.to_string(),
            part.jobs.to_string(),
            percent(part.busy),
            percent(part.busiest_hour),
            format!("{} s", part.wait_p50),
            format!("≤ {} s", part.wait_p90),
            percent(part.warm),
        ]
    };
    print_table(to, headings, parts.iter().map(row))
}
