//! Farms to measure with: Mozilla's at its largest, and one of the scale that we aim for.

use serde::Serialize;

use crate::domain::allocator::{Builders, ImportLine, Write};
use crate::sim;

/// A farm file with what is allocated in it.
pub(super) struct Farm {
    pub toml: String,
    pub builders: Builders,
}

#[derive(Serialize)]
struct Blob<'a> {
    builders: &'a Builders,
}

impl Farm {
    /// The state of a history in which the most builders had an allocation.
    pub(super) fn at_its_largest(history: Vec<ImportLine>) -> anyhow::Result<Self> {
        let (mut now, mut largest) = (Builders::new(), Builders::new());
        for line in history {
            if let Write::Patch { set, unset } = line.write {
                now.extend(set.into_iter().filter(|(_, workers)| !workers.is_empty()));
                now.retain(|builder, _| !unset.contains(builder));
            }
            if now.len() > largest.len() {
                largest = now.clone();
            }
        }
        // An import is taken as it is, so the farm file need not know the workers.
        Ok(Self { toml: toml::to_string(&sim::farm_file(1))?, builders: largest })
    }

    /// Every builder with ten workers.
    pub(super) fn of_scale(builders: usize, workers: usize) -> anyhow::Result<Self> {
        let toml = toml::to_string(&sim::farm_file(workers))?;
        Ok(Self { toml, builders: sim::many_builders(builders, workers) })
    }

    pub(super) fn blob(&self) -> Vec<u8> {
        serde_json::to_vec(&Blob { builders: &self.builders }).expect("names are JSON")
    }
}
