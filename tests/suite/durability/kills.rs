//! A server that is killed in the middle of its work, two hundred times, has lost nothing that it acknowledged.

use std::time::Duration;

use super::ledger::Ledger;
use super::load::{FARM, Writers, serve};
use super::verify;
use crate::suite::dice::{Dice, number_from};
use crate::suite::faults::PowerCut;
use crate::suite::server::Home;

/// So that starts read a snapshot and replay what is behind it, too.
const SNAPSHOT_EVERY: u32 = 70;

/// Writes until a random moment; one round in twenty is long enough for the journal's housekeeping to be hit.
fn random_moment(writers: &Writers, dice: &mut Dice) {
    let accepted = if dice.one_in(20) { dice.within(900..1300) } else { dice.within(0..40) };
    writers.wait(accepted, Duration::from_micros(dice.within(0..4000)));
}

#[test]
fn kill_9_loses_nothing_that_was_acknowledged() {
    let kills = number_from("JACUZZI_KILLS").unwrap_or(200);
    let mut dice = Dice::seeded(1);
    let (home, mut ledger) = (Home::new(FARM), Ledger::default());
    for kill in 0..kills {
        let server = serve(&home, SNAPSHOT_EVERY).start();
        ledger.check(&home, &server);
        ledger.settle();
        let writers = Writers::start(&home, &server, &kill.to_string(), &mut dice);
        random_moment(&writers, &mut dice);
        server.kill9();
        ledger.note(writers.join());
        if kill % 10 == 0 {
            verify(&home);
        }
    }
    ledger.check(&home, &serve(&home, SNAPSHOT_EVERY).start());
    verify(&home);
    eprintln!("{kills} kills: {}", ledger.summary());
}

/// Stricter than a kill, after which the system still writes what it was given:
/// of the journal only those bytes are left that a sync had promised.
#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let mut dice = Dice::seeded(2);
    let (home, mut ledger, power) = (Home::new(FARM), Ledger::default(), PowerCut::of("journal.sqlite"));
    for cut in 0..25 {
        let server = serve(&home, SNAPSHOT_EVERY).envs(power.env()).start();
        ledger.check(&home, &server);
        ledger.settle();
        let writers = Writers::start(&home, &server, &cut.to_string(), &mut dice);
        random_moment(&writers, &mut dice);
        server.kill9();
        ledger.note(writers.join());
        power.forget_what_was_not_synced(home.data_dir(), &["journal.sqlite", "journal.sqlite-wal"]);
    }
    ledger.check(&home, &serve(&home, SNAPSHOT_EVERY).start());
    verify(&home);
    eprintln!("25 power cuts: {}", ledger.summary());
}
