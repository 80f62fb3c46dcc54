pub mod adapters;
pub mod domain;
pub mod engine;
pub mod ports;
