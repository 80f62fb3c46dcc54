//! The law of DESIGN.md for one decision, by trying every matching: too slow for a farm, too simple to be wrong.

use std::collections::BTreeSet;

/// Some of the idle workers, of which so many may start a job.
#[derive(Debug, Clone)]
pub struct Call {
    pub workers: Vec<usize>,
    pub max: usize,
}

/// One decision. `wishes` holds for each pending job, in key order, the idle
/// workers (0 to 31) that it may use, the best first; the answer holds for each
/// of them the worker that it starts on.
pub fn decide(wishes: &[Vec<usize>], calls: &[Call]) -> Vec<Option<usize>> {
    let mut accepted: Vec<usize> = Vec::new();
    for job in 0..wishes.len() {
        accepted.push(job);
        if !fit(accepted.iter().map(|&job| &wishes[job]), 0, calls) {
            accepted.pop();
        }
    }
    let mut starts = vec![None; wishes.len()];
    let mut taken = 0;
    for (place, &job) in accepted.iter().enumerate() {
        let rest = || accepted[place + 1..].iter().map(|&job| &wishes[job]);
        let free = |worker: &&usize| taken & bit(**worker) == 0;
        let worker = wishes[job].iter().filter(free).find(|worker| fit(rest(), taken | bit(**worker), calls));
        let worker = *worker.expect("accepted jobs fit together");
        taken |= bit(worker);
        starts[job] = Some(worker);
    }
    starts
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

#[test]
fn the_law_by_hand() {
    let law = |wishes: &[&[usize]]| decide(&wishes.iter().map(|wishes| wishes.to_vec()).collect::<Vec<_>>(), &[]);
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
        let wishes: Vec<_> = wishes.iter().map(|wishes| wishes.to_vec()).collect();
        let calls: Vec<_> = calls.iter().map(|&(workers, max)| Call { workers: workers.to_vec(), max }).collect();
        decide(&wishes, &calls)
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
