//! Pushes: a Poisson process with the day's and the week's cycles, in bursts where a branch was closed for a while.

use std::fmt;

use serde::{Serialize, Serializer};

use super::Shape;
use super::builders::Builders;
use super::calendar::{SECONDS_A_DAY, pace, peak_pace};
use super::catalog::Trigger;
use crate::sim::chance::Chance;

/// Nightly builds start at 10:02 UTC, which is two past three in the morning in California.
const NIGHTLY_AT: i64 = 10 * 3_600 + 2 * 60;

/// Somebody breaks a branch, and it is closed until that is mended: twice in
/// seven days, for three quarters of an hour (means of exponential times).
const SECONDS_OPEN: f64 = 3.5 * 86_400.0;
const SECONDS_CLOSED: f64 = 45.0 * 60.0;

/// When a branch opens again, what was held back lands so many times as fast as it came.
const LANDING_SPEED: f64 = 6.0;

/// Of 1,000 pushes, so many change what only a build from nothing picks up.
const CLOBBERS_IN_1_000: u32 = 15;

/// A push by its changeset: twelve hexadecimal digits, as its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PushId(u64);

impl fmt::Display for PushId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}

impl Serialize for PushId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Something that makes a branch's builders run.
#[derive(Debug, Clone)]
pub(super) struct Push {
    pub id: PushId,
    /// Unix seconds.
    pub at: i64,
    /// Its place in [`Builders::branches`].
    pub branch: usize,
    pub nightly: bool,
    /// How many pushes to its branch, up to this one, made all machines build from nothing.
    pub clobbers: u32,
    /// For all that its jobs leave to chance.
    pub chance: Chance,
}

/// All pushes of a farm, in the order of their times.
pub(super) fn pushes(shape: &Shape, builders: &Builders, chance: &mut Chance) -> Vec<Push> {
    let (start, end) = shape.span();
    let mut pushes = Vec::new();
    for (branch, each_weekday) in builders.pushes_a_weekday.iter().enumerate() {
        let mut chance = chance.split();
        let mut times = poisson(start, end, each_weekday / SECONDS_A_DAY as f64, &mut chance);
        hold_back(&mut times, start, end, &mut chance);
        let has_nightlies =
            builders.list.iter().any(|builder| builder.branch == branch && builder.trigger == Trigger::Nightly);
        let nightlies = nightlies(start, end).filter(|_| has_nightlies);
        let mut of_branch: Vec<(i64, bool)> = times.into_iter().map(|at| (at, false)).collect();
        of_branch.extend(nightlies.map(|at| (at, true)));
        of_branch.sort();
        let mut clobbers = 0;
        pushes.extend(of_branch.into_iter().map(|(at, nightly)| {
            clobbers += u32::from(!nightly && chance.in_thousand(CLOBBERS_IN_1_000));
            Push { id: PushId(chance.bits() >> 16), at, branch, nightly, clobbers, chance: chance.split() }
        }));
    }
    // Stable: branches that are pushed to in one second keep their order.
    pushes.sort_by_key(|push| push.at);
    pushes
}

/// Times from `start` to before `end` that come on their own, `a_second` of
/// them at the pace of a mean weekday, by thinning the fastest such process
/// (Lewis, Shedler: Simulation of nonhomogeneous Poisson processes by thinning, 1979).
fn poisson(start: i64, end: i64, a_second: f64, chance: &mut Chance) -> Vec<i64> {
    let mut times = Vec::new();
    if a_second <= 0.0 {
        return times;
    }
    let mut after = 0.0;
    loop {
        after += chance.exponential(1.0 / (a_second * peak_pace()));
        if after >= (end - start) as f64 {
            return times;
        }
        let at = start + after as i64;
        if chance.unit() * peak_pace() < pace(at) {
            times.push(at);
        }
    }
}

/// Moves pushes to a closed branch to when it opens again; those that would land after the end never do.
fn hold_back(times: &mut Vec<i64>, start: i64, end: i64, chance: &mut Chance) {
    let mut closes = start as f64 + chance.exponential(SECONDS_OPEN);
    while closes < end as f64 {
        let opens = closes + chance.exponential(SECONDS_CLOSED);
        let held = times.iter_mut().filter(|at| (closes..opens).contains(&(**at as f64)));
        held.for_each(|at| *at = (opens + (*at as f64 - closes) / LANDING_SPEED) as i64);
        closes = opens + chance.exponential(SECONDS_OPEN);
    }
    times.retain(|at| *at < end);
}

fn nightlies(start: i64, end: i64) -> impl Iterator<Item = i64> {
    let first_day = start.div_euclid(SECONDS_A_DAY);
    let times = (first_day..).map(|day| day * SECONDS_A_DAY + NIGHTLY_AT);
    times.skip_while(move |at| *at < start).take_while(move |at| *at < end)
}
