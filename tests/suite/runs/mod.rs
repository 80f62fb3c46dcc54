//! The run history: all that the journal says of runs, no more and no less, for whoever asks.

mod calls;
mod commands;
mod crashes;
mod export;
mod journal;
mod list;
mod recording;
mod retention;
