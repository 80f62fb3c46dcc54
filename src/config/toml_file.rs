//! TOML text as a tree of values, each with its line and column.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::fault::{Faults, Place};
use super::node::{Entry, Node, Value};

/// Reads and parses a file.
pub(super) fn read(path: &Path) -> Result<Node, Faults> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path)
        .map_err(|error| Faults::one(Place::Named(file.as_str().into()), format!("cannot be read: {error}")))?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse(text, &file),
        Err(error) => {
            let readable = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let place = Lines::of(&readable, &file).place(readable.len());
            Err(Faults::one(place, "the file is not UTF-8 from here on"))
        }
    }
}

/// Parses text that stands in `file`. All faults of its syntax are found; what
/// it says is not looked at while there are any.
pub(super) fn parse(text: &str, file: &str) -> Result<Node, Faults> {
    let lines = Lines::of(text, file);
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut faults = Faults::default();
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        faults.add(lines.place(at), String::new(), format!("not valid TOML: {}", error.message()));
    }
    faults.sort();
    faults.unless_any(())?;
    Ok(Node { place: Place::Named(file.into()), value: table(document.get_ref(), &lines) })
}

fn table(table: &DeTable<'_>, lines: &Lines<'_>) -> Value {
    let entry =
        |key: Range<usize>, span, value| Entry { key_place: lines.place(key.start), node: node(value, span, lines) };
    Value::Table(
        table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), entry(key.span(), value.span(), value.get_ref())))
            .collect(),
    )
}

fn node(value: &DeValue<'_>, span: Range<usize>, lines: &Lines<'_>) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Other(format!("{number} (beyond 64 bits)")),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Value::Float(number),
            Err(_) => Value::Other(number.as_str().to_owned()),
        },
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(moment) => Value::Other(format!("the date or time {moment}")),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| node(item.get_ref(), item.span(), lines)).collect())
        }
        DeValue::Table(inner) => table(inner, lines),
    };
    Node { place: lines.place(span.start), value }
}

/// Turns byte offsets into lines and columns.
struct Lines<'a> {
    text: &'a str,
    file: Arc<str>,
    /// The offset at which each line begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str, file: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, file: file.into(), starts }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        Place::Line { file: self.file.clone(), line, column: before.chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_line_and_column() {
        let text = "a = 1\n[[pools]]\nname = 'é'\n[[pools]]\nlist = [ 'é', 0x10 ]\n";
        let tree = parse(text, "f.toml").unwrap();
        let place = |path| tree.place_of(path).to_string();
        assert_eq!(place("a"), "f.toml:1:5");
        assert_eq!(place("pools[1]"), "f.toml:4:1");
        assert_eq!(place("pools[0].name"), "f.toml:3:8");
        assert_eq!(place("pools[1].list[1]"), "f.toml:5:15", "columns count characters");
        assert_eq!(place("pools[0].class"), "f.toml:2:1", "the table that lacks the key");
        assert_eq!(place("nowhere.at.all"), "f.toml");
    }

    #[test]
    fn all_faults_of_the_syntax_are_found() {
        let faults = parse("a = \nb = 1\nb = 2\nc = yes\n", "f.toml").unwrap_err();
        let places: Vec<_> = faults.iter().map(|fault| fault.place.to_string()).collect();
        assert_eq!(places, ["f.toml:1:5", "f.toml:3:1", "f.toml:4:5"], "{faults}");
        assert!(faults.to_string().contains("not valid TOML: duplicate key"), "{faults}");
    }
}
