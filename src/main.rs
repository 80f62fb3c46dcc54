//! The control plane of a CI farm: the binary, which parses its arguments and calls `cli`.

fn main() {}
