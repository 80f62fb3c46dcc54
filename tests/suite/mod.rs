//! All integration tests, and what they share.

mod faults;
mod reads;
#[expect(dead_code, reason = "for the tests of the server, which come with it")]
mod server;
mod tidy;
mod wire;
mod writes;
