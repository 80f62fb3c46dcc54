//! The control plane of a CI farm.

pub mod domain;
