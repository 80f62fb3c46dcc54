//! Takes tables apart key by key, and notes every fault on the way instead of stopping at one.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::fault::{Faults, Place};
use super::node::{Entry, Node, Value};
use super::values::{self, Read};

/// A key so like a known one (0 to 1, as Jaro and Winkler measure it) is taken for a slip of it.
const CLOSE: f64 = 0.8;

/// A table that is being read. A key that nobody asked for is a fault.
pub(super) struct Table<'a> {
    path: String,
    place: &'a Place,
    entries: &'a IndexMap<String, Entry>,
    asked: Vec<&'static str>,
    faults: &'a mut Faults,
}

/// Reads a tree that is a table. What is none is a fault, and is then read as
/// an empty one, so that its neighbours keep their numbers.
pub(super) fn read<T>(node: &Node, path: String, faults: &mut Faults, body: impl FnOnce(&mut Table) -> T) -> T {
    match &node.value {
        Value::Table(entries) => Table::read(entries, &node.place, path, faults, body),
        other => {
            faults.add(node.place.clone(), path.clone(), format!("a table, not {other}"));
            Table::read(&IndexMap::new(), &node.place, path, &mut Faults::default(), body)
        }
    }
}

impl Table<'_> {
    fn read<T>(
        entries: &IndexMap<String, Entry>,
        place: &Place,
        path: String,
        faults: &mut Faults,
        body: impl FnOnce(&mut Table) -> T,
    ) -> T {
        let mut table = Table { path, place, entries, asked: Vec::new(), faults };
        let value = body(&mut table);
        table.refuse_unknown_keys();
        value
    }

    pub(super) fn optional<T>(&mut self, key: &'static str, read: impl FnOnce(&Node) -> Read<T>) -> Option<T> {
        let node = self.take(key)?;
        match read(node) {
            Ok(value) => Some(value),
            Err(message) => {
                self.faults.add(node.place.clone(), self.path_of(key), message);
                None
            }
        }
    }

    /// The stand-in takes the place of what is missing or faulty, so that all else can still be checked.
    pub(super) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node) -> Read<T>,
        stand_in: impl FnOnce(&str) -> T,
    ) -> T {
        let value = self.optional(key, read);
        let path = self.path_of(key);
        if value.is_none() && !self.entries.contains_key(key) {
            self.faults.add(self.place.clone(), path.clone(), "is missing");
        }
        value.unwrap_or_else(|| stand_in(&path))
    }

    pub(super) fn list<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&Node) -> Read<T>,
        stand_in: impl Fn(&str) -> T,
    ) -> Option<Vec<T>> {
        let items = self.items(key)?;
        let path = self.path_of(key);
        let item = |(at, item): (usize, &Node)| {
            let path = format!("{path}[{at}]");
            read(item).unwrap_or_else(|message| {
                self.faults.add(item.place.clone(), path.clone(), message);
                stand_in(&path)
            })
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// A table in this one; one that is not there is read as an empty one.
    pub(super) fn table<T>(&mut self, key: &'static str, body: impl FnOnce(&mut Table) -> T) -> T {
        let path = self.path_of(key);
        match self.take(key) {
            Some(node) => read(node, path, self.faults, body),
            None => Table::read(&IndexMap::new(), self.place, path, self.faults, body),
        }
    }

    /// The same, if it is there.
    pub(super) fn optional_table<T>(&mut self, key: &'static str, body: impl FnOnce(&mut Table) -> T) -> Option<T> {
        let path = self.path_of(key);
        let node = self.take(key)?;
        Some(read(node, path, self.faults, body))
    }

    /// Notes a fault of the table as a whole.
    pub(super) fn fault(&mut self, message: String) {
        self.faults.add(self.place.clone(), self.path.clone(), message);
    }

    /// A list of tables, empty if it is not there.
    pub(super) fn tables<T>(&mut self, key: &'static str, body: impl Fn(&mut Table) -> T) -> Vec<T> {
        let path = self.path_of(key);
        let Some(items) = self.items(key) else { return Vec::new() };
        let item = |(at, item)| read(item, format!("{path}[{at}]"), self.faults, &body);
        items.iter().enumerate().map(item).collect()
    }

    /// A table of free keys with texts, empty if it is not there.
    pub(super) fn texts(&mut self, key: &'static str) -> BTreeMap<String, String> {
        let path = self.path_of(key);
        let mut texts = BTreeMap::new();
        let Some(node) = self.take(key) else { return texts };
        let Value::Table(entries) = &node.value else {
            self.faults.add(node.place.clone(), path, format!("a table, not {}", node.value));
            return texts;
        };
        for (key, Entry { node, .. }) in entries {
            match values::text(node) {
                Ok(text) => drop(texts.insert(key.clone(), text)),
                Err(message) => self.faults.add(node.place.clone(), join(&path, key), message),
            }
        }
        texts
    }

    fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }
}

