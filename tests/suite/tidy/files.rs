//! How a file begins, how long it is, what it is called, and where it may be.

use super::source::Source;
use super::{Offence, bites, uphold};

const MAX_LINES: usize = 500;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 9] =
    ["common", "helper", "helpers", "manager", "managers", "misc", "shared", "util", "utils"];

fn without_an_opening_sentence(source: &Source) -> Vec<Offence> {
    let mut opening = source.text.lines().map_while(|line| line.strip_prefix("//!")).peekable();
    let begins_well = opening.peek().is_some_and(|line| line.starts_with(' '));
    let sentence = opening.take_while(|line| !line.trim().is_empty()).last().unwrap_or_default();
    if begins_well && sentence.trim_end().ends_with(['.', ':', '?']) {
        return Vec::new();
    }
    vec![Offence::new(source, 1, "begin the file with one `//!` sentence that says why it exists")]
}

fn too_long(source: &Source) -> Vec<Offence> {
    let lines = source.text.lines().count();
    if lines <= MAX_LINES {
        return Vec::new();
    }
    let advice =
        format!("{lines} lines, {MAX_LINES} at most (aim at 200): find the two things in it, and give each a file");
    vec![Offence::new(source, MAX_LINES + 1, advice)]
}

fn named_for_nothing(source: &Source) -> Vec<Offence> {
    let named = source.path.trim_end_matches(".rs").split('/').find(|part| EMPTY_NAMES.contains(part));
    named
        .map(|part| Offence::new(source, 1, format!("{part:?} says nothing: name it after what is in it")))
        .into_iter()
        .collect()
}

fn second_integration_binary(source: &Source) -> Vec<Offence> {
    let is_binary = source
        .path
        .strip_prefix("tests/")
        .is_some_and(|name| !name.contains('/') || name.split('/').count() == 2 && name.ends_with("/main.rs"));
    if !is_binary || source.path == "tests/main.rs" {
        return Vec::new();
    }
    vec![Offence::new(source, 1, "one integration binary links once: make it a module in tests/suite")]
}

#[test]
fn every_file_begins_with_a_sentence() {
    uphold(without_an_opening_sentence);
}

#[test]
fn no_file_is_too_long() {
    uphold(too_long);
}

#[test]
fn no_file_has_an_empty_name() {
    uphold(named_for_nothing);
}

#[test]
fn there_is_one_integration_binary() {
    uphold(second_integration_binary);
}

#[test]
fn an_untidy_file_is_seen() {
    let opening = |text| bites(without_an_opening_sentence, "src/lib.rs", text);
    assert_eq!(opening("use std::fmt;\n//! Late."), [1]);
    assert_eq!(opening("//!No space."), [1]);
    assert_eq!(opening("//! Not a sentence\n\nfn f() {}"), [1]);
    assert!(opening("//! A sentence over\n//! two lines.\n//!\n//! And more").is_empty());

    assert_eq!(bites(too_long, "src/lib.rs", &"\n".repeat(501)), [501]);
    assert!(bites(too_long, "src/lib.rs", &"\n".repeat(500)).is_empty());

    assert_eq!(bites(named_for_nothing, "src/http/utils.rs", ""), [1]);
    assert_eq!(bites(named_for_nothing, "src/common/names.rs", ""), [1]);
    assert!(bites(named_for_nothing, "src/http/utilities_of_water.rs", "").is_empty());

    assert_eq!(bites(second_integration_binary, "tests/reads.rs", ""), [1]);
    assert_eq!(bites(second_integration_binary, "tests/other/main.rs", ""), [1]);
    assert!(bites(second_integration_binary, "tests/suite/reads.rs", "").is_empty());
}
