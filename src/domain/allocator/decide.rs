//! From a command to generations: pure, and the only place where a generation is made.

use super::rules::{Fault, Rule, judge};
use super::state::Allocations;
use super::write::{Difference, ImportLine, Write};
use super::{Command, Event, Generation, GenerationMade, MAX_IMPORT_LINES, Origin, Refusal, WriteCommand};
use crate::domain::author::Author;
use crate::domain::fleet::Fleet;
use crate::domain::time::Timestamp;

pub(in crate::domain) fn decide(
    fleet: &Fleet,
    allocations: &Allocations,
    now: Timestamp,
    command: Command,
) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Write(command) => decide_write(fleet, allocations, now, command),
        Command::Import { lines, .. } if lines.len() > MAX_IMPORT_LINES => {
            Err(Refusal::TooManyLines { lines: lines.len() })
        }
        Command::Import { lines, strict, author, reason } => {
            let import = Import { fleet, strict, author, reason, now };
            import.decide(allocations.clone(), lines)
        }
    }
}

fn decide_write(
    fleet: &Fleet,
    allocations: &Allocations,
    now: Timestamp,
    command: WriteCommand,
) -> Result<Vec<Event>, Refusal> {
    let actual = allocations.generation();
    if let Some(expected) = command.expected.filter(|expected| !expected.contains(&actual)) {
        return Err(Refusal::Stale { expected, actual });
    }
    let origin = match command.write {
        Write::Rollback(to) => Origin::Rollback(to),
        Write::Replace(_) | Write::Patch { .. } | Write::Delete(_) => Origin::Write,
    };
    let difference = Difference::of(command.write, allocations)?;
    let mut faults = command.bad_names;
    faults.extend(judge(fleet, allocations, &difference, now, command.force));
    if !faults.is_empty() {
        return Err(Refusal::Faults(faults));
    }
    let (set, unset) = difference.published(allocations);
    Ok(vec![Event::GenerationMade(GenerationMade {
        generation: actual.next(),
        time: now,
        author: command.author,
        reason: command.reason,
        origin,
        set,
        unset,
        forced: command.force,
        broken: Vec::new(),
    })])
}

/// An import takes what happened as it happened, with one exception: an empty
/// list leaves the builder's list before it in force.
struct Import<'a> {
    fleet: &'a Fleet,
    strict: bool,
    author: Author,
    reason: Option<String>,
    now: Timestamp,
}

impl Import<'_> {
    /// `allocations` is a scratch copy, on which each line meets the lines before it.
    fn decide(&self, mut allocations: Allocations, lines: Vec<ImportLine>) -> Result<Vec<Event>, Refusal> {
        let keep = self.fleet.definition().allocations.keep_generations;
        let mut events = Vec::with_capacity(lines.len());
        for (at, line) in lines.into_iter().enumerate() {
            // A history has happened: what says to be of the future is of now.
            let time = line.time.map_or(self.now, |time| time.min(self.now));
            let mut difference = Difference::of(line.write, &allocations)?;
            let broken = judge(self.fleet, &allocations, &difference, time, false);
            if self.strict && !broken.is_empty() {
                return Err(Refusal::Strict { line: at + 1, time, faults: broken });
            }
            difference.set.retain(|_, workers| !workers.is_empty());
            let event = self.generation(allocations.generation().next(), time, difference, broken, &allocations);
            allocations.apply(&event, keep);
            events.push(event);
        }
        Ok(events)
    }

    fn generation(
        &self,
        generation: Generation,
        time: Timestamp,
        difference: Difference,
        broken: Vec<Fault>,
        now: &Allocations,
    ) -> Event {
        debug_assert!(broken.iter().all(|fault| fault.rule != Rule::BadName), "names are parsed before a line is made");
        let (set, unset) = difference.published(now);
        Event::GenerationMade(GenerationMade {
            generation,
            time,
            author: self.author.clone(),
            reason: self.reason.clone(),
            origin: Origin::Import,
            set,
            unset,
            forced: false,
            broken,
        })
    }
}
