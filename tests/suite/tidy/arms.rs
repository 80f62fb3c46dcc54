//! A match on a command, an event or a refusal names every variant, so that a new one is thought about everywhere.

use super::source::Source;
use super::tokens::{Token, closing};
use super::{Offence, bites, uphold};

const CLOSED: [&str; 3] = ["Command", "Event", "Refusal"];

fn wildcard_arms(source: &Source) -> Vec<Offence> {
    if source.module().is_none() {
        return Vec::new();
    }
    let tokens = source.tokens();
    let mut offences = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.text != "match" {
            continue;
        }
        let patterns = patterns(&tokens, at);
        let Some(closed) = patterns.iter().find_map(|pattern| closed_enum(pattern, &tokens[..at])) else { continue };
        for pattern in patterns.iter().filter(|pattern| takes_anything(pattern)) {
            let advice = format!("`{}` swallows every {closed} that is not named: name them all", pattern[0].text);
            offences.push(Offence::new(source, pattern[0].line, advice));
        }
    }
    offences
}

/// The patterns of the match whose keyword stands at `at`.
fn patterns<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Vec<&'t [Token<'a>]> {
    let Some(open) = body(tokens, at + 1) else { return Vec::new() };
    let close = closing(tokens, open);
    let mut patterns = Vec::new();
    let mut at = open + 1;
    while at < close {
        let Some(arrow) = outermost(tokens, at, close, "=>") else { break };
        patterns.push(&tokens[at..arrow]);
        at = if tokens[arrow + 1].text == "{" {
            closing(tokens, arrow + 1) + 1
        } else {
            outermost(tokens, arrow + 1, close, ",").unwrap_or(close)
        };
        if tokens.get(at).is_some_and(|token| token.text == ",") {
            at += 1;
        }
    }
    patterns
}

/// The brace that opens the arms: the first outside any bracket of the matched value.
fn body(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    outermost(tokens, at, tokens.len(), "{")
}

/// The first such sign from `at` on that is inside no bracket.
fn outermost(tokens: &[Token<'_>], mut at: usize, end: usize, sign: &str) -> Option<usize> {
    while at < end {
        if tokens[at].text == sign {
            return Some(at);
        }
        at = if matches!(tokens[at].text, "(" | "[" | "{") { closing(tokens, at) + 1 } else { at + 1 };
    }
    None
}

/// The closed enum whose variant the pattern names, if it does; `before` is the code before the match.
fn closed_enum<'a>(pattern: &[Token<'a>], before: &[Token<'a>]) -> Option<&'a str> {
    let owner = pattern
        .windows(2)
        .find(|pair| pair[1].text == "::" && (pair[0].text == "Self" || CLOSED.contains(&pair[0].text)))?[0]
        .text;
    if owner == "Self" { enclosing_type(before).filter(|name| CLOSED.contains(name)) } else { Some(owner) }
}

/// The type of the last `impl` before this place.
fn enclosing_type<'a>(before: &[Token<'a>]) -> Option<&'a str> {
    let start = before.iter().rposition(|token| token.text == "impl")?;
    let head = before[start..].iter().take_while(|token| !matches!(token.text, "{" | "where"));
    head.filter(|token| CLOSED.contains(&token.text)).last().map(|token| token.text)
}

/// `_`, a lone name, or either with a guard.
fn takes_anything(pattern: &[Token<'_>]) -> bool {
    let binds = |token: &Token<'_>| {
        token.is_name() && token.text.starts_with(|letter: char| letter.is_lowercase() || letter == '_')
    };
    match pattern {
        [only] => binds(only),
        [only, guard, ..] => binds(only) && guard.text == "if",
        [] => false,
    }
}

#[test]
fn matches_on_the_closed_enums_have_no_wildcard_arm() {
    uphold(wildcard_arms);
}

#[test]
fn a_wildcard_arm_is_seen() {
    let lines = |text| bites(wildcard_arms, "src/engine/writer.rs", text);
    assert_eq!(lines("match event {\n  Event::A(x) => f(x, y),\n  _ => {}\n}"), [3]);
    assert_eq!(
        lines("match f(&[1], |x| { x }) {\n  allocator::Refusal::A { b, .. } => { g() }\n  other => h(other),\n}"),
        [3]
    );
    assert_eq!(lines("match a {\n  Some(Command::A) => 1,\n  _ if b => 2,\n  None => 3,\n}"), [3]);
    assert_eq!(lines("impl Display for Refusal { fn f(&self) {\n match self {\n Self::A => 1,\n _ => 2 } } }"), [4]);
    assert!(lines("match event { Event::A(_) => match x { 1 => 2, _ => 3 }, Event::B => 4 }").is_empty());
    assert!(lines("match other { Other::A => 1, _ => 2 }").is_empty());
    assert!(lines("impl Other { fn f(&self) { match self { Self::A => 1, _ => 2 } } }").is_empty());
}
