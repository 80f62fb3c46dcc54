//! The vectors of the contract, each also from every recorded state on its chain, and in any order of runs.

use jacuzzi::domain::batching::{
    BadScore, Branch, Forecast, Kind, Limits, Mark, Parameters, Push, PushId, Reason, Score, Strategy,
};

use super::world::{
    UNLIMITED, aged, at, at_hours, dontbuild, every, history, ids, log, mark, push, pushes, rdb, recorded, run,
    strategy, time,
};
use crate::suite::dice::Dice;

const FIRST: [f64; 7] = [0.05, 0.10, 0.02, 0.20, 0.01, 0.30, 0.04];
const HOURS: [f64; 6] = [0.0, 1.0, 2.0, 4.0, 8.0, 9.0];
const AGED: [f64; 6] = [0.02, 0.03, 0.01, 0.02, 0.01, 0.02];

/// Batch 100 at this second; the pushes; the batches after it.
#[track_caller]
fn expect(strategy: &Strategy, start: i64, pushes: &[Push], batches: &[u64]) {
    let (log, start) = (log(pushes), mark(100, start));
    let replay = strategy.replay(&log, Some(start)).unwrap();
    let found: Vec<Mark> = replay.batches.iter().map(|found| recorded(&log, found)).collect();
    assert_eq!(found.iter().map(|mark| mark.id.0).collect::<Vec<_>>(), batches);

    let chain = [&[start], &found[..]].concat();
    for known in 1..=chain.len() {
        for push in pushes.iter().filter(|push| push.id > chain[known - 1].id) {
            let mut state = history(chain[..known].iter().copied());
            let run = run(&mut state, strategy, &log, push.id.0, UNLIMITED);
            assert_eq!(run.decision.batched, batches.contains(&push.id.0), "{} from batch {}", push.id, known - 1);
            let expected = chain.iter().enumerate().filter(|(at, batch)| *at < known || batch.id <= push.id);
            assert!(ids(&state).iter().copied().eq(expected.map(|(_, batch)| batch.id.0)), "{}", push.id);
        }
    }
    for seed in 0..20 {
        let mut dice = Dice::of(seed);
        let mut state = history([start]);
        for _ in 0..3 * pushes.len() {
            let push = &pushes[dice.within(0..pushes.len() as u64) as usize];
            let run = run(&mut state, strategy, &log, push.id.0, UNLIMITED);
            assert_eq!(run.decision.batched, batches.contains(&push.id.0), "{} with seed {seed}", push.id);
        }
        let newest = ids(&state).last().copied();
        assert!(ids(&state)[1..].iter().copied().eq(batches.iter().copied().filter(|id| Some(*id) <= newest)));
    }
}

/// The scores at these pushes, of a replay from batch 100.
#[track_caller]
fn expect_scores(strategy: &Strategy, start: i64, pushes: &[Push], scores: &[(u64, f64)]) {
    let log = log(pushes);
    let replay = strategy.replay(&log, Some(mark(100, start))).unwrap();
    for (id, expected) in scores {
        let score = replay.decisions[log.place_of(PushId(*id)).unwrap()].score.unwrap();
        assert!((score - expected).abs() < 1e-9, "{id}: {score} is not {expected}");
    }
}

#[test]
fn rasb() {
    let first = every(600, &FIRST);
    expect(&at(Kind::Rasb, 0.3), 0, &first, &[104, 106]);
    expect_scores(
        &at(Kind::Rasb, 0.3),
        0,
        &first,
        &[(101, 0.05), (102, 0.145), (103, 0.1621), (104, 0.32968), (106, 0.307)],
    );
    expect(&at(Kind::Rasb, 0.5), 0, &first, &[106]);
    expect_scores(&at(Kind::Rasb, 0.5), 0, &first, &[(106, 0.53546824)]);
    expect(&at(Kind::Rasb, 0.51), 0, &every(600, &[0.3, 0.3]), &[102]);
    expect(&at(Kind::Rasb, 0.19), 0, &every(600, &[0.1, 0.1]), &[102]);
    expect(&at(Kind::Rasb, 0.488), 0, &every(600, &[0.2, 0.2, 0.2]), &[103]);
    expect(&at(Kind::Rasb, 0.99), 0, &every(600, &[0.0, 0.0, 1.0, 0.0]), &[103]);
    let waits = dontbuild(every(600, &[0.2; 4]), &[102]);
    expect(&at(Kind::Rasb, 0.3), 0, &waits, &[103]);
    expect_scores(&at(Kind::Rasb, 0.3), 0, &waits, &[(103, 0.488)]);
}

