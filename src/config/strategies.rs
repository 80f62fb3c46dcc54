//! Batching strategies as a file lists them, and the forecasts that they name.

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use super::fault::Faults;
use super::node::Node;
use super::reader::{self, Table, closest};
use super::toml_file;
use super::values::{Read, choice, number, text, whole};
use crate::domain::batching::{Branch, Forecast, Kind, Parameters, Strategy};

const BRANCHES: [(&str, Branch); 3] =
    [("integration", Branch::Integration), ("other", Branch::Other), ("try", Branch::Try)];

/// A strategy, and what it is called beside others.
#[derive(Debug, Clone)]
pub struct NamedStrategy {
    pub name: String,
    pub strategy: Strategy,
}

/// A block of the file.
struct Block {
    name: Option<String>,
    kind: Option<Kind>,
    parameters: Parameters,
}

/// Reads the `[[strategies]]` of a TOML file. Forecasts are taken from the file's folder.
///
/// # Errors
/// All faults of the file.
pub fn read_strategies(path: &Path) -> Result<Vec<NamedStrategy>, Faults> {
    let root = toml_file::read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut faults = Faults::default();
    let blocks =
        reader::read(&root, String::new(), &mut faults, |root| root.tables("strategies", |table| block(table, folder)));
    if blocks.is_empty() {
        faults.add(root.place.clone(), "strategies".to_owned(), "there is none");
    }
    let mut strategies = Vec::new();
    for (at, block) in blocks.into_iter().enumerate() {
        let path = format!("strategies[{at}]");
        let Some(kind) = block.kind else { continue };
        match Strategy::new(kind, block.parameters) {
            Ok(strategy) => {
                strategies.push(NamedStrategy { name: block.name.unwrap_or_else(|| kind.to_string()), strategy });
            }
            Err(bad) => {
                for fault in bad.0 {
                    let path = format!("{path}.{}", fault.parameter);
                    if !faults.has(&path) {
                        faults.add(root.place_of(&path).clone(), path, fault.problem);
                    }
                }
            }
        }
    }
    faults.sort();
    faults.unless_any(strategies)
}

fn block(block: &mut Table, folder: &Path) -> Block {
    Block {
        name: block.optional("name", text),
        kind: block.required("strategy", |node| kind(node).map(Some), |_| None),
        parameters: Parameters {
            pushes: block.optional("pushes", whole),
            hours: block.optional("hours", number),
            threshold: block.optional("threshold", number),
            aging: block.optional("aging", number),
            price: block.optional("price", number),
            forecast: block.optional("forecast", |node| read_forecast(&folder.join(PathBuf::from(text(node)?)))),
            branch: block.optional("branch", choice("kind of branch", &BRANCHES)),
            anchor: block.optional("anchor", |node| {
                NonZeroU64::new(whole(node)?).ok_or_else(|| "a whole number from 1 up, not 0".to_owned())
            }),
        },
    }
}

fn kind(node: &Node) -> Read<Kind> {
    let given = text(node)?;
    let names = Kind::ALL.map(Kind::name);
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == given);
    found.ok_or_else(|| match closest(&given, &names) {
        Some(name) => format!("{given:?} is not a cadence; did you mean {name}?"),
        None => format!("{given:?} is not a cadence ({})", names.join(", ")),
    })
}

/// Reads a forecast, as `jacuzzi batching forecast` writes it.
///
/// # Errors
/// A file that cannot be read or is none, in words.
pub fn read_forecast(path: &Path) -> Result<Forecast, String> {
    let shown = path.display();
    let json = fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    serde_json::from_slice(&json).map_err(|error| format!("{shown} is no forecast: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<NamedStrategy>, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.toml");
        fs::write(&path, text).unwrap();
        let prefix = format!("{}", path.display());
        read_strategies(&path)
            .map_err(|faults| faults.iter().map(|fault| fault.to_string().replace(&prefix, "s.toml")).collect())
    }

    #[test]
    fn every_fault_of_every_block_is_found() {
        let faults = read(
            "[[strategies]]\nstrategy = 'rsab'\n[[strategies]]\nstrategy = 'rapb'\nthreshold = 1\naging = -0.1\n\
             [[strategies]]\nname = 'x'\nthreshhold = 0.5\nstrategy = 'rasb'\n\
             [[strategies]]\nstrategy = 'pushes'\npushes = 0\nprice = 3\n",
        );
        assert_eq!(
            faults.unwrap_err(),
            [
                "s.toml:2:12: strategies[0].strategy: \"rsab\" is not a cadence; did you mean rasb?",
                "s.toml:5:13: strategies[1].threshold: rapb takes a number between 0 and 1, neither of them",
                "s.toml:6:9: strategies[1].aging: rapb takes a number from 0 up",
                "s.toml:7:1: strategies[2].threshold: rasb needs one",
                "s.toml:9:1: strategies[2].threshhold: there is no such key; did you mean threshold?",
                "s.toml:13:10: strategies[3].pushes: pushes takes a whole number from 1 up",
                "s.toml:14:9: strategies[3].price: pushes takes none",
            ]
        );
        assert!(read("").unwrap_err()[0].ends_with("strategies: there is none"));
        let two = read("[[strategies]]\nstrategy = 'backstop'\n[[strategies]]\nname = 'Android'\nstrategy = 'backstop'\npushes = 30\nhours = 6\n").unwrap();
        assert_eq!(two.iter().map(|named| named.name.as_str()).collect::<Vec<_>>(), ["backstop", "Android"]);
    }
}
