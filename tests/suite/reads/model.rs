//! The allocations as the contract defines them, kept by the simplest means: what the server says is held against this.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Builder → machines, or machine → builders. A `String` is ordered by code point.
pub type Lists = BTreeMap<String, Vec<String>>;

/// One generation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub builders: Lists,
}

impl State {
    pub fn of(builders: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let mut state = Self::default();
        for (builder, machines) in builders {
            state.set(builder, machines);
        }
        state
    }

    fn set(&mut self, builder: String, mut machines: Vec<String>) {
        machines.sort();
        machines.dedup();
        self.builders.insert(builder, machines);
    }

    /// What every machine is dedicated to.
    pub fn machines(&self) -> Lists {
        let mut machines = Lists::new();
        for (builder, list) in &self.builders {
            for machine in list {
                machines.entry(machine.clone()).or_default().push(builder.clone());
            }
        }
        machines
    }

    pub fn blob(&self, epoch: &str, generation: u64) -> Value {
        json!({"epoch": epoch, "generation": generation, "builders": self.builders, "machines": self.machines()})
    }

    /// Does what a delta says, which must be sound: no list empty or as it was, nothing taken that is not there.
    pub fn apply(&mut self, delta: &Value) {
        for builder in delta["unset"].as_array().unwrap() {
            let builder = builder.as_str().unwrap();
            assert!(self.builders.remove(builder).is_some(), "{builder:?} had no allocation: {delta}");
        }
        for (builder, machines) in lists(&delta["set"]) {
            assert!(!machines.is_empty() && machines.is_sorted(), "{builder:?}: {delta}");
            let was = self.builders.insert(builder, machines.clone());
            assert_ne!(was.as_ref(), Some(&machines), "nothing new: {delta}");
        }
    }

    /// Takes in a line of a history: an empty list leaves the one before it in force.
    pub fn replay(&mut self, line: &Value) {
        for builder in line["unset"].as_array().into_iter().flatten() {
            self.builders.remove(builder.as_str().unwrap());
        }
        for (builder, machines) in lists(&line["set"]) {
            if !machines.is_empty() {
                self.set(builder, machines);
            }
        }
    }
}

/// An object of lists of names.
pub fn lists(value: &Value) -> Lists {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}
