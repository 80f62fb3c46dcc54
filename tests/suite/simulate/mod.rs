//! Farms that are made up, as their users have them.

mod workload;
