//! All integration tests, and what they share.

mod api;
mod batching;
mod client;
mod dice;
mod dispatch;
mod durability;
mod faults;
mod jobs;
mod reads;
mod runs;
mod server;
mod simulate;
mod tidy;
mod wire;
mod writes;

/// A file of this checkout. Tests run in it; where they were built may be
/// another one that shares the cache.
fn in_checkout(path: &str) -> std::path::PathBuf {
    std::env::current_dir().unwrap().join(path)
}
