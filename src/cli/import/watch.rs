//! `jacuzzi import --watch`: a static tree that another system publishes is followed, change by change.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::time::sleep;

use super::{Import, blob_upload, broken_rules, target};
use crate::adapters::static_tree::{self, Look, StaticTree};
use crate::cli::answers::{Blob, Imported};
use crate::cli::client::{Client, ClientFault, decode};
use crate::cli::difference::Difference;
use crate::cli::follower::Follower;
use crate::cli::globals::Globals;
use crate::cli::print::{listed, say};
use crate::cli::target::Target;
use crate::cli::trouble::Trouble;
use crate::domain::allocator::{Builders, Generation};
use crate::domain::{BuilderName, WorkerName};

/// A tree whose views disagree is taken after so many equal looks: it was left
/// so, and this is what its masters read. Being published takes less.
const LOOKS_BEFORE_DISAGREEMENT_IS_TAKEN: u32 = 12;

/// A tree that is another one at so many looks in a row is worth a word.
const RESTLESS_LOOKS: u32 = 12;

/// A tree that is followed, and how far that has come.
pub(in crate::cli) struct Watch {
    folder: PathBuf,
    interval: Duration,
    client: Client,
    follower: Follower,
    target: Target,
    verbose: bool,
    /// The last look, and how many in a row were equal to it.
    seen: Option<(Look, u32)>,
    /// How many looks in a row differed, or failed.
    restless: u32,
    done: Option<Done>,
    trouble: Trouble,
}

/// As long as neither side differs from this, nothing is to be done.
#[derive(PartialEq)]
struct Done {
    look: Look,
    epoch: String,
    generation: Generation,
}

/// Follows for ever.
///
/// # Errors
/// What no waiting can mend, such as a token that is refused.
pub(super) async fn follow(mut watch: Watch) -> anyhow::Result<()> {
    loop {
        match watch.round() {
            Ok(()) => {}
            Err(fault) if fault.may_pass() => {
                watch.trouble.met(format!("{:#}; trying again", anyhow::Error::from(fault)));
            }
            Err(fault) => return Err(fault.into()),
        }
        sleep(watch.interval).await;
    }
}

impl Watch {
    pub(in crate::cli) fn new(import: Import, globals: &Globals) -> anyhow::Result<Self> {
        let folder = import.from;
        let shown = folder.display();
        if !fs::metadata(&folder).with_context(|| format!("cannot follow {shown}"))?.is_dir() {
            bail!("cannot follow {shown}: it is no folder, and only the folder of a static tree can be followed");
        }
        let reason = import.reason.unwrap_or_else(|| format!("following {shown}"));
        let client = Client::new(globals);
        Ok(Self {
            interval: import.interval,
            follower: Follower::new(client.clone()),
            client,
            target: target(import.strict, Some(&reason)),
            verbose: import.verbose,
            seen: None,
            restless: 0,
            done: None,
            trouble: Trouble::default(),
            folder,
        })
    }

    /// One look at both sides, and what follows from it.
    pub(in crate::cli) fn round(&mut self) -> Result<(), ClientFault> {
        let Some((look, looks)) = self.settled() else { return Ok(()) };
        self.follower.look(Duration::ZERO)?;
        let Some(in_force) = self.follower.known().cloned() else { return Ok(()) };
        let (epoch, generation) = (in_force.epoch.clone(), in_force.generation);
        let mut done = Done { look, epoch, generation };
        if self.done.as_ref() == Some(&done) {
            self.trouble.over();
            return Ok(());
        }
        let Some(tree) = self.read(&done.look, looks) else { return Ok(()) };
        self.trouble.over();
        if self.done.as_ref().is_some_and(|before| before.look == done.look) {
            say(format_args!("generation {generation} was not made here: comparing it with {}", self.folder.display()));
        }
        done.generation = self.take(&tree, &in_force)?;
        self.done = Some(done);
        Ok(())
    }

