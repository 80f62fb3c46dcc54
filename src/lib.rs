pub mod config;
pub mod domain;
