//! Just enough of Rust's grammar to see names and arms: tokens, and the paths that they spell.

/// A name, a number, or a sign; `::`, `=>` and `->` are one. Any literal text is `"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// From 1.
    pub line: usize,
    pub text: &'a str,
}

impl Token<'_> {
    pub(super) fn is_name(&self) -> bool {
        self.text.starts_with(is_name_part)
    }
}

/// A path such as `std::collections::BTreeMap`; a group in braces is one path an element.
#[derive(Debug)]
pub(super) struct NamedPath<'a> {
    /// The line of its last part, from 1.
    pub line: usize,
    pub parts: Vec<&'a str>,
}

fn is_name_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Tokens without comments and lifetimes.
pub(super) fn scan(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (length, token) = next(rest, first);
        if let Some(text) = token {
            tokens.push(Token { line, text });
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// The length of what the text begins with, and the token that it is, if any.
fn next(rest: &str, first: char) -> (usize, Option<&str>) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), None);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), None);
    }
    if first == '"' {
        return (quoted(rest), Some("\""));
    }
    if first == '\'' {
        return letter_or_lifetime(rest);
    }
    if is_name_part(first) {
        let length = rest.find(|letter| !is_name_part(letter)).unwrap_or(rest.len());
        return match prefixed_text(&rest[..length], &rest[length..]) {
            Some(more) => (length + more, Some("\"")),
            None => (length, Some(&rest[..length])),
        };
    }
    let length = if ["::", "=>", "->"].iter().any(|sign| rest.starts_with(sign)) { 2 } else { first.len_utf8() };
    (length, (!first.is_whitespace()).then_some(&rest[..length]))
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    loop {
        let tail = &rest[at..];
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            match tail.chars().next() {
                Some(letter) => at += letter.len_utf8(),
                None => return at,
            }
        }
    }
}

/// The length of a text in quotes with backslash escapes.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

fn letter_or_lifetime(rest: &str) -> (usize, Option<&str>) {
    let inside = &rest[1..];
    if let Some(escape) = inside.strip_prefix('\\') {
        let skipped = escape.chars().next().map_or(0, char::len_utf8);
        let end = escape[skipped..].find('\'').unwrap_or(0);
        return (2 + skipped + end + 1, Some("\""));
    }
    let letter = inside.chars().next().map_or(0, char::len_utf8);
    if inside[letter..].starts_with('\'') {
        return (1 + letter + 1, Some("\""));
    }
    (1 + inside.find(|letter| !is_name_part(letter)).unwrap_or(inside.len()), None)
}

/// The rest of `r"…"`, `br#"…"#`, `b"…"` or `c"…"`, if the name is such a prefix.
fn prefixed_text(name: &str, rest: &str) -> Option<usize> {
    if !matches!(name, "r" | "b" | "c" | "br" | "cr") {
        return None;
    }
    if !name.ends_with('r') {
        return rest.starts_with('"').then(|| quoted(rest));
    }
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let inside = rest[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", &rest[..hashes]);
    Some(hashes + 1 + inside.find(&end).map_or(inside.len(), |at| at + end.len()))
}

/// The tokens without the items that are marked `#[cfg(test)]`.
pub(super) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_mark = tokens[at..].iter().map(|token| token.text).take(MARK.len()).eq(MARK);
        if is_mark {
            at = end_of_item(tokens, at + MARK.len());
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// Just behind the item's `;` or its block.
fn end_of_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    while at < tokens.len() && !matches!(tokens[at].text, ";" | "{") {
        at += 1;
    }
    if tokens.get(at).is_some_and(|token| token.text == "{") { closing(tokens, at) + 1 } else { at + 1 }
}

/// Where the bracket that opens at `open` closes; the end if it never does.
pub(super) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Every path, of one part or more.
pub(super) fn paths<'a>(tokens: &[Token<'a>]) -> Vec<NamedPath<'a>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = if tokens[at].is_name() { path(tokens, at, &[], &mut found) } else { at + 1 };
    }
    found
}

/// Reads the path that begins at `at`; gives where it ends.
fn path<'a>(tokens: &[Token<'a>], mut at: usize, before: &[&'a str], found: &mut Vec<NamedPath<'a>>) -> usize {
    let mut parts = before.to_vec();
    loop {
        parts.push(tokens[at].text);
        let line = tokens[at].line;
        at += 1;
        let continues = tokens.get(at).is_some_and(|token| token.text == "::");
        match tokens.get(at + 1) {
            Some(next) if continues && (next.is_name() || next.text == "*") => at += 1,
            Some(next) if continues && next.text == "{" => return group(tokens, at + 1, &parts, found),
            _ => {
                found.push(NamedPath { line, parts });
                return at;
            }
        }
    }
}

fn group<'a>(tokens: &[Token<'a>], open: usize, before: &[&'a str], found: &mut Vec<NamedPath<'a>>) -> usize {
    let close = closing(tokens, open);
    let mut at = open + 1;
    while at < close {
        match tokens[at].text {
            "as" => at += 2,
            "*" => at = path(tokens, at, before, found),
            _ if tokens[at].is_name() => at = path(tokens, at, before, found),
            _ => at += 1,
        }
    }
    close + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        scan(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_lifetimes_vanish_and_texts_are_a_mark() {
        assert_eq!(texts("a /* b /* c */ d */ e // f\n::g"), ["a", "e", "::", "g"]);
        assert_eq!(
            texts(r####"x("a\"b", r#"c"d"#, b"e", '\'', '"', 'f', &'static g)"####).concat(),
            r#"x(",",",",",",&g)"#
        );
        assert_eq!(scan("\"a\nb\"\nc").last().unwrap().line, 3);
    }

    #[test]
    fn a_group_is_a_path_an_element() {
        let tokens = scan("use std::{fs, io::{self, Read as R}, net::*};");
        let found: Vec<String> = paths(&tokens).iter().map(|path| path.parts.join("::")).collect();
        assert_eq!(found, ["use", "std::fs", "std::io::self", "std::io::Read", "std::net::*"]);
    }

    #[test]
    fn test_items_can_be_left_out() {
        let tokens = scan("a; #[cfg(test)] mod tests { b(); { c } } #[cfg(test)] mod more; d");
        assert_eq!(without_tests(&tokens).iter().map(|token| token.text).collect::<String>(), "a;d");
    }
}
