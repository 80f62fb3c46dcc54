//! Fair share: among jobs of equal class and priority, the project that runs the fewest goes first.

use std::sync::Arc;

use crate::domain::dispatcher::key::Key;
use crate::domain::fleet::{Definition, FairShare};
use crate::domain::table::Table;

/// How many jobs each project runs; jobs without a project are one of their own.
#[derive(Debug, Clone, Default)]
pub struct Shares(Option<Table<Option<Arc<str>>, usize>>);

/// A job's place in the order as it is now; smaller goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Jobs that its project runs; 0 where nothing is shared out.
    share: usize,
    pub key: Key,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let level = |place: &Self| (place.key.level(), place.share, place.key);
        level(self).cmp(&level(other))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Shares {
    /// Nobody runs anything yet.
    pub fn of(definition: &Definition) -> Self {
        Self(definition.fair_share_by.map(|FairShare::Project| Table::default()))
    }

    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The project by which a job's line is kept apart.
    pub fn project_of<'a>(&self, project: Option<&'a Arc<str>>) -> Option<&'a Arc<str>> {
        project.filter(|_| self.is_on())
    }

    pub fn place(&self, key: Key, project: Option<&Arc<str>>) -> Place {
        let running = |shares: &Table<Option<Arc<str>>, usize>| shares.get(&project.cloned()).copied();
        Place { share: self.0.as_ref().and_then(running).unwrap_or(0), key }
    }

    pub fn started(&mut self, project: Option<&Arc<str>>) {
        if let Some(shares) = &mut self.0 {
            *shares.entry(project.cloned()).or_default() += 1;
        }
    }

    pub fn ended(&mut self, project: Option<&Arc<str>>) {
        let project = project.cloned();
        if let Some(shares) = &mut self.0
            && let Some(running) = shares.get_mut(&project)
        {
            *running -= 1;
            if *running == 0 {
                shares.swap_remove(&project);
            }
        }
    }
}
