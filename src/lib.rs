pub mod adapters;
pub mod cli;
pub mod domain;
