//! Logs and strategies in few words, and runs on them as schedulers make them.

use jacuzzi::domain::batching::{
    Batch, Found, History, Kind, Limits, Log, Mark, Parameters, Push, PushId, Run, Score, Strategy,
};

/// As many as anybody needs.
pub const UNLIMITED: Limits = Limits { max_replayed: usize::MAX, max_recorded: usize::MAX };

pub fn strategy(kind: Kind, parameters: Parameters) -> Strategy {
    Strategy::new(kind, parameters).unwrap()
}

pub fn pushes(pushes: u64) -> Strategy {
    strategy(Kind::Pushes, Parameters { pushes: Some(pushes), ..Parameters::default() })
}

pub fn time(hours: f64) -> Strategy {
    strategy(Kind::Time, Parameters { hours: Some(hours), ..Parameters::default() })
}

pub fn at(kind: Kind, threshold: f64) -> Strategy {
    strategy(kind, Parameters { threshold: Some(threshold), ..Parameters::default() })
}

pub fn aged(kind: Kind, threshold: f64, aging: f64) -> Strategy {
    strategy(kind, Parameters { threshold: Some(threshold), aging: Some(aging), ..Parameters::default() })
}

pub fn rdb(price: f64) -> Strategy {
    strategy(Kind::Rdb, Parameters { price: Some(price), ..Parameters::default() })
}

/// One commit of this risk.
pub fn push(id: u64, at: i64, risk: f64) -> Push {
    Push { id: PushId(id), at, may_batch: true, scores: vec![Score::Risk(risk)] }
}

/// From 101 on, so many seconds apart, the first that long after 0.
pub fn every(seconds: i64, risks: &[f64]) -> Vec<Push> {
    (1..).zip(risks).map(|(n, risk)| push(100 + n as u64, seconds * n, *risk)).collect()
}

/// From 101 on, at these hours.
pub fn at_hours(hours: &[f64], risks: &[f64]) -> Vec<Push> {
    let pushes = (101..).zip(hours).zip(risks);
    pushes.map(|((id, hours), risk)| push(id, (hours * 3_600.0) as i64, *risk)).collect()
}

pub fn dontbuild(mut pushes: Vec<Push>, ids: &[u64]) -> Vec<Push> {
    pushes.iter_mut().filter(|push| ids.contains(&push.id.0)).for_each(|push| push.may_batch = false);
    pushes
}

pub fn log(pushes: &[Push]) -> Log {
    Log::new(pushes.iter().cloned()).unwrap()
}

pub fn mark(id: u64, at: i64) -> Mark {
    Mark { id: PushId(id), at }
}

pub fn history(batches: impl IntoIterator<Item = Mark>) -> History {
    let batch = |mark: Mark| Batch { id: mark.id, at: mark.at, head_rev: format!("rev{}", mark.id) };
    batches.into_iter().map(batch).collect()
}

/// The batch as it is recorded.
pub fn recorded(log: &Log, found: &Found) -> Mark {
    Mark { id: id_at(log, found.place), at: found.at }
}

pub fn id_at(log: &Log, place: usize) -> PushId {
    log.ids().nth(place).unwrap()
}

/// A run for the push, which records what it finds.
pub fn run(history: &mut History, strategy: &Strategy, log: &Log, id: u64, limits: Limits) -> Run {
    let run = history.run(strategy, log, log.place_of(PushId(id)).unwrap(), limits).unwrap();
    let found = self::history(run.batches.iter().map(|found| recorded(log, found)));
    history.record(found.batches().cloned(), limits);
    run
}

pub fn ids(history: &History) -> Vec<u64> {
    history.batches().map(|batch| batch.id.0).collect()
}
