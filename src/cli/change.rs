//! What all changes of allocations have in common: why, under which conditions, and how their outcome is told.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, bail};
use clap::Args;

use super::answers::{Blob, Delta};
use super::client::{Client, ClientFault, decode};
use super::difference::Difference;
use super::globals::{Globals, Output};
use super::print::{print_json, say};
use super::target::Target;

#[derive(Debug, Args)]
pub(super) struct Change {
    /// Why, for the list of generations
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Allow a greater shrink within an hour than the farm file does (max_shrink_percent)
    #[arg(long)]
    pub force: bool,

    /// Change nothing: only show what would change, and whether the server would refuse it
    #[arg(long)]
    pub dry_run: bool,
}

/// A change of many builders at once, which is shown before it is made.
#[derive(Debug, Args)]
pub(super) struct ShownChange {
    #[command(flatten)]
    pub change: Change,

    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

impl Change {
    /// The target with what the server must know besides the body.
    pub(super) fn of(&self, target: Target) -> Target {
        target.query("dry_run", self.dry_run).query("force", self.force)
    }

    /// Tells what came of it; in JSON the answer says it.
    pub(super) fn conclude(&self, answer: &[u8], globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let Delta { generation, difference } = decode(answer)?;
        let count = difference.len();
        match self.dry_run {
            true => {
                say(format_args!(
                    "generation {generation} would change {count} builder(s); nothing is changed (dry run)"
                ));
            }
            false => say(format_args!("generation {generation} is in force; it changed {count} builder(s)")),
        }
        if globals.output == Output::Json {
            print_json(out, answer)?;
        }
        Ok(())
    }
}

impl ShownChange {
    /// Shows what will change, asks, and has `send` do it, on the condition
    /// that what was shown is still in force then.
    pub(super) fn make(
        &self,
        before: &Blob,
        difference: &Difference,
        globals: &Globals,
        out: &mut dyn Write,
        send: impl FnOnce(&str) -> Result<Vec<u8>, ClientFault>,
    ) -> anyhow::Result<()> {
        match globals.output {
            Output::Table => difference.print(&before.builders, out)?,
            // There the answer is the data.
            Output::Json => difference.print(&before.builders, &mut io::stderr().lock())?,
        }
        if difference.is_empty() {
            say(format_args!("nothing to change: generation {} is like that already", before.generation));
            return Ok(());
        }
        out.flush()?;
        if !self.change.dry_run && !self.yes {
            ask(&format!("change {} builder(s) like that?", difference.len()))?;
        }
        let answer = send(&before.tag());
        if answer.as_ref().is_err_and(|fault| fault.status() == Some(412)) {
            let shown = before.generation;
            return answer.map(drop).with_context(|| {
                format!("the allocations were changed after generation {shown}, which this was compared with; nothing is changed, run it again to see what it would change now")
            });
        }
        self.change.conclude(&answer?, globals, out)
    }
}

/// The allocations in force.
pub(super) fn in_force(client: &Client) -> Result<Blob, ClientFault> {
    decode(&client.read(&Target::path("/v1/allocations"))?)
}

fn ask(question: &str) -> anyhow::Result<()> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        bail!("nothing is changed: stdin is no terminal, so nobody can be asked; --yes goes ahead without");
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut reply = String::new();
    stdin.read_line(&mut reply)?;
    match is_yes(&reply) {
        true => Ok(()),
        false => bail!("nothing is changed: that was no \"y\""),
    }
}

fn is_yes(reply: &str) -> bool {
    ["y", "yes"].contains(&reply.trim().to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        for (reply, yes) in
            [("y\n", true), (" YES\r\n", true), ("\n", false), ("", false), ("yeah", false), ("n", false)]
        {
            assert_eq!(is_yes(reply), yes, "{reply:?}");
        }
    }
}