#[test]
fn rasb_la() {
    expect(&at(Kind::RasbLa, 0.3), 0, &every(600, &FIRST), &[104, 106]);
    expect(&at(Kind::RasbLa, 1.0), 0, &every(600, &[0.1; 11]), &[110]);
    expect(&at(Kind::RasbLa, 0.8), 0, &every(600, &[0.1; 8]), &[108]);
    expect(&at(Kind::RasbLa, 1.0), 0, &every(600, &[0.2; 5]), &[105]);
}

#[test]
fn rapb() {
    let pushes = at_hours(&HOURS, &AGED);
    expect(&aged(Kind::Rapb, 0.5, 0.05), -3_600, &pushes, &[105]);
    expect_scores(&aged(Kind::Rapb, 0.5, 0.05), -3_600, &pushes, &[(105, 0.738_406_967)]);
    expect(&aged(Kind::Rapb, 0.3, 0.05), -3_600, &pushes, &[104]);
    expect_scores(&aged(Kind::Rapb, 0.3, 0.05), -3_600, &pushes, &[(104, 0.411_933_333)]);
    expect(&aged(Kind::Rapb, 0.5, 0.0), -3_600, &pushes, &[]);
}

#[test]
fn one_commit_alone_is_due_to_the_second() {
    for (threshold, hours) in [(0.5, 13.458_889_464_849), (0.3, 6.729_444_732_424)] {
        let seconds = (hours * 3_600.0_f64).ceil() as i64;
        for (later, batches) in [(-1, &[][..]), (0, &[102][..])] {
            // A push without scored commits ages what waits, and can be a batch.
            let empty = Push { scores: Vec::new(), ..push(102, seconds + later, 0.0) };
            expect(&aged(Kind::Rapb, threshold, 0.05), 0, &[push(101, 0, 0.02), empty], batches);
        }
    }
}

#[test]
fn rapb_la() {
    let pushes = at_hours(&HOURS, &AGED);
    for threshold in [0.5, 1.0] {
        expect(&aged(Kind::RapbLa, threshold, 0.05), -3_600, &pushes, &[105]);
        expect_scores(&aged(Kind::RapbLa, threshold, 0.05), -3_600, &pushes, &[(105, 1.133_772_731)]);
    }
}

#[test]
fn rdb_by_its_price() {
    let pushes = at_hours(&[0.0, 1.0, 2.0], &[0.25, 0.125, 0.5]);
    expect(&rdb(0.5), -3_600, &pushes, &[103]);
    expect_scores(&rdb(0.5), -3_600, &pushes, &[(103, 0.625)]);
}

/// At an even pace a push comes every quarter of an hour; 0.2 gathers in five, and waits half of that: 0.5 in sum.
#[test]
fn rdb_on_what_is_foreseen() {
    let forecast = Some(Forecast::new(vec![4.0; 168], 0.01).unwrap());
    let steady = Parameters { price: Some(0.5), forecast: forecast.clone(), ..Parameters::default() };
    expect(&strategy(Kind::RdbSteady, steady.clone()), 0, &every(60, &[0.1, 0.099, 0.001, 0.1]), &[103]);
    expect_scores(&strategy(Kind::RdbSteady, steady), 0, &every(60, &[0.1, 0.1]), &[(101, 0.125), (102, 0.5)]);
    // With the next quarter of an hour foreseen, 0.25 · 1 h is due at once, and 0.125 · 2 h an hour later.
    let foreseen = Parameters { price: Some(0.25), forecast, ..Parameters::default() };
    let pushes = at_hours(&[0.0, 1.0, 2.0, 2.5], &[0.125, 0.0, 0.25, 0.0]);
    expect(&strategy(Kind::Rdb, foreseen.clone()), 0, &pushes, &[103]);
    expect_scores(&strategy(Kind::Rdb, foreseen), 0, &pushes, &[(101, 0.031_25), (102, 0.156_25), (103, 0.343_75)]);
}

