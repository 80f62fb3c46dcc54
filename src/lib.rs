pub mod adapters;
pub mod domain;
