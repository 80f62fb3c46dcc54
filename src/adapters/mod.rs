//! One file for each outside thing that we use, the one place that knows it.

pub mod clock;
pub mod data_folder;
pub mod snapshot_files;
pub mod sqlite;
