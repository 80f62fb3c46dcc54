//! Runs are kept as long as the setting says, and no longer.

use std::time::Instant;

use super::journal::{FARM, jobs, journal, listed, now, recorded, runs};
use crate::suite::server::Home;

const DAY: i64 = 86_400;

#[test]
fn what_is_too_old_is_not_recorded_and_what_becomes_too_old_is_forgotten() {
    const OLD: u64 = 25_000;
    let (home, now) = (Home::new(FARM), now());
    let mut events = runs(3, now - 401 * DAY);
    events.extend(runs(OLD, now - 9 * DAY));
    events.extend(runs(5, now));
    journal(&home, events);
    let server = home.start();
    recorded(&server);
    assert_eq!(listed(&server).len() as u64, OLD + 5, "the default is more than a year");
    assert!(server.stop().success());

    let server = home.serve().env("JACUZZI__RUNS__KEEP", "8d").start();
    let begun = Instant::now();
    while listed(&server).len() > 5 {
        assert!(begun.elapsed().as_secs() < 30, "{} rows are left", listed(&server).len());
    }
    assert_eq!(jobs(&listed(&server)), [5, 4, 3, 2, 1]);
}

#[test]
fn less_than_sizing_needs_is_refused() {
    let home = Home::new(FARM);
    let refused = home.serve().env("JACUZZI__RUNS__KEEP", "7d").try_start().err().unwrap();
    assert!(refused.stderr.contains("runs.keep: 691200 to "), "{}", refused.stderr);
}
