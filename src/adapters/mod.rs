//! One file (or folder) for each outside thing: the one place that knows its form.

pub mod history_file;
mod name_lists;
pub mod static_tree;
pub mod whole_file;
