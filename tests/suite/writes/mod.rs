//! No bad input ever becomes a generation, and nobody writes who may not: asked of the real binary over a socket.

mod accidents;
mod audit;
mod bodies;
mod conditions;
mod contention;
pub mod desk;
mod hosts;
mod huge;
mod identity;
mod limits;
mod malformed;
mod names;
mod order;
mod refusals;
mod reload;
mod rollback;
mod secrecy;
mod tls;
mod tokens;
mod workers;