impl<'a> Table<'a> {
    fn take(&mut self, key: &'static str) -> Option<&'a Node> {
        self.asked.push(key);
        self.entries.get(key).map(|entry| &entry.node)
    }

    fn items(&mut self, key: &'static str) -> Option<&'a [Node]> {
        let node = self.take(key)?;
        match &node.value {
            Value::Array(items) => Some(items),
            other => {
                self.faults.add(node.place.clone(), self.path_of(key), format!("a list, not {other}"));
                None
            }
        }
    }

    fn refuse_unknown_keys(self) {
        for (key, entry) in self.entries.iter().filter(|(key, _)| !self.asked.contains(&key.as_str())) {
            let message = unknown(key, &self.asked);
            self.faults.add(entry.key_place.clone(), join(&self.path, key), message);
        }
    }
}

/// What to say of a key that is not known, among those that are.
pub(super) fn unknown(key: &str, known: &[&str]) -> String {
    match closest(key, known) {
        Some(closest) => format!("there is no such key; did you mean {closest}?"),
        None => format!("there is no such key (known here: {})", known.join(", ")),
    }
}

/// The known word that was meant, if there is one so like what was written.
pub(super) fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |known: &str| strsim::jaro_winkler(word, known);
    let closest = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    closest.filter(|closest| likeness(closest) >= CLOSE)
}

/// A key's path as TOML would write it.
pub(super) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::super::toml_file;
    use super::super::values::{integer, text, whole};
    use super::*;

    fn faults(source: &str, body: impl FnOnce(&mut Table)) -> Vec<String> {
        let mut faults = Faults::default();
        read(&toml_file::parse(source, "f").unwrap(), String::new(), &mut faults, body);
        faults.sort();
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_faults_are_found_at_once() {
        let source =
            "name = 3\nsiez = 5\nlist = ['a', 1]\n\"odd key\" = 1\n[[rows]]\ncount = -1\n[[rows]]\ncount = '1'\n";
        let found = faults(source, |root| {
            assert_eq!(root.required("name", text, |path| path.to_owned()), "name");
            assert_eq!(root.optional("size", integer), None);
            assert_eq!(root.list("list", text, |path| path.to_owned()).unwrap(), ["a", "list[1]"]);
            assert_eq!(root.tables("rows", |row| row.optional("count", whole)), [None, None]);
            root.table("absent", |absent| absent.required("must", integer, |_| 0));
        });
        assert_eq!(
            found,
            [
                "f: absent.must: is missing",
                "f:1:8: name: a text in quotes, not 3",
                "f:2:1: siez: there is no such key; did you mean size?",
                "f:3:14: list[1]: a text in quotes, not 1",
                "f:4:1: \"odd key\": there is no such key (known here: name, size, list, rows, absent)",
                "f:6:9: rows[0].count: a whole number from 0 up, not -1",
                "f:8:9: rows[1].count: a whole number, not the text \"1\"",
            ]
        );
    }

    #[test]
    fn what_is_no_table_is_one_fault_and_keeps_its_number() {
        let found = faults("rows = [1, { count = 2, free = { a = 'b', c = 1 } }]\none = []\n", |root| {
            let rows = root.tables("rows", |row| (row.required("count", integer, |_| 0), row.texts("free")));
            assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 2]);
            assert_eq!(rows[1].1, BTreeMap::from([("a".into(), "b".into())]));
            root.table("one", |one| one.required("must", integer, |_| 0));
        });
        assert_eq!(
            found,
            [
                "f:1:9: rows[0]: a table, not 1",
                "f:1:47: rows[1].free.c: a text in quotes, not 1",
                "f:2:7: one: a table, not a list"
            ]
        );
    }
}
