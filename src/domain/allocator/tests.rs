//! The shrink rule over time: what it measures against, at given moments.

use super::{Allocations, Builders, Command, Fault, FaultValue, ImportLine, Refusal, Rule, Write, WriteCommand};
use crate::domain::author::Author;
use crate::domain::fleet::Fleet;
use crate::domain::names::{BuilderName, PoolName, WorkerName};
use crate::domain::time::Timestamp;
use crate::domain::{allocator, fleet};

const HOUR: i64 = 3600;

/// A farm with one builder, whose list alone changes.
struct Farm {
    fleet: Fleet,
    allocations: Allocations,
    keep: u64,
}

impl Farm {
    fn new(keep: u64) -> Self {
        let pool = PoolName::parse("all").unwrap();
        let mut definition = fleet::Definition {
            pools: vec![fleet::Pool {
                name: pool.clone(),
                workers: vec![fleet::WorkerRange::parse("w{000..999}").unwrap()],
                class: fleet::WorkerClass::Spot,
                options: fleet::Options::default(),
            }],
            ..fleet::Definition::default()
        };
        definition.builders.push(fleet::BuilderRule {
            pattern: String::new(),
            pool,
            requires: Default::default(),
            class: fleet::JobClass::Normal,
            options: fleet::Options::default(),
            cadence: None,
        });
        definition.allocations.keep_generations = keep;
        Self { fleet: Fleet::from(definition), allocations: Allocations::default(), keep }
    }

    fn carry_out(&mut self, seconds: i64, command: Command) -> Result<(), Refusal> {
        let now = Timestamp::from_unix_seconds(seconds);
        let events = allocator::decide(&self.fleet, &self.allocations, now, command)?;
        events.iter().for_each(|event| self.allocations.apply(event, self.keep));
        Ok(())
    }

    fn try_write(&mut self, seconds: i64, workers: u64, force: bool) -> Result<(), Refusal> {
        let write = Write::Replace(lists(workers));
        let (author, reason) = (Author::new("test"), None);
        let command = WriteCommand { write, author, reason, expected: None, force, bad_names: Vec::new() };
        self.carry_out(seconds, Command::Write(command))
    }

    /// A write of so many workers that is accepted.
    fn write(&mut self, seconds: i64, workers: u64) {
        self.try_write(seconds, workers, false).unwrap_or_else(|refusal| panic!("{workers} at {seconds} s: {refusal}"));
    }

    fn force(&mut self, seconds: i64, workers: u64) {
        self.try_write(seconds, workers, true).unwrap();
    }

    /// One that is refused as a shrink from so many.
    fn refuse(&mut self, seconds: i64, becomes: u64, most: u64) {
        let value = FaultValue::Machines { most, becomes, max_shrink_percent: 30 };
        let fault = Fault { builder: None, rule: Rule::Shrink, machine: None, value: Some(value) };
        assert_eq!(self.try_write(seconds, becomes, false), Err(Refusal::Faults(vec![fault])), "at {seconds} s");
    }

    fn import(&mut self, lines: &[(i64, u64)]) {
        let line = |(seconds, workers): &(i64, u64)| ImportLine {
            time: Some(Timestamp::from_unix_seconds(*seconds)),
            write: Write::Replace(lists(*workers)),
        };
        let lines = lines.iter().map(line).collect();
        let command = Command::Import { lines, strict: false, author: Author::new("test"), reason: None };
        self.carry_out(0, command).unwrap();
    }
}

fn lists(workers: u64) -> Builders {
    if workers == 0 {
        return Builders::new();
    }
    let names = (0..workers).map(|at| WorkerName::parse(&format!("w{at:03}")).unwrap());
    Builders::from([(BuilderName::parse("b").unwrap(), names.collect())])
}

#[test]
fn exactly_the_percentage_is_allowed_and_one_more_is_not() {
    let mut farm = Farm::new(100);
    farm.write(0, 200);
    farm.refuse(1, 139, 200);
    farm.refuse(1, 0, 200);
    farm.write(1, 140);
}