    /// The look, and how often it was the same, of a tree that holds still.
    fn settled(&mut self) -> Option<(Look, u32)> {
        let fault = match (static_tree::look(&self.folder), &mut self.seen) {
            (Ok(look), Some((seen, looks))) if *seen == look => {
                *looks += 1;
                self.restless = 0;
                return Some((look, *looks));
            }
            (Ok(look), seen) => {
                *seen = Some((look, 1));
                None
            }
            (Err(fault), seen) => {
                *seen = None;
                Some(fault)
            }
        };
        self.restless += 1;
        match fault {
            // A file may go while the tree is walked; gone the next time too, something is wrong.
            Some(fault) if self.restless > 1 => self.trouble.met(format!("{:#}", anyhow::Error::from(fault))),
            None if self.restless == RESTLESS_LOOKS => {
                let shown = self.folder.display();
                self.trouble.met(format!("{shown} was another one at each of the last {RESTLESS_LOOKS} looks; it is taken when it holds still"));
            }
            Some(_) | None => {}
        }
        None
    }

    /// The whole tree, if it is fit to be taken.
    fn read(&mut self, look: &Look, looks: u32) -> Option<StaticTree> {
        let tree = match static_tree::read(&self.folder) {
            Ok(tree) => tree,
            Err(fault) => {
                self.trouble.met(format!("{:#}; nothing is taken", anyhow::Error::from(fault)));
                return None;
            }
        };
        if static_tree::look(&self.folder).ok().as_ref() != Some(look) {
            // It changed while it was read.
            self.seen = None;
            return None;
        }
        if !tree.disagreements.is_empty() {
            let lines: Vec<_> = tree.disagreements.iter().map(ToString::to_string).collect();
            let (count, shown) = (lines.len(), self.folder.display());
            self.trouble.met(format!(
                "the views of {shown} disagree in {count} place(s); they are taken if they agree, or stay so for {LOOKS_BEFORE_DISAGREEMENT_IS_TAKEN} looks (then v1/builders counts):\n{}",
                listed(&lines, self.verbose).trim_end()
            ));
            if looks < LOOKS_BEFORE_DISAGREEMENT_IS_TAKEN {
                return None;
            }
        }
        Some(tree)
    }

    /// Has the server import the tree if that changes anything; answers the generation in force then.
    fn take(&mut self, tree: &StaticTree, in_force: &Blob) -> Result<Generation, ClientFault> {
        let (shown, generation) = (self.folder.display(), in_force.generation);
        let wanted = without_empty_lists(&tree.builders, &in_force.builders);
        for (builder, _) in tree.builders.iter().filter(|(_, list)| list.is_empty()) {
            say(format_args!("builder {builder:?} has an empty list in {shown}: its list before stays in force"));
        }
        if wanted.is_empty() && !in_force.builders.is_empty() {
            say(format_args!(
                "{shown} has no builder at all, as if it had gone missing: generation {generation} stays in force (`jacuzzi import {shown}` would take it)"
            ));
            return Ok(generation);
        }
        let difference = Difference::between(&in_force.builders, &wanted);
        if difference.is_empty() {
            say(format_args!("generation {generation} is what {shown} says"));
            return Ok(generation);
        }
        let upload = blob_upload(&tree.builders);
        let answer = match self.client.post(&self.target, upload.media_type, &upload.body) {
            Ok(answer) => answer,
            // It is the tree that is refused, so the same tree is not sent again.
            Err(fault) if matches!(fault.status(), Some(400 | 413 | 422)) => {
                say(format_args!("{shown} is not taken, and generation {generation} stays in force: {fault}"));
                return Ok(generation);
            }
            Err(fault) => return Err(fault),
        };
        let imported: Imported = decode(&answer)?;
        let (count, last) = (difference.len(), imported.last);
        say(format_args!("took {shown} as generation {last}, {count} builder(s) changed"));
        if !imported.broken.is_empty() {
            say(broken_rules(&imported.broken, self.verbose).trim_end());
        }
        Ok(imported.last)
    }
}

/// As an import takes it: an empty list leaves the builder's list before it in force.
fn without_empty_lists(written: &Builders, in_force: &Builders) -> Builders {
    let list_of = |(builder, list): (&BuilderName, &Vec<WorkerName>)| {
        let list = if list.is_empty() { in_force.get(builder)? } else { list };
        Some((builder.clone(), list.clone()))
    };
    written.iter().filter_map(list_of).collect()
}
