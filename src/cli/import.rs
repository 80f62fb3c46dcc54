//! `jacuzzi import`: a static tree, a blob or a history becomes generations, with a report of what is odd about it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use super::answers::{Broken, Imported};
use super::client::{Client, Target, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, printable, say};
use crate::adapters::{history_file, static_tree};
use crate::domain::allocator::{Builders, Rule, Write as AllocatorWrite};

/// So many faults are listed without --verbose.
const FAULTS_SHOWN: usize = 20;

const SPINNER_TICK: Duration = Duration::from_millis(100);

/// Import a static tree, a blob of all allocations, or a history of changes
///
/// A history has already happened, so what breaks a rule is reported and taken as it is; only an
/// empty list leaves the builder's list before it in force.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// A folder with v1/builders, a file, or - for stdin
    #[arg(value_name = "DIR|FILE|-")]
    from: PathBuf,

    /// Import nothing if anything breaks a rule
    #[arg(long)]
    strict: bool,

    /// Why, for the list of generations
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// List every broken rule, not only the first 20
    #[arg(long, short)]
    verbose: bool,
}

/// What is sent to the server.
struct Upload {
    media_type: &'static str,
    body: Vec<u8>,
    changes: usize,
}

impl Import {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let upload = self.read().with_context(|| format!("cannot import {}", self.from.display()))?;
        let mut target = Target::path("/v1/allocations/import").query("strict", self.strict);
        if let Some(reason) = &self.reason {
            target = target.query("reason", reason);
        }
        let spinner = ProgressBar::new_spinner().with_message(format!("importing {} change(s)", upload.changes));
        spinner.enable_steady_tick(SPINNER_TICK);
        let answer = Client::new(globals).post(&target, upload.media_type, &upload.body);
        spinner.finish_and_clear();
        let answer = answer?;
        say(summary(&decode(&answer)?, self.verbose).trim_end());
        if globals.output == Output::Json {
            print_json(out, &answer)?;
        }
        Ok(())
    }

    /// Everything is parsed here already, so that a fault names the file and the place in it.
    fn read(&self) -> anyhow::Result<Upload> {
        if self.from == Path::new("-") {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).context("cannot read stdin")?;
            return file_upload(bytes);
        }
        if fs::metadata(&self.from)?.is_dir() {
            return self.tree_upload();
        }
        file_upload(fs::read(&self.from)?)
    }

    fn tree_upload(&self) -> anyhow::Result<Upload> {
        let tree = static_tree::read(&self.from)?;
        let disagreements: Vec<_> = tree.disagreements.iter().map(ToString::to_string).collect();
        if !disagreements.is_empty() {
            let count = disagreements.len();
            say(format_args!("the tree's three views disagree in {count} place(s); v1/builders is taken:"));
            say(listed(&disagreements, self.verbose).trim_end());
            if self.strict {
                bail!("the tree's views disagree, and the import is strict");
            }
        }
        #[derive(Serialize)]
        struct Blob<'a> {
            builders: &'a Builders,
        }
        let body = serde_json::to_vec(&Blob { builders: &tree.builders })?;
        Ok(Upload { media_type: "application/json", body, changes: 1 })
    }
}

fn file_upload(body: Vec<u8>) -> anyhow::Result<Upload> {
    let lines = history_file::parse(&body)?;
    let is_blob = matches!(lines.first().map(|line| &line.write), Some(AllocatorWrite::Replace(_)));
    let media_type = if is_blob { "application/json" } else { "application/x-ndjson" };
    Ok(Upload { media_type, body, changes: lines.len() })
}

fn summary(imported: &Imported, verbose: bool) -> String {
    let mut text = match imported.first {
        None => format!("nothing to import: generation {} stays in force\n", imported.last),
        Some(first) => {
            format!("imported {} change(s) as generations {first} to {}\n", imported.imported, imported.last)
        }
    };
    if imported.broken.is_empty() {
        return text;
    }
    let mut counts = BTreeMap::<Rule, usize>::new();
    for broken in &imported.broken {
        *counts.entry(broken.fault.rule).or_default() += 1;
    }
    text += &format!("{} broken rule(s):\n", imported.broken.len());
    for (rule, count) in counts {
        let rule = serde_json::to_value(rule).expect("a rule is a text in JSON");
        writeln!(text, "{count:>6} {}", rule.as_str().unwrap_or_default()).expect("a String takes everything");
    }
    let lines: Vec<_> = imported.broken.iter().map(describe).collect();
    text + &listed(&lines, verbose)
}

fn describe(broken: &Broken) -> String {
    format!("change {}, {}: {}", broken.line, broken.time, printable(&broken.fault.to_string()))
}

/// One a line, and how many are left out.
fn listed(lines: &[String], verbose: bool) -> String {
    let shown = if verbose { lines.len() } else { lines.len().min(FAULTS_SHOWN) };
    let mut text: String = lines[..shown].iter().map(|line| format!("  {line}\n")).collect();
    if shown < lines.len() {
        text += &format!("  and {} more (--verbose lists them)\n", lines.len() - shown);
    }
    text
}
