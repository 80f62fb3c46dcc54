//! A tie is due, in every form and at every size, though doubles disagree; and what is not due is not.

use jacuzzi::domain::batching::Kind;

use super::world::{aged, at, every, log, mark, push, rdb};
use crate::suite::dice::Dice;

/// So many pushes of one risk: the batch is the last of them.
#[track_caller]
fn last_is_first_batch(strategy: &jacuzzi::domain::batching::Strategy, risks: &[f64], start: i64) {
    let log = log(&every(0, risks));
    let batches = strategy.replay(&log, Some(mark(100, start))).unwrap().batches;
    assert_eq!(batches.iter().map(|found| found.place).collect::<Vec<_>>(), [risks.len() - 1], "{strategy:?}");
}

#[test]
fn of_linear_forms() {
    for n in 2..200_usize {
        for tenths in 1..10_u32 {
            // As people write them: .1, .2, … and their multiple.
            let risk: f64 = format!("0.{tenths}").parse().unwrap();
            let sum = u64::from(tenths) * n as u64;
            let threshold: f64 = format!("{}.{}", sum / 10, sum % 10).parse().unwrap();
            last_is_first_batch(&at(Kind::RasbLa, threshold), &vec![risk; n], 0);
            last_is_first_batch(&aged(Kind::RapbLa, threshold, 0.0), &vec![risk; n], 0);
            if n < 20 {
                last_is_first_batch(&aged(Kind::RapbLa, threshold, 0.5), &vec![risk; n], 0);
            }
        }
    }
}

#[test]
fn of_independent_risks() {
    // (1 − .1)² = .81, in decimals of any length.
    for percent in 1..100_u64 {
        for n in 2..=4_u32 {
            let risk: f64 = format!("0.{percent:02}").parse().unwrap();
            let (whole, left) = (100_u64.pow(n), (100 - percent).pow(n));
            if left * 1_000 < whole {
                // So close to 1 doubles lie further apart than a unit.
                continue;
            }
            let threshold: f64 = format!("0.{:0width$}", whole - left, width = 2 * n as usize).parse().unwrap();
            last_is_first_batch(&at(Kind::Rasb, threshold), &vec![risk; n as usize], 0);
            last_is_first_batch(&aged(Kind::Rapb, threshold, 0.25), &vec![risk; n as usize], 0);
        }
    }
}

#[test]
fn of_risk_hours() {
    for seconds in (1..100_000).step_by(977) {
        // One commit of risk .1 has waited .1 · seconds / 3600.
        let price = 0.1 * seconds as f64 / 3_600.0;
        let log = log(&[push(101, 0, 0.1), push(102, seconds - 1, 0.0), push(103, seconds, 0.0)]);
        let batches = rdb(price).replay(&log, Some(mark(100, 0))).unwrap().batches;
        assert_eq!(batches.iter().map(|found| found.place).collect::<Vec<_>>(), [2], "{seconds} s");
    }
}

/// The quick sum of `rapb_la` is never trusted where it could be wrong.
#[test]
fn aged_sums_agree_with_their_scores() {
    let mut dice = Dice::seeded(1);
    for _ in 0..500 {
        let mut now = 0;
        let pushes: Vec<_> = (101..160)
            .map(|id| {
                now += dice.within(0..7_200) as i64;
                push(id, now, dice.within(0..1_001) as f64 / 1_000.0)
            })
            .collect();
        let log = log(&pushes);
        let scores = aged(Kind::RapbLa, 1e9, 0.05).replay(&log, Some(mark(100, 0))).unwrap().decisions;
        // A threshold that a sum reaches exactly, or by one unit not.
        let reached = scores[dice.within(1..59) as usize].score.unwrap();
        for (threshold, is_tie) in [(reached, true), (reached + 1.0 / (1_u64 << 40) as f64, false)] {
            let first = scores.iter().position(|decision| decision.score.unwrap() >= threshold);
            let batches = aged(Kind::RapbLa, threshold, 0.05).replay(&log, Some(mark(100, 0))).unwrap().batches;
            assert_eq!(batches.first().map(|found| found.place), first, "{threshold} {is_tie}");
        }
    }
}
