//! The law of DESIGN.md for one decision, by trying every matching: too slow for a farm, too simple to be wrong.

use std::collections::BTreeSet;
use std::iter;

/// Some of the idle workers, of which so many may start a job.
#[derive(Debug, Clone)]
pub struct Call {
    pub workers: Vec<usize>,
    pub max: usize,
}

/// A pending job.
#[derive(Debug, Clone)]
pub struct Job {
    /// The idle workers (0 to 31) that it may use, the best first.
    pub workers: Vec<usize>,
    /// It starts only if so many more of its kind could.
    pub reserve: usize,
}

/// One decision about the jobs, in key order: the worker that each starts on.
/// `rank` is a job's place before that order, when these were accepted already.
pub fn decide<R: Ord>(jobs: &[Job], calls: &[Call], rank: impl Fn(usize, &[usize]) -> R) -> Vec<Option<usize>> {
    let mut accepted = Vec::new();
    in_turn(jobs.len(), rank, |job, so_far| {
        let copies = iter::repeat_n(&job, jobs[job].reserve);
        let fits = fit(so_far.iter().chain([&job]).chain(copies).map(|&job| &jobs[job].workers), 0, calls);
        accepted.extend(fits.then_some(job));
        fits
    });
    let mut starts = vec![None; jobs.len()];
    let mut taken = 0;
    for (place, &job) in accepted.iter().enumerate() {
        let rest = || accepted[place + 1..].iter().map(|&job| &jobs[job].workers);
        let free = |worker: &&usize| taken & bit(**worker) == 0;
        let worker = jobs[job].workers.iter().filter(free).find(|worker| fit(rest(), taken | bit(**worker), calls));
        let worker = *worker.expect("accepted jobs fit together");
        taken |= bit(worker);
        starts[job] = Some(worker);
    }
    starts
}

/// The order in which so many jobs are looked at: always the first by rank of
/// those left, then by key. `accept` says of each whether it is accepted after these.
pub fn in_turn<R: Ord>(
    jobs: usize,
    rank: impl Fn(usize, &[usize]) -> R,
    mut accept: impl FnMut(usize, &[usize]) -> bool,
) -> Vec<usize> {
    let mut left: Vec<usize> = (0..jobs).collect();
    let mut accepted = Vec::new();
    let mut order = Vec::new();
    while let Some(first) = (0..left.len()).min_by_key(|&place| rank(left[place], &accepted)) {
        let job = left.remove(first);
        order.push(job);
        if accept(job, &accepted) {
            accepted.push(job);
        }
    }
    order
}

/// Whether each of the jobs can have a worker of its own that is not taken, and
/// every call its limit: follows every set of workers that the jobs so far could
/// occupy.
fn fit<'a>(jobs: impl Iterator<Item = &'a Vec<usize>>, taken: u32, calls: &[Call]) -> bool {
    let mut occupied = BTreeSet::from([taken]);
    for wishes in jobs {
        let with = |set: u32| wishes.iter().filter(move |worker| set & bit(**worker) == 0).map(move |w| set | bit(*w));
        occupied = occupied.into_iter().flat_map(with).collect();
    }
    let is_within = |set: u32, call: &Call| call.workers.iter().filter(|w| set & bit(**w) != 0).count() <= call.max;
    occupied.into_iter().any(|set| calls.iter().all(|call| is_within(set, call)))
}

fn bit(worker: usize) -> u32 {
    assert!(worker < 32, "brute force is for small farms");
    1 << worker
}

/// Jobs that want these workers and reserve none.
fn jobs(wishes: &[&[usize]]) -> Vec<Job> {
    wishes.iter().map(|workers| Job { workers: workers.to_vec(), reserve: 0 }).collect()
}

#[test]
fn the_law_by_hand() {
    let law = |wishes: &[&[usize]]| decide(&jobs(wishes), &[], |_, _| ());
    assert_eq!(law(&[]), []);
    assert_eq!(law(&[&[]]), [None]);
    // The more important job has the one worker.
    assert_eq!(law(&[&[0], &[0]]), [Some(0), None]);
    // It leaves its favourite to a job that has no other.
    assert_eq!(law(&[&[0, 1], &[0]]), [Some(1), Some(0)]);
    // It does not when a third job needs what it would move to.
    assert_eq!(law(&[&[0, 1], &[1], &[0]]), [Some(0), Some(1), None]);
    // It moves over two others.
    assert_eq!(law(&[&[0, 1], &[1, 2], &[0]]), [Some(1), Some(2), Some(0)]);
    // A job that cannot start takes nothing from those after it.
    assert_eq!(law(&[&[0], &[0], &[1]]), [Some(0), None, Some(1)]);
    // Each has its favourite when nobody is hurt.
    assert_eq!(law(&[&[2, 0, 1], &[2, 1, 0], &[1, 0, 2]]), [Some(2), Some(1), Some(0)]);
}

#[test]
fn the_law_of_calls_by_hand() {
    let law = |wishes: &[&[usize]], calls: &[(&[usize], usize)]| {
        let calls: Vec<_> = calls.iter().map(|&(workers, max)| Call { workers: workers.to_vec(), max }).collect();
        decide(&jobs(wishes), &calls, |_, _| ())
    };
    // The one claim is for the more important job.
    assert_eq!(law(&[&[1], &[0]], &[(&[0, 1], 1)]), [Some(1), None]);
    // It leaves the call to a job that has no other.
    assert_eq!(law(&[&[0, 2], &[1]], &[(&[0, 1], 1)]), [Some(2), Some(1)]);
    // It does not when a job between them needs what it would move to.
    assert_eq!(law(&[&[0, 2], &[2], &[1]], &[(&[0, 1], 1)]), [Some(0), Some(2), None]);
    // It moves from one call to another, whose job moves on to a free worker.
    assert_eq!(law(&[&[0, 2], &[3, 4], &[1]], &[(&[0, 1], 1), (&[2, 3], 1)]), [Some(2), Some(4), Some(1)]);
    // Limits that bind nobody change nothing.
    assert_eq!(law(&[&[1, 0], &[1]], &[(&[0, 1], 2)]), [Some(0), Some(1)]);
}

#[test]
fn the_law_of_reserves_and_shares_by_hand() {
    let law = |wishes: &[&[usize]], reserves: &[usize]| {
        let mut jobs = jobs(wishes);
        jobs.iter_mut().zip(reserves).for_each(|(job, reserve)| job.reserve = *reserve);
        decide(&jobs, &[], |_, _| ())
    };
    // One worker is not enough for two of the first, but for one of the second.
    assert_eq!(law(&[&[0], &[0]], &[1, 0]), [None, Some(0)]);
    // What is kept free for another of the first is free for the second.
    assert_eq!(law(&[&[0, 1], &[0, 1]], &[1, 0]), [Some(0), Some(1)]);
    // It comes after the first, and leaves none for another.
    assert_eq!(law(&[&[0, 1], &[0, 1]], &[0, 1]), [Some(0), None]);

    // The last of three goes before the second, of whose project one is accepted.
    let project = [0, 0, 1];
    let running = |job: usize, accepted: &[usize]| accepted.iter().filter(|&&a| project[a] == project[job]).count();
    assert_eq!(decide(&jobs(&[&[0, 1], &[0, 1], &[0, 1]]), &[], running), [Some(0), None, Some(1)]);
    // One that cannot start is no share of its project.
    assert_eq!(decide(&jobs(&[&[], &[0], &[0]]), &[], running), [None, Some(0), None]);
}
