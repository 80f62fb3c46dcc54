//! All integration tests, and what they share.

mod api;
mod client;
mod dice;
mod durability;
mod faults;
mod reads;
mod server;
mod tidy;
mod wire;
mod writes;
