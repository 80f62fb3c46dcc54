//! Random histories of runs: whichever state a run begins from, it comes to the same batches.
//!
//! `JACUZZI_CASES=1000000 cargo nextest run --release random_histories` plays a
//! million, `tests/run histories` a hundred thousand. In each, runs for any
//! push come in any order and overlap (a run records what it found in a state
//! that is older than that of others), states are pruned, scores come late,
//! pushes say DONTBUILD, ids have gaps, dates go backward; with anchors, states
//! are lost and replays are short, too.

use std::num::NonZeroU64;
use std::thread;

use jacuzzi::domain::batching::{
    Forecast, History, Kind, Limits, Log, Mark, Parameters, Push, PushId, Reason, Run, Score, Strategy,
};

use super::world::{history, log, mark, recorded, strategy};
use crate::suite::dice::{Dice, number_from};

const CASES: u64 = 2_000;

/// Pushes of a history at most.
const PUSHES: u64 = 60;

/// What goes wrong, counted so that a test can say that enough did.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    batches: u64,
    failed: u64,
    stale: u64,
    missed: u64,
    lost: u64,
    waited: u64,
}

#[test]
fn random_histories_have_one_chain_of_batches() {
    let first = number_from("JACUZZI_SEED").unwrap_or(0);
    let last = first + number_from("JACUZZI_CASES").unwrap_or(CASES);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                (first..last).skip(thread).step_by(threads).for_each(|seed| {
                    play(seed);
                });
            });
        }
    });
}

/// They prove something only if enough goes wrong in them.
#[test]
fn random_histories_are_eventful() {
    let mut all = Seen::default();
    for seed in 0..CASES {
        let seen = play(seed);
        all.batches += seen.batches;
        all.failed += seen.failed;
        all.stale += seen.stale;
        all.missed += seen.missed;
        all.lost += seen.lost;
        all.waited += seen.waited;
    }
    let least = [all.batches, all.failed, all.stale, all.missed, all.lost, all.waited].into_iter().min();
    assert!(least > Some(CASES / 4), "{all:?}");
}

/// A branch, its pushes and its schedulers.
struct World {
    dice: Dice,
    strategy: Strategy,
    limits: Limits,
    anchored: bool,
    /// As all of it is known in the end.
    pushes: Vec<Push>,
    log: Log,
    /// The batches that every run must record.
    chain: Vec<Mark>,
    /// The pushes that every run must say are batches.
    batched: Vec<PushId>,
    state: History,
}

fn play(seed: u64) -> Seen {
    let mut world = World::new(Dice::of(seed));
    let mut seen = Seen { batches: world.batched.len() as u64, ..Seen::default() };
    // Runs that have loaded a state, and have not recorded yet.
    let mut open: Vec<(PushId, History)> = Vec::new();
    for _ in 0..world.dice.within(5..60) {
        match world.dice.within(0..8) {
            0..4 => {
                let push = world.dice.within(0..world.pushes.len() as u64) as usize;
                open.push((world.pushes[push].id, world.state.clone()));
            }
            4..7 if !open.is_empty() => {
                let (id, loaded) = open.swap_remove(world.dice.within(0..open.len() as u64) as usize);
                world.finish(id, &loaded, &mut seen, seed);
            }
            7 if world.anchored && world.dice.one_in(3) => {
                world.state = History::default();
                seen.lost += 1;
            }
            _ => {}
        }
    }
    for (id, loaded) in open {
        world.finish(id, &loaded, &mut seen, seed);
    }
    seen
}

impl World {
    fn new(mut dice: Dice) -> Self {
        let pushes = random_pushes(&mut dice);
        let anchored = dice.one_in(2);
        let anchor = if anchored { NonZeroU64::new(dice.within(10..60)) } else { None };
        let strategy = random_strategy(&mut dice, anchor);
        let log = log(&pushes);
        let start = mark(100, pushes[0].at);
        let (state, from) = if anchored { (History::default(), None) } else { (history([start]), Some(start)) };
        let replay = strategy.replay(&log, from).unwrap();
        let batched = replay.batches.iter().map(|found| recorded(&log, found).id).collect();
        let found = replay.batches.iter().filter(|found| found.starts_over).map(|found| recorded(&log, found));
        let chain = from.into_iter().chain(found).collect();
        let max_replayed = if anchored && dice.one_in(2) { dice.within(1..30) as usize } else { usize::MAX };
        let max_recorded = if dice.one_in(2) { dice.within(1..4) as usize } else { usize::MAX };
        Self {
            dice,
            strategy,
            limits: Limits { max_replayed, max_recorded },
            anchored,
            pushes,
            log,
            chain,
            batched,
            state,
        }
    }

