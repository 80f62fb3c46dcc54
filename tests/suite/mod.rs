//! All integration tests, and what they share.

<<<<<<< HEAD
mod api;
=======
mod client;
mod durability;
>>>>>>> main
mod faults;
mod reads;
mod server;
mod tidy;
mod wire;
