//! The one integration binary: everything that is tested from outside the crate.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach what tests share")]

mod suite;
