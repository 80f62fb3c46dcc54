//! One file for each outside thing that we use, the one place that knows it.

pub mod batching_state;
pub mod clock;
pub mod data_folder;
pub mod history_file;
mod name_lists;
pub mod push_log;
pub mod risk_table;
pub mod runs;
pub mod runs_file;
pub mod snapshot_files;
pub mod sqlite;
pub mod static_tree;
pub mod tls;
pub mod whole_file;
pub mod whole_folder;
