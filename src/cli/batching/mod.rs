//! `jacuzzi batching`: which pushes get the expensive suite, tried on logs of pushes, without a server.

mod calibrate;
mod compare;
mod decide;
mod flags;
mod forecast;
mod reference;
mod replay;
mod svg;
mod tune;

use std::io::Write;

use clap::{Args, Subcommand};

use super::exit::Exit;
use super::globals::Globals;

/// Try cadences on a log of pushes: which of them get the whole suite
///
/// A log is JSON lines, a push each: {"pushlog_id":101,"pushdate":600,"head_rev":"…","message":"…",
/// "commits":[{"rev":"…","risk":0.05}]}. A risk of null is not scored by design; without "risk" it
/// is missing. "regressed":true|false says what became of a commit, where that is known.
#[derive(Debug, Args)]
pub(super) struct Batching {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Replay(replay::Replay),
    Decide(decide::Decide),
    Calibrate(calibrate::Calibrate),
    Forecast(forecast::MakeForecast),
    Tune(tune::Tune),
    Reference(reference::Reference),
}

impl Batching {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<Exit> {
        match self.action {
            Action::Replay(replay) => replay.run(globals, out)?,
            Action::Decide(decide) => return decide.run(out),
            Action::Calibrate(calibrate) => calibrate.run(out)?,
            Action::Forecast(forecast) => forecast.run(out)?,
            Action::Tune(tune) => tune.run(globals, out)?,
            Action::Reference(reference) => reference.run(globals, out)?,
        }
        Ok(Exit::Ok)
    }
}