#[test]
fn ten_workers_lost_are_never_a_shrink() {
    let mut farm = Farm::new(100);
    farm.write(0, 11);
    farm.refuse(1, 0, 11);
    farm.write(1, 1);
    farm.refuse(2, 0, 11);
    let mut small = Farm::new(100);
    small.write(0, 10);
    small.write(1, 0);
}

#[test]
fn small_writes_are_measured_together_within_an_hour() {
    let mut farm = Farm::new(100);
    farm.write(0, 200);
    farm.write(10, 170);
    farm.write(20, 140);
    farm.refuse(30, 139, 200);
    // Replaced at 10 s, so in force until then: an hour later it counts no more.
    farm.refuse(HOUR + 9, 120, 200);
    farm.write(HOUR + 10, 120);
    farm.refuse(HOUR + 19, 118, 170);
    farm.refuse(HOUR + 20, 97, 140);
    farm.write(HOUR + 20, 98);
}

#[test]
fn growing_back_and_staying_are_no_shrink_though_below_the_bound() {
    let mut farm = Farm::new(100);
    farm.import(&[(0, 200), (10, 50)]);
    farm.write(20, 50);
    farm.write(30, 60);
    farm.refuse(40, 59, 200);
    farm.write(50, 60);
    farm.write(60, 200);
    farm.write(70, 140);
}

#[test]
fn what_was_in_force_for_long_is_measured_against() {
    let mut farm = Farm::new(100);
    farm.write(0, 200);
    farm.refuse(1000 * HOUR, 139, 200);
    farm.write(1000 * HOUR, 150);
    farm.refuse(1000 * HOUR + 1, 139, 200);
}

#[test]
fn a_forced_write_begins_anew() {
    let mut farm = Farm::new(100);
    farm.write(0, 200);
    farm.force(10, 100);
    farm.refuse(11, 69, 100);
    farm.write(12, 70);
    farm.refuse(13, 69, 100);
    farm.force(14, 70);
    farm.write(15, 49);
}

#[test]
fn imported_times_lie_in_the_past() {
    let mut farm = Farm::new(100);
    farm.import(&[(0, 200), (HOUR / 2, 150), (3 * HOUR, 140)]);
    // The newest counts however old it is; what it replaced, two days ago, does not.
    farm.refuse(50 * HOUR, 97, 140);
    farm.write(50 * HOUR, 98);
}

#[test]
fn what_is_not_kept_any_more_is_measured_against_all_the_same() {
    for keep in [1, 2, 100] {
        let mut farm = Farm::new(keep);
        farm.write(0, 200);
        farm.write(1, 150);
        (2..12).for_each(|second| farm.write(second, 150));
        farm.refuse(20, 139, 200);
        farm.write(21, 160);
        farm.refuse(22, 139, 200);
    }
}

#[test]
fn a_snapshot_keeps_what_is_measured_against() {
    let mut farm = Farm::new(1);
    farm.write(0, 200);
    farm.write(1, 150);
    let saved = serde_json::to_string(&farm.allocations).unwrap();
    farm.allocations = serde_json::from_str(&saved).unwrap();
    farm.refuse(2, 139, 200);
    farm.write(HOUR + 1, 105);
}

fn import(lines: Vec<ImportLine>) -> Command {
    Command::Import { lines, strict: false, author: Author::new("test"), reason: None }
}

#[test]
fn an_import_of_the_future_happens_now() {
    let mut farm = Farm::new(10);
    let line = |seconds| ImportLine {
        time: Some(Timestamp::from_unix_seconds(seconds)),
        write: Write::Replace(lists(seconds.unsigned_abs())),
    };
    farm.carry_out(1000, import(vec![line(900), line(2000)])).unwrap();
    let times: Vec<_> = farm.allocations.entries().map(|entry| entry.time).collect();
    assert_eq!(times, [1000, 900].map(Timestamp::from_unix_seconds));
}

#[test]
fn an_import_has_a_limit_which_the_refusal_names() {
    let line = ImportLine { time: None, write: Write::Patch { set: Builders::new(), unset: Default::default() } };
    let lines = vec![line; allocator::MAX_IMPORT_LINES + 1];
    let refusal = Farm::new(10).carry_out(0, import(lines)).unwrap_err();
    assert!(refusal.to_string().contains("100000 at most: cut it into parts"), "{refusal}");
}
