//! Imports point down only: who may name whom.

use super::source::Source;
use super::tokens::{self, NamedPath};
use super::{Offence, bites, uphold};

/// A layer or a part at the top of `src`, and those that it may name beside itself.
const MAY_NAME: [(&str, &[&str]); 10] = [
    ("domain", &[]),
    ("sim", &["domain"]),
    ("ports", &["domain"]),
    ("engine", &["domain", "ports"]),
    ("adapters", &["domain", "ports", "engine"]),
    ("config", &["domain", "sim"]),
    ("telemetry", &["domain", "config"]),
    ("http", &["domain", "ports", "engine", "config", "telemetry", "daemons"]),
    ("daemons", &["domain", "ports", "engine", "config", "telemetry"]),
    ("cli", &["domain", "sim", "ports", "engine", "adapters", "config", "telemetry", "http", "daemons"]),
];

/// Adapters of a file format, which choose nothing: `http` may read it too.
const FORMATS: [&str; 2] = ["history_file", "runs_file"];

/// What `main.rs`, which stands above the library, may name.
const MAIN_MAY_NAME: &[&str] = &["cli"];

fn upward_imports(source: &Source) -> Vec<Offence> {
    let Some(module) = source.module() else { return Vec::new() };
    if source.path == "src/lib.rs" {
        return Vec::new();
    }
    let (layer, allowed) = match module.first() {
        None => ("main.rs", MAIN_MAY_NAME),
        Some(layer) => match MAY_NAME.iter().find(|(name, _)| name == layer) {
            Some((name, allowed)) => (*name, *allowed),
            None => {
                return vec![Offence::new(
                    source,
                    1,
                    format!("{layer} is no layer: put it into one, or list it in DESIGN.md and here"),
                )];
            }
        },
    };
    let tokens = source.tokens();
    tokens::paths(&tokens)
        .iter()
        .filter(|path| !(layer == "http" && names_format(path)))
        .filter_map(|path| Some((path.line, named_layer(path, &module)?)))
        .filter(|(_, named)| *named != layer && !allowed.contains(named))
        .map(|(line, named)| {
            let may = if allowed.is_empty() { "itself only".to_owned() } else { allowed.join(", ") };
            let advice = format!("{layer} must not name {named}: imports point down only ({layer} may name {may}); move the thing down, or hand it in from above");
            Offence::new(source, line, advice)
        })
        .collect()
}

fn names_format(path: &NamedPath) -> bool {
    matches!(*path.parts, ["crate", "adapters", format, ..] if FORMATS.contains(&format))
}

/// The top of the path, if it is named from the crate's root.
fn named_layer<'a>(path: &NamedPath<'a>, module: &[&str]) -> Option<&'a str> {
    let after_root = match path.parts.first()? {
        &"crate" | &"jacuzzi" => 1,
        _ => {
            let climbs = path.parts.iter().take_while(|part| **part == "super").count();
            (climbs > 0 && climbs >= module.len()).then_some(climbs)?
        }
    };
    let named = *path.parts.get(after_root)?;
    let from_super = path.parts[0] == "super";
    (!from_super || MAY_NAME.iter().any(|(layer, _)| *layer == named)).then_some(named)
}

#[test]
fn imports_point_down_only() {
    uphold(upward_imports);
}

#[test]
fn an_upward_import_is_seen_in_every_spelling() {
    let in_http = |text| bites(upward_imports, "src/http/reads.rs", text);
    assert_eq!(in_http("//! x\nuse crate::adapters::sqlite;"), [2]);
    assert!(in_http("use crate::adapters::history_file;").is_empty());
    assert_eq!(in_http("use crate::{\n    domain::Farm,\n    adapters::{sqlite, ec2},\n};"), [3, 3]);
    assert_eq!(in_http("use super::super::adapters;\nuse super::wire;"), [1]);
    assert_eq!(in_http("fn f() { crate::cli::run() }"), [1]);
    assert!(in_http("// crate::adapters\nconst A: &str = \"crate::adapters\";\nuse crate::engine::Engine;").is_empty());
    assert_eq!(bites(upward_imports, "src/domain/farm.rs", "use crate::sim::Seed;\nuse crate::engine;"), [1, 2]);
    assert_eq!(bites(upward_imports, "src/ports.rs", "use super::config;"), [1]);
    assert_eq!(bites(upward_imports, "src/main.rs", "use jacuzzi::cli;\nuse jacuzzi::http;"), [2]);
    assert_eq!(bites(upward_imports, "src/misc/thing.rs", ""), [1]);
    assert!(bites(upward_imports, "src/cli/serve.rs", "use crate::adapters::sqlite;").is_empty());
}
