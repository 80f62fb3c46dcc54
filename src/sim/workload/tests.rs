//! The statistics of made-up farms, and the rules that none of them breaks.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::*;
use crate::domain::fleet::{Fleet, JobClass};
use crate::domain::{BuilderName, WorkerName};

const MONDAY: &str = "2014-06-02T00:00:00Z";

fn mozilla(days: u32) -> Shape {
    let start = Timestamp::parse(MONDAY).unwrap();
    Shape { seed: 1, start, days, jobs_per_day: 75_000, builders: 145, machines: 435 }
}

/// A farm on which a mean cold run takes a quarter of an hour, for one day.
fn small() -> Workload {
    Workload::new(Shape { jobs_per_day: 2_000, builders: 20, machines: 40, ..mozilla(1) }).unwrap()
}

fn seconds(time: Timestamp) -> i64 {
    time.unix_micros() / 1_000_000
}

fn share(of: usize, all: usize) -> f64 {
    of as f64 / all as f64
}

#[test]
fn arrivals_follow_the_day_and_the_week() {
    let workload = Workload::new(mozilla(14)).unwrap();
    let (start, _) = workload.shape.span();
    let (mut days, mut hours) = ([0_u32; 7], [0_u32; 24]);
    let mut last = start;
    for arrival in workload.arrivals() {
        let at = seconds(arrival.submitted_at);
        assert!(at >= last, "arrivals come in order");
        last = at;
        days[(at - start) as usize / 86_400 % 7] += 1;
        hours[(at - start) as usize / 3_600 % 24] += 1;
    }
    let working = f64::from(days[..5].iter().sum::<u32>()) / 10.0;
    assert!((working / 75_000.0 - 1.0).abs() < 0.02, "{working} jobs on a mean working day");
    let weekend = f64::from(days[5..].iter().sum::<u32>()) / 4.0;
    assert!((0.30..0.36).contains(&(weekend / working)), "{weekend} jobs on a day of the weekend");
    let busy = f64::from(hours[18]) / f64::from(hours[5]);
    assert!((2.2..3.0).contains(&busy), "{busy} times as many jobs at noon in California as in the night");
    let week: u32 = days.iter().sum::<u32>() / 2;
    assert!((415_000..435_000).contains(&week), "{week} jobs a week");
}

#[test]
fn a_branch_that_opens_again_gets_its_pushes_in_a_burst() {
    let workload = Workload::new(mozilla(14)).unwrap();
    let mut by_ten_minutes = BTreeMap::<i64, u32>::new();
    for push in workload.pushes.iter().filter(|push| push.branch == 0) {
        *by_ten_minutes.entry(push.at / 600).or_default() += 1;
    }
    let usual = workload.builders.pushes_a_weekday[0] / 144.0 * calendar::peak_pace();
    let most = f64::from(*by_ten_minutes.values().max().unwrap());
    assert!(most > 2.0 * usual, "at most {most} in ten minutes, in the busiest hour usually {usual}");
}

#[test]
fn nightly_builds_come_all_at_once() {
    let workload = Workload::new(mozilla(2)).unwrap();
    let nightly =
        workload.arrivals().filter(|arrival| arrival.builder.as_str() == "Firefox mozilla-central linux l10n nightly");
    let times: Vec<String> = nightly.map(|arrival| arrival.submitted_at.to_string()).collect();
    assert_eq!(times.len(), 180);
    assert_eq!(
        BTreeSet::from_iter(times),
        BTreeSet::from(["2014-06-02T10:02:00Z".into(), "2014-06-03T10:02:00Z".into()])
    );
}

/// All pools together.
fn summary(workload: &Workload) -> Part {
    let mut summary = Summary::new(workload);
    workload.history().for_each(|row| summary.add(&row));
    summary.parts().pop().unwrap()
}

