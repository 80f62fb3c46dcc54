//! Names of workers in short: `spot-{001..300}` stands for three hundred of them.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::domain::names::{BadName, WorkerName};

/// A worker's name, or one with a range of whole numbers in it.
///
/// Numbers keep the zeros of the range's first end: `{001..300}` begins with
/// `001`, `{1..300}` with `1`; past the last number of that width they grow
/// (`{001..1038}` ends with `1038`). A brace that is no range is itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerRange {
    text: String,
    parts: Parts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Parts {
    One(WorkerName),
    Many { prefix: String, first: u64, last: u64, width: usize, suffix: String },
}

/// Why a text names no workers.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadRange {
    #[error(transparent)]
    Name(#[from] BadName),
    #[error("the range {first}..{last} runs backwards")]
    Backwards { first: u64, last: u64 },
    #[error("only one {{first..last}} range is understood in a name")]
    TwoRanges,
}

impl WorkerRange {
    /// Takes a name, or a name with one `{first..last}` in it.
    pub fn parse(text: &str) -> Result<Self, BadRange> {
        let parts = match find_range(text) {
            None => Parts::One(WorkerName::parse(text)?),
            Some((prefix, first, last, suffix)) => {
                if find_range(suffix).is_some() {
                    return Err(BadRange::TwoRanges);
                }
                let width = if first.starts_with('0') { first.len() } else { 1 };
                let (first, last) = (number(first), number(last));
                if first > last {
                    return Err(BadRange::Backwards { first, last });
                }
                let parts = Parts::Many { prefix: prefix.into(), first, last, width, suffix: suffix.into() };
                // The last name is the longest; if it is a name, all are.
                WorkerName::parse(&parts.nth_text(last))?;
                parts
            }
        };
        Ok(Self { text: text.to_owned(), parts })
    }

    /// How many workers it names, at least one.
    pub fn count(&self) -> u64 {
        match self.parts {
            Parts::One(_) => 1,
            Parts::Many { first, last, .. } => (last - first).saturating_add(1),
        }
    }

    /// The names, in order of their numbers.
    pub fn names(&self) -> Box<dyn Iterator<Item = WorkerName> + '_> {
        match &self.parts {
            Parts::One(name) => Box::new(std::iter::once(name.clone())),
            Parts::Many { first, last, .. } => Box::new((*first..=*last).map(|number| {
                WorkerName::parse(&self.parts.nth_text(number)).expect("the longest name of the range was checked")
            })),
        }
    }
}

impl Parts {
    fn nth_text(&self, number: u64) -> String {
        match self {
            Self::One(name) => name.to_string(),
            Self::Many { prefix, suffix, width, .. } => format!("{prefix}{number:0width$}{suffix}"),
        }
    }
}

/// Splits at the first `{digits..digits}`, if there is one.
fn find_range(text: &str) -> Option<(&str, &str, &str, &str)> {
    text.match_indices('{').find_map(|(open, _)| {
        let (inside, suffix) = text[open + 1..].split_once('}')?;
        let (first, last) = inside.split_once("..")?;
        (is_number(first) && is_number(last)).then_some((&text[..open], first, last, suffix))
    })
}

/// Nine digits are more workers than any farm has, and fit a `u64`.
fn is_number(text: &str) -> bool {
    (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(digits: &str) -> u64 {
    digits.parse().expect("one to nine digits fit a u64")
}

impl fmt::Display for WorkerRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for WorkerRange {
    type Error = BadRange;

    fn try_from(text: String) -> Result<Self, BadRange> {
        Self::parse(&text)
    }
}

impl From<WorkerRange> for String {
    fn from(range: WorkerRange) -> String {
        range.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        WorkerRange::parse(text).unwrap().names().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_range_keeps_its_zeros() {
        assert_eq!(names("w-{008..011}-x"), ["w-008-x", "w-009-x", "w-010-x", "w-011-x"]);
        assert_eq!(names("{9..11}"), ["9", "10", "11"]);
        assert_eq!(names("w{098..101}").last().unwrap(), "w101");
        assert_eq!(names("w{99..100}"), ["w99", "w100"]);
        assert_eq!(names("{01..01}"), ["01"]);
        assert_eq!(names("plain"), ["plain"]);
        assert_eq!(names("odd{a..b}"), ["odd{a..b}"]);
        assert_eq!(WorkerRange::parse("w{0..999999999}").unwrap().count(), 1_000_000_000);
    }

    #[test]
    fn a_bad_range_says_why() {
        assert_eq!(WorkerRange::parse("w{5..4}"), Err(BadRange::Backwards { first: 5, last: 4 }));
        assert_eq!(WorkerRange::parse("w{1..2}{1..2}"), Err(BadRange::TwoRanges));
        assert_eq!(WorkerRange::parse(""), Err(BadRange::Name(BadName::Empty)));
    }
}
