//! The layers of the settings (defaults < file < environment < flags), merged into one tree that knows where each value is from.
//!
//! The `config` crate merges; a value's place travels with it as its origin.

use std::ffi::OsString;

use config::{Config, ConfigError, Map, Source, Value as Merging, ValueKind};
use indexmap::IndexMap;

use super::fault::{Faults, Place};
use super::node::{Entry, Node, Value};
use super::reader::{join, unknown};

/// Environment variables that are settings: `JACUZZI__SECTION__KEY`.
const ENVIRONMENT_PREFIX: &str = "JACUZZI__";

/// The origin of a value that nobody set.
const DEFAULT_ORIGIN: &str = "default";

type Entries = IndexMap<String, Entry>;

/// Values by `section.key`. Every key is a known one, and every value a single one.
#[derive(Debug, Clone, Default)]
struct Layer(Map<String, Merging>);

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Merging>, ConfigError> {
        Ok(self.0.clone())
    }
}

/// The layers so far. The defaults say which sections and keys there are.
pub(super) struct Layers<'a> {
    defaults: &'a Entries,
    layers: Vec<Layer>,
    faults: &'a mut Faults,
}

impl<'a> Layers<'a> {
    pub(super) fn over(defaults: &'a Node, faults: &'a mut Faults) -> Self {
        let defaults = entries(defaults).expect("the built-in settings are a table");
        let mut layer = Layer::default();
        for (section, entry) in defaults {
            for (key, entry) in entries(&entry.node).into_iter().flatten() {
                let value = scalar(&entry.node.value).expect("the built-in settings are single values");
                layer.0.insert(join(section, key), Merging::new(Some(&DEFAULT_ORIGIN.into()), value));
            }
        }
        Self { defaults, layers: vec![layer], faults }
    }

    pub(super) fn add_file(&mut self, root: &Node) {
        let mut layer = Layer::default();
        for (section, Entry { key_place, node }) in entries(root).into_iter().flatten() {
            let Some(keys) = self.keys_of(section, key_place) else { continue };
            let Some(entries) = entries(node) else {
                self.faults.add(node.place.clone(), section.clone(), format!("a table, not {}", node.value));
                continue;
            };
            for (key, entry) in entries {
                if self.default_of(keys, section, key, &entry.key_place).is_some() {
                    self.set(&mut layer, join(section, key), &entry.node);
                }
            }
        }
        self.layers.push(layer);
    }

    /// Variables that do not begin with the prefix are not ours.
    pub(super) fn add_environment(&mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) {
        let mut layer = Layer::default();
        for (name, value) in variables {
            let name = name.to_string_lossy();
            let Some(path) = name.strip_prefix(ENVIRONMENT_PREFIX) else { continue };
            let path = path.to_ascii_lowercase().replacen("__", ".", 1);
            let place = Place::Named(format!("${name}").into());
            match value.into_string() {
                Ok(text) => self.add_text(&mut layer, &path, text, place),
                Err(_) => self.faults.add(place, path, "the value is not UTF-8"),
            }
        }
        self.layers.push(layer);
    }

    /// By path (`server.listen`), as the command line has checked them.
    pub(super) fn add_flags(&mut self, flags: &[(&'static str, String)]) {
        let mut layer = Layer::default();
        for (path, text) in flags {
            // `--listen` and `--data-dir`: the server's own flags go without its name.
            let flag = path.strip_prefix("server.").unwrap_or(path).replace(['.', '_'], "-");
            self.add_text(&mut layer, path, text.clone(), Place::Named(format!("--{flag}").into()));
        }
        self.layers.push(layer);
    }

    /// The root of the merged settings, in the order of the defaults.
    pub(super) fn merge(self) -> Node {
        let builder = self.layers.into_iter().fold(Config::builder(), |builder, layer| builder.add_source(layer));
        let merged = builder.build().expect("layers in memory can always be collected").cache;
        in_order_of(self.defaults, merged)
    }

    fn add_text(&mut self, layer: &mut Layer, path: &str, text: String, place: Place) {
        let Some((section, key)) = path.split_once('.') else {
            self.faults.add(place, path.to_owned(), "a setting has a section and a key: JACUZZI__SECTION__KEY");
            return;
        };
        let Some(keys) = self.keys_of(section, &place) else { return };
        let Some(default) = self.default_of(keys, section, key, &place) else { return };
        // Only the default tells a number from a text that looks like one.
        let value = match (&default.value, text.parse()) {
            (Value::Integer(_), Ok(number)) => Value::Integer(number),
            _ => Value::Text(text),
        };
        self.set(layer, path.to_owned(), &Node { place, value });
    }

    fn keys_of(&mut self, section: &str, place: &Place) -> Option<&'a Entries> {
        let known = self.defaults.get(section).and_then(|entry| entries(&entry.node));
        if known.is_none() {
            self.faults.add(place.clone(), join("", section), unknown(section, &names(self.defaults)));
        }
        known
    }

    fn default_of(&mut self, keys: &'a Entries, section: &str, key: &str, place: &Place) -> Option<&'a Node> {
        let known = keys.get(key).map(|entry| &entry.node);
        if known.is_none() {
            self.faults.add(place.clone(), join(section, key), unknown(key, &names(keys)));
        }
        known
    }

    fn set(&mut self, layer: &mut Layer, path: String, node: &Node) {
        match scalar(&node.value) {
            Some(value) => drop(layer.0.insert(path, Merging::new(Some(&node.place.to_string()), value))),
            None => self.faults.add(node.place.clone(), path, format!("a single value, not {}", node.value)),
        }
    }
}

fn entries(node: &Node) -> Option<&Entries> {
    match &node.value {
        Value::Table(entries) => Some(entries),
        _ => None,
    }
}

fn names(entries: &Entries) -> Vec<&str> {
    entries.keys().map(String::as_str).collect()
}

fn scalar(value: &Value) -> Option<ValueKind> {
    match value {
        Value::Text(text) => Some(text.clone().into()),
        Value::Integer(number) => Some((*number).into()),
        Value::Float(number) => Some((*number).into()),
        Value::Bool(value) => Some((*value).into()),
        Value::Array(_) | Value::Table(_) | Value::Other(_) => None,
    }
}

/// The `config` crate keeps no order of its own.
fn in_order_of(defaults: &Entries, merged: Merging) -> Node {
    let place = Place::Named(merged.origin().unwrap_or(DEFAULT_ORIGIN).into());
    let value = match merged.kind {
        ValueKind::String(text) => Value::Text(text),
        ValueKind::I64(number) => Value::Integer(number),
        ValueKind::Float(number) => Value::Float(number),
        ValueKind::Boolean(value) => Value::Bool(value),
        ValueKind::Table(mut merged) => {
            let entry = |(key, default): (&String, &Entry)| {
                let known = entries(&default.node).unwrap_or(defaults);
                let node = in_order_of(known, merged.remove(key)?);
                Some((key.clone(), Entry { key_place: node.place.clone(), node }))
            };
            Value::Table(defaults.iter().filter_map(entry).collect())
        }
        other => Value::Other(other.to_string()),
    };
    Node { place, value }
}
