//! The dispatcher held against its specification: the cases by hand, the designs that failed before, and an oracle.

mod calls;
mod cases;
mod choices;
mod graphs;
mod invariants;
mod law;
mod moment;
mod options;
mod oracle;
mod outcome;
mod play;
mod random;
mod random_farm;
mod setting;
mod story;
mod terms;
mod world;
mod wrong_designs;
