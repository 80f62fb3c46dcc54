//! `jacuzzi import`: a static tree, a blob or a history becomes generations, with a report of what is odd about it.

pub(super) mod watch;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use super::answers::{Broken, Imported};
use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::offer;
use super::print::{listed, print_json, printable, say};
use super::target::Target;
use super::until_stopped::until_stopped;
use crate::adapters::{history_file, static_tree};
use crate::domain::allocator::{Builders, Rule, Write as AllocatorWrite};

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

    /// Follow the static tree in DIR, until SIGTERM or SIGINT
    ///
    /// While this runs, DIR is the truth: its changes are imported, and what is written here in
    /// another way is replaced by what DIR says. A change is taken when DIR has held still from one
    /// look to the next. Views that disagree are reported, and taken only after they have stayed so
    /// for 12 looks; a tree without any builder is reported, and never taken. The server may be
    /// restarted meanwhile.
    #[arg(long)]
    watch: bool,

    /// How often to look at DIR, 0.1 to 3600
    #[arg(long, value_name = "SECONDS", requires = "watch", default_value = "5", value_parser = parse_interval)]
    interval: Duration,
}

fn parse_interval(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or("give a number of seconds from 0.1 to 3600")
}

/// What is sent to the server.
struct Upload {
    media_type: &'static str,
    body: Vec<u8>,
    changes: usize,
}

impl Import {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        if self.watch {
            return until_stopped(watch::follow(watch::Watch::new(self, globals)?));
        }
        let upload = self.read().with_context(|| format!("cannot import {}", self.from.display()))?;
        let target = target(self.strict, self.reason.as_deref());
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
        if self.from != Path::new("-") && fs::metadata(&self.from)?.is_dir() {
            return self.tree_upload();
        }
        file_upload(offer::bytes(&self.from)?)
    }

    fn tree_upload(&self) -> anyhow::Result<Upload> {
        let tree = static_tree::read(&self.from)?;
        offer::say_disagreements(&tree.disagreements, self.verbose);
        if self.strict && !tree.disagreements.is_empty() {
            bail!("the tree's views disagree, and the import is strict");
        }
        Ok(blob_upload(&tree.builders))
    }
}

fn target(strict: bool, reason: Option<&str>) -> Target {
    Target::path("/v1/allocations/import").query("strict", strict).optional("reason", reason)
}

fn blob_upload(builders: &Builders) -> Upload {
    #[derive(Serialize)]
    struct Blob<'a> {
        builders: &'a Builders,
    }
    let body = serde_json::to_vec(&Blob { builders }).expect("names are always JSON");
    Upload { media_type: "application/json", body, changes: 1 }
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
    text += &broken_rules(&imported.broken, verbose);
    text
}

/// How many rules of which kind, then each with its place; nothing if there is none.
fn broken_rules(broken: &[Broken], verbose: bool) -> String {
    if broken.is_empty() {
        return String::new();
    }
    let mut counts = BTreeMap::<Rule, usize>::new();
    for broken in broken {
        *counts.entry(broken.fault.rule).or_default() += 1;
    }
    let mut text = format!("{} broken rule(s):\n", broken.len());
    for (rule, count) in counts {
        let rule = serde_json::to_value(rule).expect("a rule is a text in JSON");
        writeln!(text, "{count:>6} {}", rule.as_str().unwrap_or_default()).expect("a String takes everything");
    }
    let lines: Vec<_> = broken.iter().map(describe).collect();
    text + &listed(&lines, verbose)
}

fn describe(broken: &Broken) -> String {
    format!("change {}, {}: {}", broken.line, broken.time, printable(&broken.fault.to_string()))
}