#[test]
fn a_date_that_goes_backward_is_no_wait() {
    // 101 counts as of hour 1, the last batch's; 103 as of hour 4.
    let pushes = at_hours(&[0.0, 4.0, 2.0, 4.5], &[0.5, 0.0, 0.5, 0.0]);
    expect_scores(&rdb(9.0), 3_600, &pushes, &[(101, 0.0), (102, 1.5), (103, 1.5), (104, 2.0)]);
    expect(&time(3.0), 3_600, &pushes, &[102]);
    expect(&time(2.5), 3_600, &at_hours(&[4.0, 2.0, 6.5], &[0.5; 3]), &[101, 103]);
}

#[test]
fn pushes_by_their_ids() {
    let sixty = every(600, &[0.1; 60]);
    expect(&pushes(20), 0, &sixty, &[120, 140, 160]);
    expect(&pushes(20), 0, &dontbuild(sixty.clone(), &[120]), &[121, 141]);
    expect(&pushes(20), 0, &dontbuild(sixty.clone(), &[120, 121]), &[122, 142]);
    let gaps: Vec<_> = sixty.into_iter().filter(|push| push.id.0 % 3 != 0).collect();
    expect(&pushes(20), 0, &gaps, &[121, 142]);
}

#[test]
fn hours_and_the_backstop() {
    let hourly = |count: usize| every(3_600, &vec![0.1; count]);
    expect(&time(4.0), 0, &dontbuild(hourly(9), &[104]), &[105, 109]);
    let regular = strategy(Kind::Backstop, Parameters::default());
    expect(&regular, 0, &hourly(24), &[104, 108, 112, 116, 120, 124]);
    let android = Parameters { pushes: Some(30), hours: Some(6.0), ..Parameters::default() };
    expect(&strategy(Kind::Backstop, android), 0, &hourly(24), &[106, 112, 118, 124]);
    let on = |branch| strategy(Kind::Backstop, Parameters { branch: Some(branch), ..Parameters::default() });
    let pushes = log(&dontbuild(hourly(3), &[102]));
    let batched = |branch| {
        on(branch).replay(&pushes, None).unwrap().decisions.iter().map(|made| made.batched).collect::<Vec<_>>()
    };
    assert_eq!(batched(Branch::Other), [true, false, true]);
    assert_eq!(batched(Branch::Try), [false; 3]);
}

#[test]
fn every_nth_is_lost_where_it_may_not_build() {
    let fives = strategy(Kind::EveryNth, Parameters { pushes: Some(5), ..Parameters::default() });
    let log_of = |lost: &[u64]| log(&dontbuild(every(600, &[0.1; 15]), lost));
    let batches = |strategy: &Strategy, lost: &[u64]| {
        let log = log_of(lost);
        let found = strategy.replay(&log, Some(mark(100, 0))).unwrap().batches;
        found.iter().map(|found| recorded(&log, found).id.0).collect::<Vec<_>>()
    };
    assert_eq!(batches(&fives, &[105]), [110, 115]);
    // Beside the backstop's own chain, which a multiple of ten does not move.
    let twelve = Parameters { pushes: Some(12), ..Parameters::default() };
    assert_eq!(batches(&strategy(Kind::Expanded, twelve.clone()), &[]), [110, 112]);
    assert_eq!(batches(&strategy(Kind::Expanded, twelve), &[110]), [112]);
    let mut state = history([]);
    assert!(run(&mut state, &fives, &log_of(&[]), 110, UNLIMITED).decision.batched);
    assert!(!run(&mut state, &fives, &log_of(&[]), 111, UNLIMITED).decision.batched);
    assert_eq!(run(&mut state, &fives, &log_of(&[110]), 110, UNLIMITED).decision.reason, Reason::NthLost);
    assert_eq!(ids(&state), [0; 0]);
}

#[test]
fn a_missing_score_fails_the_runs_that_need_it_and_no_other() {
    let mut all = every(600, &[0.1; 5]);
    all[2].scores = vec![Score::Missing];
    let unscored = log(&all);
    let rasb = at(Kind::Rasb, 0.3);
    for id in [103, 104] {
        let decided = history([mark(100, 0)]).run(&rasb, &unscored, unscored.place_of(PushId(id)).unwrap(), UNLIMITED);
        assert_eq!(decided, Err(BadScore::Missing(PushId(103))));
    }
    assert!(!run(&mut history([mark(100, 0)]), &rasb, &unscored, 102, UNLIMITED).decision.batched);
    assert!(!run(&mut history([mark(103, 1_800)]), &rasb, &unscored, 104, UNLIMITED).decision.batched);
    assert!(run(&mut history([mark(100, 0)]), &pushes(4), &unscored, 104, UNLIMITED).decision.batched);
    all[2].scores = vec![Score::Risk(0.1)];
    expect(&rasb, 0, &all, &[104]);
}

