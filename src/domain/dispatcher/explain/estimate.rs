//! When a job is expected to start: from what runs on its workers, what goes before it, and how long such runs have taken.

use std::time::Duration;

use serde::Serialize;

use crate::domain::time::Timestamp;

/// A guess, with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    pub at: Timestamp,
    pub because: String,
}

/// When workers that are free at these times, at least one, have started so
/// many jobs of this length, and the next one starts.
///
/// Each worker starts a job when it is free and after each job, so the starts
/// are the times `free + i × run`; the one looked for is found by halving.
pub(super) fn start_after(free: &[Timestamp], ahead: usize, run: Duration) -> Timestamp {
    let run = i64::try_from(run.as_micros()).unwrap_or(i64::MAX).max(1);
    let started_by = |at: i64| -> u64 {
        let of = |free: &Timestamp| match at.checked_sub(free.unix_micros()) {
            Some(since) if since >= 0 => since as u64 / run as u64 + 1,
            _ => 0,
        };
        free.iter().map(of).fold(0, u64::saturating_add)
    };
    let first = free.iter().map(|free| free.unix_micros()).min().unwrap_or(i64::MAX);
    let wanted = ahead as u64 + 1;
    let (mut low, mut high) = (first, first.saturating_add(run.saturating_mul(ahead as i64)));
    while low < high {
        let middle = low + (high - low) / 2;
        if started_by(middle) >= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Timestamp::from_unix_micros(low)
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::*;

    #[test]
    fn the_start_is_that_of_a_queue_that_is_played() {
        let at = Timestamp::from_unix_seconds;
        for free in [vec![0], vec![5, 100, 7], vec![30, 30, 0, 999]] {
            let mut played: BinaryHeap<_> = free.iter().map(|free| Reverse(*free)).collect();
            for ahead in 0..40 {
                let Reverse(start) = played.pop().unwrap();
                played.push(Reverse(start + 60));
                let free: Vec<_> = free.iter().map(|free| at(*free)).collect();
                assert_eq!(start_after(&free, ahead, Duration::from_secs(60)), at(start), "{free:?} {ahead}");
            }
        }
    }
}
