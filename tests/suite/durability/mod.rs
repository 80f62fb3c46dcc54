//! The engine loses nothing: kills, failing disks, damaged files, backups, stops, all against the real binary.

mod backups;
mod bit_rot;
mod claim_kills;
mod damage;
mod golden;
mod intent;
mod kills;
mod ledger;
mod load;
mod model;
mod read_only;
mod recovery;
mod stops;

use std::process::Output;

use crate::suite::server::Home;

/// Runs `jacuzzi` on the home's data folder.
fn run(home: &Home, arguments: &[&str]) -> Output {
    home.jacuzzi(arguments).arg("--data-dir").arg(home.data_dir()).output().unwrap()
}

/// The same, which must go well.
fn run_well(home: &Home, arguments: &[&str]) -> Output {
    let output = run(home, arguments);
    assert!(output.status.success(), "jacuzzi {arguments:?}: {output:?}");
    output
}

/// The journal is sound, says `jacuzzi journal verify`.
fn verify(home: &Home) {
    run_well(home, &["journal", "verify"]);
}
