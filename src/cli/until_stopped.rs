//! Work that goes on until the process is told to end.

use std::future::Future;

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Works until the work ends, or SIGTERM or SIGINT comes, which is no failure.
/// Then the work is left where it waits, never in the middle of a step.
pub(super) fn until_stopped(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        tokio::select! {
            ended = work => ended,
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    });
    // A request that waits for news need not end first.
    runtime.shutdown_background();
    ended
}