#[test]
fn without_a_state_a_push_is_a_batch() {
    let log = log(&dontbuild(every(600, &[0.1; 40]), &[138]));
    let mut state = history([]);
    let cold = run(&mut state, &pushes(20), &log, 137, UNLIMITED).decision;
    assert_eq!((cold.batched, cold.cold_start, cold.reason), (true, true, Reason::ColdStart));
    assert_eq!(ids(&state), [137]);
    let mut state = history([]);
    let waits = run(&mut state, &pushes(20), &log, 138, UNLIMITED).decision;
    assert_eq!((waits.batched, waits.reason), (false, Reason::ColdStartWaits));
    assert!(run(&mut state, &pushes(20), &log, 139, UNLIMITED).decision.cold_start);
}

#[test]
fn limits_of_replay_and_record() {
    let pushes_from_21: Vec<_> = (21..=100).map(|id| push(id, 60 * id as i64, 0.1)).collect();
    let log = log(&pushes_from_21);
    let limits = UNLIMITED;
    let fifty = Limits { max_replayed: 50, ..limits };
    let mut state = history([mark(20, 0)]);
    assert!(!run(&mut state, &pushes(20), &log, 70, fifty).decision.batched);
    assert_eq!(ids(&state), [20, 40, 60]);
    let mut state = history([mark(20, 0)]);
    assert!(run(&mut state, &pushes(20), &log, 71, fifty).decision.cold_start);
    assert_eq!(ids(&state), [20, 71]);

    let three = Limits { max_recorded: 3, ..limits };
    let mut state = history([20, 40, 60].map(|id| mark(id, 60 * id as i64)));
    assert!(run(&mut state, &pushes(20), &log, 80, three).decision.batched);
    assert_eq!(ids(&state), [40, 60, 80]);
    for (late, reason) in [(39, Reason::Stale), (40, Reason::Recorded)] {
        let run = run(&mut state, &pushes(20), &log, late, three);
        assert_eq!((run.decision.reason, run.batches.len()), (reason, 0));
        assert_eq!(ids(&state), [40, 60, 80]);
    }
    let mut state = history([20, 40, 60, 80].map(|id| mark(id, 60 * id as i64)));
    let late = run(&mut state, &pushes(20), &log, 55, limits).decision;
    assert_eq!((late.batched, late.replayed_from), (false, Some(PushId(40))));
    assert_eq!(ids(&state), [20, 40, 60, 80]);
}

#[test]
fn parameters_that_no_cadence_can_have() {
    let refused = |kind, parameters: Parameters| {
        let fault = Strategy::new(kind, parameters).unwrap_err().to_string();
        assert!(!fault.is_empty());
    };
    let none = Parameters::default;
    for kind in [Kind::Rasb, Kind::Rapb] {
        for threshold in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            let aging = (kind == Kind::Rapb).then_some(0.05);
            refused(kind, Parameters { threshold: Some(threshold), aging, ..none() });
        }
    }
    for aging in [-0.05, f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
        refused(Kind::Rapb, Parameters { threshold: Some(0.5), aging: Some(aging), ..none() });
        refused(Kind::RapbLa, Parameters { threshold: Some(0.5), aging: Some(aging), ..none() });
    }
    refused(Kind::RasbLa, Parameters { threshold: Some(0.0), ..none() });
    refused(Kind::Rdb, Parameters { price: Some(0.0), ..none() });
    refused(Kind::Time, Parameters { hours: Some(0.0001), ..none() });
    refused(Kind::Pushes, Parameters { pushes: Some(0), ..none() });
    refused(Kind::Pushes, none());
    refused(Kind::RdbSteady, Parameters { price: Some(0.5), ..none() });
    refused(Kind::Pushes, Parameters { pushes: Some(20), threshold: Some(0.3), ..none() });
}
