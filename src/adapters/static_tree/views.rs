//! Where the three views of a tree disagree. The builders' own files are the truth; the others follow from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::domain::allocator::Builders;
use crate::domain::{BuilderName, WorkerName};

/// One of the three views of the allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// `v1/builders/*`
    Builders,
    /// `v1/machines/*`
    Machines,
    /// `v1/allocated/all`
    All,
}

/// One thing that two views say differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disagreement {
    /// The view is not there at all.
    Missing(View),
    /// The builder's file has the machine, the machine's file has not the builder.
    /// `has_file`: the machine has one.
    NotByMachine { builder: BuilderName, machine: WorkerName, has_file: bool },
    /// The machine's file has the builder, the builder's file has not the machine.
    /// `has_file`: the builder has one.
    NotByBuilder { builder: BuilderName, machine: WorkerName, has_file: bool },
    /// A builder's file has the machine, `v1/allocated/all` has not.
    NotInAll { machine: WorkerName },
    /// `v1/allocated/all` has the machine, no builder's file has.
    OnlyInAll { machine: WorkerName },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_missing = |has_file: &bool, otherwise: &str| match has_file {
            true => otherwise.to_owned(),
            false => "does not exist".to_owned(),
        };
        match self {
            Self::Missing(View::Builders) => f.write_str("v1/builders does not exist"),
            Self::Missing(View::Machines) => f.write_str("v1/machines does not exist"),
            Self::Missing(View::All) => f.write_str("v1/allocated/all does not exist"),
            Self::NotByMachine { builder, machine, has_file } => {
                let says = or_missing(has_file, "does not list that builder");
                write!(f, "v1/builders/{builder} lists machine {machine:?}, but v1/machines/{machine} {says}")
            }
            Self::NotByBuilder { builder, machine, has_file } => {
                let says = or_missing(has_file, "does not list that machine");
                write!(f, "v1/machines/{machine} lists builder {builder:?}, but v1/builders/{builder} {says}")
            }
            Self::NotInAll { machine } => {
                write!(f, "a builder's file lists machine {machine:?}, but v1/allocated/all does not")
            }
            Self::OnlyInAll { machine } => {
                write!(f, "v1/allocated/all lists machine {machine:?}, but no builder's file does")
            }
        }
    }
}

/// Machine → its builders.
pub(super) type ByMachine = BTreeMap<WorkerName, BTreeSet<BuilderName>>;

/// The machines of each builder, turned into the builders of each machine.
pub(super) fn by_machine(builders: &Builders) -> ByMachine {
    let mut machines = ByMachine::new();
    for (builder, list) in builders {
        for machine in list {
            machines.entry(machine.clone()).or_default().insert(builder.clone());
        }
    }
    machines
}

/// Compares the views, of which two may be missing.
pub(super) fn compare(
    builders: &Builders,
    machines: Option<&BTreeMap<WorkerName, Vec<BuilderName>>>,
    all: Option<&BTreeSet<WorkerName>>,
) -> Vec<Disagreement> {
    let expected = by_machine(builders);
    let mut found = Vec::new();
    match machines {
        None => found.push(Disagreement::Missing(View::Machines)),
        Some(machines) => compare_machines(builders, &expected, machines, &mut found),
    }
    match all {
        None => found.push(Disagreement::Missing(View::All)),
        Some(all) => {
            let not_in_all = expected.keys().filter(|machine| !all.contains(*machine)).cloned();
            found.extend(not_in_all.map(|machine| Disagreement::NotInAll { machine }));
            let only_in_all = all.iter().filter(|machine| !expected.contains_key(*machine)).cloned();
            found.extend(only_in_all.map(|machine| Disagreement::OnlyInAll { machine }));
        }
    }
    found
}

fn compare_machines(
    builders: &Builders,
    expected: &ByMachine,
    machines: &BTreeMap<WorkerName, Vec<BuilderName>>,
    found: &mut Vec<Disagreement>,
) {
    for (machine, of_machine) in expected {
        let listed = machines.get(machine);
        for builder in of_machine.iter().filter(|builder| !listed.is_some_and(|listed| listed.contains(builder))) {
            let (builder, machine, has_file) = (builder.clone(), machine.clone(), listed.is_some());
            found.push(Disagreement::NotByMachine { builder, machine, has_file });
        }
    }
    for (machine, listed) in machines {
        let of_machine = expected.get(machine);
        for builder in listed.iter().filter(|builder| !of_machine.is_some_and(|set| set.contains(*builder))) {
            let (builder, machine) = (builder.clone(), machine.clone());
            let has_file = builders.contains_key(&builder);
            found.push(Disagreement::NotByBuilder { builder, machine, has_file });
        }
    }
}
