//! How commands print: tables and JSON to stdout, words to stderr.

use std::fmt::Display;
use std::io::{self, Write};

use comfy_table::{Table, presets};

use super::exit::is_closed_pipe;

/// So many lines of a list are shown to who did not ask for all.
const LINES_SHOWN: usize = 20;

/// A message for the person at the terminal. That nobody reads stderr is no reason to fail.
pub(super) fn say(message: impl Display) {
    writeln!(io::stderr().lock(), "{message}").ok();
}

/// Prints an error and its causes, unless it is only that nobody reads our output any more.
pub fn say_error(error: &anyhow::Error) {
    if is_closed_pipe(error) {
        return;
    }
    say(format_args!("error: {error}"));
    for cause in error.chain().skip(1) {
        say(format_args!("  because: {cause}"));
    }
}

/// Prints an answer as it was served.
pub(super) fn print_json(out: &mut dyn Write, answer: &[u8]) -> io::Result<()> {
    out.write_all(answer.trim_ascii_end())?;
    out.write_all(b"\n")
}

/// Prints one name a line, which every other tool can read.
pub(super) fn print_lines<T: Display>(out: &mut dyn Write, names: &[T]) -> io::Result<()> {
    names.iter().try_for_each(|name| writeln!(out, "{name}"))
}

/// Prints columns below their headings; nothing at all without a row.
pub(super) fn print_table<const N: usize>(
    out: &mut dyn Write,
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(headings).add_rows(rows);
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    if table.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", table.trim_fmt())
}

/// Names in one cell of a table.
pub(super) fn join<'a, T: Display + 'a>(names: impl IntoIterator<Item = &'a T>) -> String {
    let names: Vec<_> = names.into_iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// Foreign text with its control characters escaped, so that it cannot move a
/// terminal's cursor or break a table's row.
pub(super) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// One a line, and how many are left out.
pub(super) fn listed(lines: &[String], verbose: bool) -> String {
    let shown = if verbose { lines.len() } else { lines.len().min(LINES_SHOWN) };
    let mut text: String = lines[..shown].iter().map(|line| format!("  {line}\n")).collect();
    if shown < lines.len() {
        text += &format!("  and {} more (--verbose lists them)\n", lines.len() - shown);
    }
    text
}