#[test]
fn a_farm_is_as_busy_as_a_farm_should_be() {
    let workload = Workload::new(mozilla(8)).unwrap();
    let all = summary(&workload);
    assert_eq!((all.builders, all.machines), (145, 435));
    assert_eq!(all.jobs as usize, workload.arrivals().count());
    assert!((0.60..0.80).contains(&all.busiest_hour), "{all:?}");
    assert!((0.80..0.95).contains(&all.warm), "{all:?}");
    assert!(all.wait_p50 == 0 && all.wait_p90 > 0, "{all:?}");
    let longer = summary(&Workload::new(Shape { jobs_per_day: 8_000, ..mozilla(8) }).unwrap());
    assert!((longer.busy / all.busy - 1.0).abs() < 0.1, "fewer and longer jobs: {longer:?}, not {all:?}");
}

#[test]
fn a_warm_run_takes_three_fifths_of_a_cold_one() {
    let workload = small();
    let services: Vec<u64> = workload.arrivals().map(|arrival| arrival.service).collect();
    let mut warm = 0;
    for row in workload.history().filter(|row| row.result == RunResult::Success) {
        let whole = services[row.job as usize - 1] as f64 * if row.warm { 0.6 } else { 1.0 };
        let took = (seconds(row.finished_at) - seconds(row.started_at)) as f64;
        assert!((took - whole).abs() <= 0.5, "{row:?}");
        warm += u32::from(row.warm);
    }
    assert!(warm > 0);
}

#[test]
fn results_have_their_shares_and_jobs_that_broke_run_again() {
    let workload = Workload::new(Shape { jobs_per_day: 20_000, ..mozilla(3) }).unwrap();
    let runs: Vec<HistoryRow> = workload.history().collect();
    let of = |result| share(runs.iter().filter(|row| row.result == result).count(), runs.len());
    let shares = [RunResult::Success, RunResult::Failure, RunResult::Exception, RunResult::Retry].map(of);
    for (found, expected) in shares.into_iter().zip([0.905, 0.07, 0.008, 0.017]) {
        assert!((found - expected).abs() < 0.004, "{shares:?}");
    }
    let mut of_job = BTreeMap::<u64, Vec<&HistoryRow>>::new();
    runs.iter().for_each(|row| of_job.entry(row.job).or_default().push(row));
    assert_eq!(of_job.len(), workload.arrivals().count());
    assert_eq!(runs.iter().map(|row| row.claim).collect::<BTreeSet<_>>().len(), runs.len());
    for runs in of_job.values() {
        assert!(runs.iter().map(|row| row.attempt).eq(1..=runs.len() as u32));
        assert!(runs.windows(2).all(|pair| pair[0].finished_at <= pair[1].started_at));
        let again = |row: &HistoryRow| matches!(row.result, RunResult::Exception | RunResult::Retry);
        let (last, before) = runs.split_last().unwrap();
        assert!(before.iter().all(|row| again(row)) && (!again(last) || last.attempt == 5), "{runs:?}");
    }
    let fleet = Fleet::from(workload.definition.clone());
    for class in [JobClass::Release, JobClass::Idle] {
        assert!(runs.iter().any(|row| fleet.rule(&row.builder).unwrap().class == class), "{class:?}");
    }
}

/// What a worker did, oldest first.
fn by_worker(runs: &[HistoryRow]) -> BTreeMap<&WorkerName, Vec<&HistoryRow>> {
    let mut by_worker = BTreeMap::<_, Vec<_>>::new();
    runs.iter().for_each(|row| by_worker.entry(&row.worker).or_default().push(row));
    by_worker
}