    /// Decides as somebody who loaded this state, and records in the state as it is now.
    fn finish(&mut self, id: PushId, loaded: &History, seen: &mut Seen, seed: u64) {
        let place = self.log.place_of(id).unwrap();
        let unscored = self.with_late_scores(place);
        let Ok(run) = loaded.run(&self.strategy, unscored.as_ref().unwrap_or(&self.log), place, self.limits) else {
            assert!(unscored.is_some(), "JACUZZI_SEED={seed}: {id} fails, though every score is there");
            seen.failed += 1;
            return;
        };
        if run.decision.reason == Reason::Stale {
            seen.stale += 1;
            assert!(run.batches.is_empty() && !run.decision.batched);
            return;
        }
        self.judge(id, &run, seed);
        let new: Vec<Mark> = run.batches.iter().map(|found| recorded(&self.log, found)).collect();
        seen.missed += u64::from(new.iter().any(|batch| batch.id < id && !self.state.has(batch.id)));
        seen.waited += u64::from(run.decision.reason == Reason::DontBuild);
        self.state.record(history(new).batches().cloned(), self.limits);
    }

    fn judge(&self, id: PushId, run: &Run, seed: u64) {
        let case =
            || format!("JACUZZI_SEED={seed} JACUZZI_CASES=1: {id} of {:?} with {:?}", self.pushes, self.strategy);
        assert_eq!(run.decision.batched, self.batched.contains(&id), "{}", case());
        for found in &run.batches {
            assert!(self.chain.contains(&recorded(&self.log, found)), "{found:?}: {}", case());
        }
    }

    /// The log as it is while the newest pushes up to this one have no scores yet, sometimes.
    fn with_late_scores(&mut self, place: usize) -> Option<Log> {
        if !self.dice.one_in(3) {
            return None;
        }
        let mut pushes = self.pushes.clone();
        let first = place.saturating_sub(self.dice.within(0..4) as usize);
        for push in &mut pushes[first..] {
            push.scores.iter_mut().for_each(|score| *score = Score::Missing);
        }
        Some(log(&pushes))
    }
}

fn random_pushes(dice: &mut Dice) -> Vec<Push> {
    let (mut id, mut at) = (100, dice.within(0..2_000_000) as i64);
    let gap = dice.one_of([1, 1, 3, 20]);
    let longest = dice.one_of([60, 3_600, 36_000]);
    (0..dice.within(1..PUSHES))
        .map(|_| {
            id += 1 + dice.within(0..gap);
            at += dice.within(0..longest) as i64;
            if dice.one_in(10) {
                at -= dice.within(0..2 * longest) as i64;
            }
            let may_batch = !dice.one_in(5);
            let commits = dice.one_of([0, 1, 1, 1, 2, 5]);
            Push { id: PushId(id), at, may_batch, scores: (0..commits).map(|_| Score::Risk(risk(dice))).collect() }
        })
        .collect()
}

/// Round ones, so that there are ties; small ones; certain ones.
fn risk(dice: &mut Dice) -> f64 {
    match dice.within(0..10) {
        0..5 => dice.within(0..6) as f64 / 10.0,
        5..9 => dice.within(0..1_000_000) as f64 / 1e7,
        _ => dice.within(0..2) as f64,
    }
}

fn random_strategy(dice: &mut Dice, anchor: Option<NonZeroU64>) -> Strategy {
    let none = || Parameters { anchor, ..Parameters::default() };
    let chance = Some(dice.within(1..100) as f64 / 100.0);
    let sum = Some(dice.within(1..30) as f64 / 10.0);
    let aging = Some(dice.within(0..100) as f64 / 200.0);
    let hours = Some(dice.within(1..48) as f64 / 4.0);
    let ids = Some(dice.within(1..30));
    let forecast = || {
        let rates = (0..168).map(|hour| f64::from(hour % 5) / 2.0).collect();
        Some(Forecast::new(rates, 0.01).unwrap())
    };
    let kind = dice.one_of([
        Kind::Pushes,
        Kind::Time,
        Kind::Backstop,
        Kind::Expanded,
        Kind::Rasb,
        Kind::RasbLa,
        Kind::Rapb,
        Kind::RapbLa,
        Kind::Rdb,
        Kind::RdbSteady,
    ]);
    let parameters = match kind {
        Kind::Pushes => Parameters { pushes: ids, ..none() },
        Kind::Time => Parameters { hours, ..none() },
        Kind::Backstop | Kind::EveryNth | Kind::Expanded => Parameters { pushes: ids, hours, ..none() },
        Kind::Rasb => Parameters { threshold: chance, ..none() },
        Kind::RasbLa => Parameters { threshold: sum, ..none() },
        Kind::Rapb => Parameters { threshold: chance, aging, ..none() },
        Kind::RapbLa => Parameters { threshold: sum, aging, ..none() },
        Kind::Rdb => Parameters { price: sum, forecast: forecast().filter(|_| dice.one_in(2)), ..none() },
        Kind::RdbSteady => Parameters { price: sum, forecast: forecast(), ..none() },
    };
    strategy(kind, parameters)
}
