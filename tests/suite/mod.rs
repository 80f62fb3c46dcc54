//! All integration tests, and what they share.

mod tidy;