#[test]
fn jobs_are_served_first_come_first_served_on_their_own_workers() {
    let workload = Workload::new(Shape { jobs_per_day: 20_000, builders: 60, machines: 150, ..mozilla(1) }).unwrap();
    let runs: Vec<HistoryRow> = workload.history().collect();
    let by_worker = by_worker(&runs);
    for runs in by_worker.values() {
        assert!(runs.windows(2).all(|pair| pair[0].finished_at <= pair[1].started_at), "one job at a time");
    }
    let ends: BTreeMap<_, _> = runs.iter().map(|row| ((row.job, row.attempt), row.finished_at)).collect();
    let mut waited = 0;
    for row in &runs {
        let set = &workload.allocations[&row.builder];
        assert!(set.contains(&row.worker));
        let ready = if row.attempt == 1 { row.submitted_at } else { ends[&(row.job, row.attempt - 1)] };
        if row.started_at == ready {
            continue;
        }
        waited += 1;
        for worker in set {
            let before = by_worker[worker].iter().rfind(|other| other.started_at < row.started_at);
            let busy = before.is_some_and(|before| before.finished_at >= row.started_at);
            assert!(busy, "{worker} was idle while job {} waited", row.job);
            let meanwhile = |other: &HistoryRow| other.started_at > ready && other.started_at < row.started_at;
            let jumped = by_worker[worker].iter().find(|other| other.job > row.job && meanwhile(other));
            assert_eq!(jumped, None, "ahead of job {}", row.job);
        }
    }
    assert!(waited > 100, "too few jobs waited to tell: {waited}");
}

#[test]
fn farms_of_every_size_keep_the_rules() {
    let most = catalog::ranked().len() as u32;
    for (builders, machines) in [(1, 1), (1, 50), (10, 10), (145, 435), (most, 1_000)] {
        let workload = Workload::new(Shape { builders, machines, ..mozilla(1) }).unwrap();
        let definition = &workload.definition;
        assert_eq!(definition.problems(), [], "{builders} builders");
        let fleet = Fleet::from(definition.clone());
        assert_eq!(fleet.workers().len(), machines as usize);
        assert_eq!(workload.allocations.len(), builders as usize);
        let mut sharers = BTreeMap::<&WorkerName, Vec<&BuilderName>>::new();
        for (builder, workers) in &workload.allocations {
            assert_eq!(BTreeSet::from_iter(workers).len(), workers.len(), "{builder}");
            for worker in workers {
                assert_eq!(fleet.worker(worker).unwrap().pool, fleet.rule(builder).unwrap().pool, "{builder}");
                sharers.entry(worker).or_default().push(builder);
            }
        }
        assert_eq!(sharers.len(), machines as usize);
        for builders in sharers.values() {
            let groups: BTreeSet<_> = builders.iter().map(|builder| fleet.isolation_group(builder)).collect();
            assert!(builders.len() <= 2 && groups.len() == 1, "{builders:?}");
        }
        for builder in &workload.builders.list {
            let branch = workload.builders.branches[builder.branch];
            assert_eq!(fleet.isolation_group(&builder.name), Some(branch.name));
            assert_eq!(definition.priority_of(None, &builder.name), branch.priority);
        }
    }
}

#[test]
fn a_farm_that_cannot_be_says_why() {
    let refusal = |shape| Workload::new(shape).unwrap_err().to_string();
    assert_eq!(refusal(mozilla(0)), "days: from 1 to 366, not 0");
    assert_eq!(refusal(Shape { jobs_per_day: 0, ..mozilla(1) }), "jobs a day: from 1 to 1000000, not 0");
    let most = catalog::ranked().len() as u32;
    assert!(refusal(Shape { builders: most + 1, ..mozilla(1) }).starts_with("builders: from 1 to "));
    let refused = refusal(Shape { machines: 50, ..mozilla(1) });
    assert!(refused.starts_with("145 builders need ") && refused.contains(" machines at least"), "{refused}");
}

fn digest(seed: u64) -> String {
    let workload = Workload::new(Shape { seed, jobs_per_day: 1_500, ..mozilla(2) }).unwrap();
    let mut digest = Sha256::new();
    digest.update(serde_json::to_string(&workload.allocations).unwrap());
    workload.arrivals().for_each(|arrival| digest.update(serde_json::to_string(&arrival).unwrap()));
    workload.history().for_each(|row| digest.update(format!("{row:?}")));
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A change of the digest is a change of every farm that was ever made: say so where it is made.
#[test]
fn a_seed_is_the_same_farm_everywhere() {
    assert_eq!(digest(1), "cd295e15ff4b7669");
    assert_ne!(digest(2), digest(1));
}
