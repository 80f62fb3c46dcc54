//! Replays of a year of pushes: how fast each cadence is, what one more push costs, and a large sweep.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;

use crate::domain::batching::tuning::{Family, Trial};
use crate::domain::batching::{Batch, Forecast, History, Kind, Limits, Log, Mark, Parameters, Push, PushId, Score};
use crate::sim::Chance;
use crate::sim::push_trace::push_dates;

/// The mean risk of a made-up commit.
const RISK: f64 = 0.01;

const LIMITS: Limits = Limits { max_replayed: 1_000, max_recorded: 100 };

/// Pushes a second by cadence, one more push, and a sweep of parameters, on one core
///
/// A year of pushes, of one commit each. The bound is to read the log once and do nothing.
#[derive(Debug, Args)]
pub(super) struct Batching {
    #[arg(long, default_value_t = 28_900, value_name = "N", value_parser = clap::value_parser!(u64).range(100..))]
    pushes: u64,

    /// Parameters of the sweep
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    points: usize,

    /// How long each cadence is measured; the best of its replays counts
    #[arg(long, default_value_t = 0.5, value_name = "S")]
    seconds: f64,
}

impl Batching {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let log = log(self.pushes as usize)?;
        let start = log.first_batch().expect("every made-up push may be a batch");
        let trial = Trial::new(log, start);
        let families = families(&Forecast::of(&trial.log)?);
        let million_a_second = |best: Duration| self.pushes as f64 / best.as_secs_f64() / 1e6;

        let bound = self.best(|| Ok(trial.log.ids().fold(0, |sum, id| id.0 ^ sum) as usize))?;
        writeln!(out, "{:>16}: {:6.0} M pushes/s", "bound", million_a_second(bound))?;
        for (name, family, parameter) in &families {
            let strategy = family.at(*parameter)?;
            let best = self.best(|| Ok(trial.batches(&strategy)?.len()))?;
            let batches = trial.batches(&strategy)?.len();
            writeln!(out, "{name:>16}: {:6.0} M pushes/s ({batches} batches)", million_a_second(best))?;
            out.flush()?;
        }
        self.one_more(out, &trial, &families)?;
        self.sweep(out, &trial, &families)
    }

    /// The shortest time of something that is done again and again.
    fn best(&self, mut done: impl FnMut() -> anyhow::Result<usize>) -> anyhow::Result<Duration> {
        let (begun, mut best) = (Instant::now(), Duration::MAX);
        while begun.elapsed().as_secs_f64() < self.seconds {
            let of_one = Instant::now();
            black_box(done()?);
            best = best.min(of_one.elapsed());
        }
        Ok(best)
    }

    /// Runs of a scheduler, push after push, each with the state of the one before.
    fn one_more(&self, out: &mut dyn Write, trial: &Trial, families: &[(&str, Family, f64)]) -> anyhow::Result<()> {
        for (name, family, parameter) in families {
            let strategy = family.at(*parameter)?;
            let mut history: History = [recorded(trial.from)].into_iter().collect();
            let begun = Instant::now();
            for place in trial.first..trial.log.len() {
                let run = history.run(&strategy, &trial.log, place, LIMITS)?;
                let id = |place: usize| PushId(place as u64);
                let batches = run.batches.iter().map(|found| recorded(Mark { id: id(found.place), at: found.at }));
                history.record(batches, LIMITS);
            }
            let each = begun.elapsed().as_secs_f64() / self.pushes as f64;
            writeln!(out, "{name:>16}: {:6.2} µs for one more push", each * 1e6)?;
        }
        Ok(())
    }

    fn sweep(&self, out: &mut dyn Write, trial: &Trial, families: &[(&str, Family, f64)]) -> anyhow::Result<()> {
        let points = self.points.div_ceil(families.len());
        let begun = Instant::now();
        for (_, family, parameter) in families {
            for (_, strategy) in family.sweep((parameter / 4.0, parameter * 4.0), points)? {
                black_box(trial.evaluate(&strategy)?);
            }
        }
        let (points, took) = (points * families.len(), begun.elapsed().as_secs_f64());
        Ok(writeln!(out, "a sweep of {points} parameters over {} pushes: {took:.1} s", self.pushes)?)
    }
}

fn recorded(Mark { id, at }: Mark) -> Batch {
    Batch { id, at, head_rev: String::new() }
}

fn log(pushes: usize) -> anyhow::Result<Log> {
    let mut chance = Chance::seeded(1);
    let push = |(id, at): (u64, i64)| {
        let risk = chance.exponential(RISK).min(1.0);
        Push { id: PushId(id), at, may_batch: true, scores: vec![Score::Risk(risk)] }
    };
    Ok(Log::new((0..).zip(push_dates(pushes, 1)).map(push))?)
}

/// Each with a parameter at which it has about as many batches as the backstop.
fn families(forecast: &Forecast) -> [(&'static str, Family, f64); 9] {
    let none = Parameters::default;
    let aged = || Parameters { aging: Some(0.003), ..none() };
    let foreseen = || Parameters { forecast: Some(forecast.clone()), ..none() };
    let family = |kind, parameters| Family { kind, parameters };
    [
        ("pushes", family(Kind::Pushes, none()), 14.0),
        ("time", family(Kind::Time, none()), 3.6),
        ("rasb", family(Kind::Rasb, none()), 0.12),
        ("rasb_la", family(Kind::RasbLa, none()), 0.12),
        ("rapb", family(Kind::Rapb, aged()), 0.19),
        ("rapb_la", family(Kind::RapbLa, aged()), 0.21),
        ("rdb", family(Kind::Rdb, none()), 0.22),
        ("rdb, forecast", family(Kind::Rdb, foreseen()), 0.27),
        ("rdb_steady", family(Kind::RdbSteady, foreseen()), 0.28),
    ]
}
