//! Batching: which pushes get the expensive suite.
//!
//! A [`Log`] holds the pushes of a branch. A [`Strategy`] (a [`Cadence`] with
//! its parameters) replays it from the last recorded batch on, push by push,
//! and starts over wherever a batch is due. [`History::run`] is one run of a
//! scheduler for one push: what it decides, and what it records. A
//! [`Yardstick`] measures what strategies cost and what nobody could beat,
//! [`tuning`] looks for their parameters, and [`calibration`] mends the risks
//! that all of it rests on.

mod backstop;
mod cadence;
pub mod calibration;
mod evaluation;
mod every_nth;
mod forecast;
mod history;
mod log;
mod mass;
mod optimum;
mod parameters;
mod pushes;
mod rapb;
mod rapb_la;
mod rasb;
mod rasb_la;
mod rdb;
mod rdb_steady;
mod replay;
mod strategy;
mod time;
pub mod tuning;

pub use cadence::Cadence;
pub use evaluation::{Evaluation, Yardstick};
pub use forecast::{BadForecast, Forecast};
pub use history::{Batch, History, Limits, Run};
pub use log::{BadLog, BadScore, Log, Push, PushId, Score, may_batch};
pub use parameters::{BadParameter, BadStrategy, Branch, Kind, Parameters};
pub use replay::{Decision, Found, Mark, Reason, Replay};
pub use strategy::Strategy;
