//! From one value to what it means, or to the sentence that says what it should have been.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::duration;
use super::node::{Node, Value};

/// A value, or what is wrong with it: place and key are added by whoever holds the table.
pub(super) type Read<T> = Result<T, String>;

pub(super) fn text(node: &Node) -> Read<String> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(format!("a text in quotes, not {other}")),
    }
}

pub(super) fn integer(node: &Node) -> Read<i64> {
    match &node.value {
        Value::Integer(number) => Ok(*number),
        other => Err(format!("a whole number, not {other}")),
    }
}

pub(super) fn number(node: &Node) -> Read<f64> {
    match &node.value {
        Value::Integer(number) => Ok(*number as f64),
        Value::Float(number) => Ok(*number),
        other => Err(format!("a number, not {other}")),
    }
}

/// A whole number from 0 up.
pub(super) fn whole(node: &Node) -> Read<u64> {
    let number = integer(node)?;
    number.try_into().map_err(|_| format!("a whole number from 0 up, not {number}"))
}

pub(super) fn whole_in(range: RangeInclusive<u64>) -> impl Fn(&Node) -> Read<u64> {
    move |node| {
        let number = integer(node)?;
        let within = u64::try_from(number).ok().filter(|number| range.contains(number));
        within.ok_or_else(|| format!("a whole number from {} to {}, not {number}", range.start(), range.end()))
    }
}

/// A span of time in seconds, written as a number or as text such as `"10m"`.
pub(super) fn seconds(node: &Node) -> Read<f64> {
    match &node.value {
        Value::Integer(number) => Ok(*number as f64),
        Value::Float(number) => Ok(*number),
        Value::Text(text) => duration::parse(text),
        other => Err(format!("a number of seconds or text such as \"10m\", not {other}")),
    }
}

/// One of a few words.
pub(super) fn choice<T: Copy>(what: &str, options: &[(&str, T)]) -> impl Fn(&Node) -> Read<T> {
    move |node| {
        let given = text(node)?;
        let chosen = options.iter().find(|(word, _)| *word == given);
        chosen.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<_> = options.iter().map(|(word, _)| *word).collect();
            format!("{given:?} is not a {what} ({})", one_of(&words))
        })
    }
}

/// Text with a form of its own.
pub(super) fn parsed<T, E: Display>(parse: impl Fn(&str) -> Result<T, E>) -> impl Fn(&Node) -> Read<T> {
    move |node| {
        let given = text(node)?;
        parse(&given).map_err(|error| format!("{given:?}: {error}"))
    }
}

fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
