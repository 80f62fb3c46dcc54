//! `jacuzzi diff`: what changed between two generations, or what a file would change, by builder.

use std::convert::Infallible;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::answers::Delta;
use super::change::in_force;
use super::client::{Client, decode};
use super::difference::Difference;
use super::globals::{Globals, Output};
use super::offer;
use super::print::{print_json, say};
use super::target::Target;
use crate::domain::allocator::Generation;

/// Show what changed between two generations, or what a file would change, by builder
///
/// The first column: + has an allocation now, - has none any more, ~ has another one.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// The generation to compare with (TO may be the older one); or a blob or the folder of a
    /// static tree (- is stdin), to see what `jacuzzi apply` would change
    ///
    /// All digits are a generation; write ./123 for a file of that name.
    #[arg(value_name = "FROM|FILE|DIR", value_parser = parse_from)]
    from: From,
    /// [default: the generation in force]
    to: Option<u64>,
}

#[derive(Debug, Clone)]
enum From {
    Generation(u64),
    File(PathBuf),
}

fn parse_from(text: &str) -> Result<From, Infallible> {
    let generation = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    Ok(generation.map_or_else(|| From::File(text.into()), From::Generation))
}

impl Diff {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        match (self.from, self.to) {
            (From::Generation(from), to) => between_generations(&client, from, to, globals.output, out),
            (From::File(file), None) => with_file(&client, &file, globals.output, out),
            (From::File(file), Some(_)) => bail!(
                "{} is compared with the generation in force, so give no other; FROM and TO are both generations",
                file.display()
            ),
        }
    }
}

fn between_generations(
    client: &Client,
    from: u64,
    to: Option<u64>,
    output: Output,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let since = |from: u64| Target::path("/v1/allocations").query("since", from);
    let answer = client.read(&since(from).optional("until", to))?;
    if output == Output::Json {
        return Ok(print_json(out, &answer)?);
    }
    let forward: Delta = decode(&answer)?;
    // A delta holds whole new lists; the way back holds the old ones.
    let to = to.unwrap_or(forward.generation.0);
    let back: Delta = decode(&client.read(&since(to).query("until", from))?)?;
    if forward.difference.is_empty() {
        say(format_args!("nothing changed from generation {from} to {to}"));
    }
    Ok(forward.difference.print(&back.difference.set, out)?)
}

fn with_file(client: &Client, file: &Path, output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct WouldChange<'a> {
        since: Generation,
        #[serde(flatten)]
        difference: &'a Difference,
    }
    let offered = offer::read(file)?;
    let before = in_force(client)?;
    let difference = Difference::between(&before.builders, &offered);
    if output == Output::Json {
        let would_change = WouldChange { since: before.generation, difference: &difference };
        return Ok(print_json(out, &serde_json::to_vec(&would_change)?)?);
    }
    if difference.is_empty() {
        say(format_args!("{} is what generation {} says", file.display(), before.generation));
    }
    Ok(difference.print(&before.builders, out)?)
}
