//! `domain` and `sim` are pure: the same input gives the same result, bit for bit.

use super::source::Source;
use super::tokens::{self, NamedPath};
use super::{Offence, bites, uphold};

const PURE: [&str; 2] = ["domain", "sim"];

/// Parts of the standard library that reach the world.
const WORLD: [&str; 7] = ["env", "fs", "io", "net", "os", "process", "thread"];

/// Crates that reach the world, run a clock, or draw chance.
const WORLDLY_CRATES: [&str; 16] = [
    "actix_web",
    "arc_swap",
    "dashmap",
    "fastrand",
    "futures_util",
    "getrandom",
    "governor",
    "indicatif",
    "prometheus_client",
    "rand",
    "rusqlite",
    "tempfile",
    "tokio",
    "tracing",
    "tracing_subscriber",
    "ureq",
];

/// Names that are forbidden wherever they come from, each with what to do instead.
const NAMES: [(&str, &str); 19] = [
    ("Instant", CLOCK),
    ("SystemTime", CLOCK),
    ("HashMap", ORDER),
    ("HashSet", ORDER),
    ("RandomState", ORDER),
    ("DefaultHashBuilder", ORDER),
    ("async", "no async: leave waiting to the layers above"),
    ("await", "no async: leave waiting to the layers above"),
    ("LazyLock", GLOBALS),
    ("OnceLock", GLOBALS),
    ("OnceCell", GLOBALS),
    ("thread_local", GLOBALS),
    ("Mutex", GLOBALS),
    ("RwLock", GLOBALS),
    ("Condvar", GLOBALS),
    ("println", IO),
    ("eprintln", IO),
    ("include_bytes", IO),
    ("include_str", IO),
];

const CLOCK: &str = "no clock: take the time as an argument, a Timestamp";
const ORDER: &str = "no randomly ordered map: use BTreeMap, BTreeSet or IndexMap";
const GLOBALS: &str = "no globals and no locks: keep it in the Farm, or take it as an argument";
const IO: &str = "no I/O: give the value back, and let a layer above do it";

fn impurities(source: &Source) -> Vec<Offence> {
    let is_pure = source.module().is_some_and(|module| module.first().is_some_and(|layer| PURE.contains(layer)));
    if !is_pure || source.is_test() {
        return Vec::new();
    }
    let tokens = tokens::without_tests(&source.tokens());
    tokens::paths(&tokens)
        .iter()
        .filter_map(|path| {
            Some(Offence::new(source, path.line, format!("{}: {}", path.parts.join("::"), impurity(path)?)))
        })
        .collect()
}

/// What is wrong with naming this, if anything is.
fn impurity(path: &NamedPath<'_>) -> Option<&'static str> {
    let parts = &path.parts;
    if parts[0] == "std" && parts.get(1).is_some_and(|part| WORLD.contains(part)) {
        return Some(IO);
    }
    if parts.len() > 1 && WORLDLY_CRATES.contains(&parts[0]) {
        return Some("this crate reaches the world, the clock or chance: keep it in the layers above");
    }
    if parts.len() > 1 && parts.last() == Some(&"now") {
        return Some(CLOCK);
    }
    if parts.iter().any(|part| part.starts_with("Atomic")) {
        return Some(GLOBALS);
    }
    NAMES.iter().find(|(name, _)| parts.contains(name)).map(|(_, advice)| *advice)
}

#[test]
fn domain_and_sim_are_pure() {
    uphold(impurities);
}

#[test]
fn an_impurity_is_seen() {
    let in_domain = |text| bites(impurities, "src/domain/farm.rs", text);
    assert_eq!(in_domain("use std::time::{Duration, Instant};\nuse std::time::Duration;"), [1]);
    assert_eq!(in_domain("use std::collections::{BTreeMap,\nHashMap};"), [2]);
    assert_eq!(
        in_domain("use hashbrown::HashTable;\nuse hashbrown::HashMap;\nuse hashbrown::DefaultHashBuilder;"),
        [2, 3]
    );
    assert_eq!(in_domain("use std::{fmt, fs};"), [1]);
    assert_eq!(in_domain("fn f() { jiff::Timestamp::now() }"), [1]);
    assert_eq!(in_domain("async fn f() {}\nuse tokio::sync::watch;"), [1, 2]);
    assert_eq!(in_domain("static N: AtomicU64 = AtomicU64::new(0);"), [1, 1]);
    assert_eq!(in_domain("let x = rand::random();"), [1]);
    assert!(in_domain("/// Not a HashMap.\nfn f(now: Timestamp) { now.before(span) }").is_empty());
    assert!(in_domain("#[cfg(test)]\nmod tests { use std::fs; }").is_empty());
    assert!(bites(impurities, "src/engine/writer.rs", "use std::time::Instant;").is_empty());
    assert_eq!(bites(impurities, "src/sim/mod.rs", "use std::time::Instant;"), [1]);
}
