//! The rules of DESIGN.md that no lint can see, each as a test that lists every offender.

mod arms;
mod files;
mod layers;
mod purity;
mod source;
mod tokens;

use std::fmt;

use source::Source;

/// A place that breaks a rule, and what to do about it.
#[derive(Debug)]
struct Offence {
    path: String,
    /// From 1.
    line: usize,
    advice: String,
}

impl Offence {
    fn new(source: &Source, line: usize, advice: impl Into<String>) -> Self {
        Self { path: source.path.clone(), line, advice: advice.into() }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.advice)
    }
}

type Rule = fn(&Source) -> Vec<Offence>;

/// Fails with every place in the project that breaks the rule.
fn uphold(rule: Rule) {
    let offences: Vec<String> = source::all().iter().flat_map(rule).map(|offence| offence.to_string()).collect();
    assert!(offences.is_empty(), "{} place(s) break a rule:\n{}", offences.len(), offences.join("\n"));
}

/// The lines that a rule finds fault with in a text, as if it were the file at `path`.
fn bites(rule: Rule, path: &str, text: &str) -> Vec<usize> {
    rule(&Source::new(path, text)).iter().map(|offence| offence.line).collect()
}
