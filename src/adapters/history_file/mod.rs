//! Files that can be imported: a history of changes, one a line, or all allocations as one blob.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Formatter};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::name_lists::{ListsByBuilder, NameList, once, problem};
use crate::domain::allocator::{Builders, ImportLine, Write};
use crate::domain::{BadTime, BuilderName, Timestamp};

/// So many characters of a file that is something else are shown.
const CHARS_SHOWN: usize = 40;

/// Where and why a file is neither a history nor a blob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct HistoryFault {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1; 0 is the place before a line's first.
    pub column: usize,
    pub problem: String,
}

impl HistoryFault {
    /// `lines_before`: how many lines of the file the parser was not given.
    fn of(error: &serde_json::Error, lines_before: usize) -> Self {
        Self { line: lines_before + error.line(), column: error.column(), problem: problem(error) }
    }
}

/// Reads a whole file.
///
/// A history is JSON lines, `{"time":…,"set":{builder:[machine…]},"unset":[builder…]}`:
/// Unix seconds or RFC 3339 text, `set` or `unset` or both, blank lines
/// skipped, further keys ignored. A blob is one object with `builders`, as
/// `/v1/allocations` serves it, over as many lines as it likes; it becomes one
/// line that replaces everything. Empty lists and repeated machines are kept,
/// for the domain to judge.
///
/// # Errors
/// The first fault, with its line and place; nothing of the file counts then.
pub fn parse(bytes: &[u8]) -> Result<Vec<ImportLine>, HistoryFault> {
    match form(bytes)? {
        Form::Blob => parse_blob(bytes).map(|line| vec![line]),
        Form::History => written_lines(bytes).map(|(at, line)| parse_line(at, line)).collect(),
    }
}

enum Form {
    Blob,
    History,
}

/// A file is a history if a line of it is an object by itself, save that the
/// object may be a whole blob.
fn form(bytes: &[u8]) -> Result<Form, HistoryFault> {
    let Some((at, first)) = written_lines(bytes).next() else {
        return Err(HistoryFault { line: 1, column: 0, problem: "the file is empty".into() });
    };
    if !first.trim_ascii_start().starts_with(b"{") {
        let shown: String = String::from_utf8_lossy(first).chars().take(CHARS_SHOWN).collect();
        let problem = format!(
            "{shown:?} begins neither a history (one {{\"set\":…,\"unset\":…}} a line) nor a blob ({{\"builders\":…}})"
        );
        return Err(HistoryFault { line: at + 1, column: 1, problem });
    }
    Ok(match keys(first) {
        Some(keys) if keys.contains("builders") && !keys.contains("set") && !keys.contains("unset") => Form::Blob,
        Some(_) => Form::History,
        None if written_lines(bytes).any(|(_, line)| keys(line).is_some()) => Form::History,
        None => Form::Blob,
    })
}

/// The keys of an object; `None` when the text is no object, or more than one.
fn keys(text: &[u8]) -> Option<BTreeSet<String>> {
    let object: BTreeMap<String, IgnoredAny> = serde_json::from_slice(text).ok()?;
    Some(object.into_keys().collect())
}

/// The lines that are not blank, counted from 0 with those that are.
fn written_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty())
}

fn parse_blob(bytes: &[u8]) -> Result<ImportLine, HistoryFault> {
    let Blob(builders) = serde_json::from_slice(bytes).map_err(|error| HistoryFault::of(&error, 0))?;
    Ok(ImportLine { time: None, write: Write::Replace(builders) })
}

fn parse_line(at: usize, line: &[u8]) -> Result<ImportLine, HistoryFault> {
    let Change { time, set, unset } = serde_json::from_slice(line).map_err(|error| HistoryFault::of(&error, at))?;
    Ok(ImportLine { time, write: Write::Patch { set, unset } })
}

struct Blob(Builders);

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(BlobVisitor)
    }
}

struct BlobVisitor;

impl<'de> Visitor<'de> for BlobVisitor {
    type Value = Blob;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("one object with the key \"builders\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Blob, A::Error> {
        let mut builders = None;
        while let Some(key) = object.next_key::<String>()? {
            if key == "builders" {
                once(&mut builders, &key, object.next_value_seed(ListsByBuilder { key: "builders" })?)?;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        builders.map(Blob).ok_or_else(|| A::Error::custom("there is neither \"builders\" nor \"set\" nor \"unset\""))
    }
}

struct Change {
    time: Option<Timestamp>,
    set: Builders,
    unset: BTreeSet<BuilderName>,
}

impl<'de> Deserialize<'de> for Change {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ChangeVisitor)
    }
}

struct ChangeVisitor;

impl<'de> Visitor<'de> for ChangeVisitor {
    type Value = Change;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a change: an object with \"set\" or \"unset\", and perhaps \"time\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Change, A::Error> {
        let (mut time, mut set, mut unset) = (None, None, None);
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "time" => once(&mut time, &key, object.next_value_seed(Moment)?)?,
                "set" => once(&mut set, &key, object.next_value_seed(ListsByBuilder { key: "set" })?)?,
                "unset" => once(&mut unset, &key, object.next_value_seed(NameList::at("\"unset\""))?)?,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        if set.is_none() && unset.is_none() {
            return Err(A::Error::custom("a change has \"set\" or \"unset\", this one has neither"));
        }
        let (set, unset) = (set.unwrap_or_default(), BTreeSet::from_iter(unset.unwrap_or_default()));
        match unset.iter().find(|builder| set.contains_key(*builder)) {
            Some(both) => Err(A::Error::custom(format_args!("builder {both:?} is both in \"set\" and in \"unset\""))),
            None => Ok(Change { time, set, unset }),
        }
    }
}

/// The value of `time`.
struct Moment;

impl<'de> DeserializeSeed<'de> for Moment {
    type Value = Timestamp;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Timestamp, D::Error> {
        from.deserialize_any(self)
    }
}

impl Moment {
    fn or_fault<E: Error>(self, read: Result<Timestamp, BadTime>) -> Result<Timestamp, E> {
        read.map_err(|error| E::custom(format_args!("\"time\": {error}")))
    }
}

impl Visitor<'_> for Moment {
    type Value = Timestamp;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("\"time\" as Unix seconds or RFC 3339 text")
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Timestamp, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Timestamp, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Timestamp, E> {
        self.or_fault(Timestamp::from_unix_seconds_f64(seconds))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        self.or_fault(Timestamp::parse(text))
    }
}

#[cfg(test)]
mod tests;
