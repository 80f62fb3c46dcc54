//! `jacuzzi export --watch`: the export follows the server, generation by generation.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::write;
use crate::cli::follower::Follower;
use crate::cli::trouble::Trouble;

/// How long the server is asked to wait for a change; proxies end requests that take a minute.
const WAIT: Duration = Duration::from_secs(30);

/// At least so long between two writes: what changes faster is written together,
/// and only so many replaced trees are left at a time.
const BETWEEN_WRITES: Duration = Duration::from_millis(100);

/// After trouble; doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Follows for ever.
///
/// # Errors
/// What no waiting can mend: a server that speaks otherwise, and a place that
/// nothing can be written to in the first place.
pub(in crate::cli) async fn keep(mut follower: Follower, to: &Path) -> anyhow::Result<()> {
    let (mut trouble, mut pause) = (Trouble::default(), FIRST_PAUSE);
    let (mut is_written, mut ever_written) = (true, false);
    loop {
        let wait = if is_written { WAIT } else { Duration::ZERO };
        let looking = spawn_blocking(move || {
            let looked = follower.look(wait);
            (follower, looked)
        });
        let (same, looked) = looking.await?;
        follower = same;
        let fault = match looked {
            Ok(is_new) => {
                is_written &= !is_new;
                let written = if is_written { Ok(()) } else { write_known(&follower, to) };
                match written {
                    Ok(()) => {
                        (is_written, ever_written) = (true, true);
                        trouble.over();
                        pause = FIRST_PAUSE;
                        sleep(BETWEEN_WRITES).await;
                        continue;
                    }
                    Err(fault) if !ever_written => return Err(fault),
                    Err(fault) => fault,
                }
            }
            Err(fault) if fault.may_pass() => fault.into(),
            Err(fault) => return Err(fault.into()),
        };
        trouble.met(format!("{fault:#}; trying again"));
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

fn write_known(follower: &Follower, to: &Path) -> anyhow::Result<()> {
    let known = follower.known().ok_or_else(|| anyhow!("nothing is known of the server yet"))?;
    write(known, &known.encode(), to)
}
