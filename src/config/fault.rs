//! What is wrong with a configuration: every fault at once, each with the place where a person would mend it.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a text file; both numbers from 1, the column in characters.
    Line { file: Arc<str>, line: usize, column: usize },
    /// Anywhere else: `$JACUZZI__SERVER__LISTEN`, `--listen`, `#/pools/0`, a file as a whole.
    Named(Arc<str>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// One thing to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub place: Place,
    /// The key (`pools[0].class`); empty where no key could be made out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// All faults of a configuration: a line each as text, a list in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Faults(Vec<Fault>);

impl Faults {
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Fault> {
        self.0.iter()
    }

    pub(super) fn one(place: Place, message: impl Into<String>) -> Self {
        let mut faults = Self::default();
        faults.add(place, String::new(), message);
        faults
    }

    pub(super) fn add(&mut self, place: Place, path: String, message: impl Into<String>) {
        self.0.push(Fault { place, path, message: message.into() });
    }

    /// Takes in the faults of a tree that stands at this JSON pointer of a greater one.
    pub(super) fn extend_below(&mut self, pointer: &str, faults: Self) {
        self.0.extend(faults.0.into_iter().map(|fault| {
            let place = fault.place.to_string();
            let place = Place::Named(format!("{pointer}{}", place.trim_start_matches('#')).into());
            Fault { place, ..fault }
        }));
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.0.iter().any(|fault| fault.path == path)
    }

    /// Brings faults of one text file into its order; others stay as they were found.
    pub(super) fn sort(&mut self) {
        self.0.sort_by_key(|fault| match fault.place {
            Place::Line { line, column, .. } => (line, column),
            Place::Named(_) => (0, 0),
        });
    }

    /// The value if nothing is wrong with it: nothing is taken by halves.
    pub(super) fn unless_any<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_line_for_people_and_an_object_for_programs() {
        let place = Place::Line { file: "farm.toml".into(), line: 12, column: 9 };
        let mut faults = Faults::one(place, "broken");
        faults.add(Place::Named("--listen".into()), "server.listen".into(), "no address");
        assert_eq!(faults.to_string(), "farm.toml:12:9: broken\n--listen: server.listen: no address");
        assert_eq!(
            serde_json::to_string(&faults).unwrap(),
            r#"[{"place":"farm.toml:12:9","message":"broken"},{"place":"--listen","path":"server.listen","message":"no address"}]"#
        );
    }
}
