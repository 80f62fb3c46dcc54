//! Batching: the vectors of its contract, random histories, and the commands.

mod commands;
mod random;
mod ties;
mod vectors;
mod world;
