//! The files in `config/` hold what they promise, for the real data that ships with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Deserialize;

use super::{FarmFile, check};
use crate::domain::allocator::{Builders, ImportLine, Rule, Write};
use crate::domain::{Author, BuilderName, Event, Farm, Timestamp, WorkerName, allocator, fleet};

/// Tests run in the checkout; where it was built may be another one that shares the cache.
fn path(name: &str) -> PathBuf {
    std::env::current_dir().unwrap().join(name)
}

fn mozilla() -> FarmFile {
    FarmFile::read(&path("config/mozilla.toml")).unwrap_or_else(|faults| panic!("{faults}"))
}

fn farm(file: &FarmFile) -> Farm {
    let mut farm = Farm::default();
    let define = fleet::Command::Define { definition: Box::new(file.definition.clone()), author: Author::new("test") };
    for event in farm.plan(Timestamp::default(), define.into()).unwrap() {
        farm.apply(&event);
    }
    farm
}

fn history(file: &FarmFile) -> Vec<ImportLine> {
    #[derive(Deserialize)]
    struct Line {
        time: Timestamp,
        set: Builders,
        unset: BTreeSet<BuilderName>,
    }
    let text = std::fs::read_to_string(file.import.as_ref().unwrap()).unwrap();
    let line = |text| serde_json::from_str(text).map(|Line { time, set, unset }| (time, Write::Patch { set, unset }));
    text.lines().map(|text| line(text).unwrap()).map(|(time, write)| ImportLine { time: Some(time), write }).collect()
}

#[test]
fn all_of_them_are_sound() {
    let files = ["jacuzzi", "farm", "mozilla"].map(|name| path(&format!("config/{name}.toml")));
    let report = check(&files).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(report.lines().count(), 3, "{report}");
}

#[test]
fn every_setting_has_one_line_of_comment() {
    let text = std::fs::read_to_string(path("config/jacuzzi.toml")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let is_comment = |line: &str| line.starts_with('#');
    for window in lines.windows(3).filter(|window| window[2].contains(" = ") && !is_comment(window[2])) {
        assert!(is_comment(window[1]) && !is_comment(window[0]), "{}", window[2]);
    }
}

#[test]
fn mozillas_patterns_are_taken_over_in_order_and_word_for_word_but_for_one_look_ahead() {
    #[derive(Deserialize)]
    struct WatchPending {
        buildermap: IndexMap<String, String>,
    }
    let text = std::fs::read_to_string(path("tests/data/mozilla-watch-pending-2015.json")).unwrap();
    let original: WatchPending = serde_json::from_str(&text).unwrap();
    let ours = mozilla().definition.builders;
    let ours: Vec<_> = ours.iter().map(|rule| (rule.pattern.as_str(), rule.pool.as_str())).collect();
    // Python repeats even a look-ahead; it can be left out, since it may match or not.
    let theirs = original.buildermap.iter().map(|(pattern, pool)| (pattern.replace("(?!try )?", ""), pool));
    let theirs: Vec<_> = theirs.collect();
    assert_eq!(theirs.len(), 46);
    assert!(theirs.iter().map(|(pattern, pool)| (pattern.as_str(), pool.as_str())).eq(ours[..46].iter().copied()));
}

#[test]
fn every_builder_of_the_history_has_its_pool_and_every_machine_is_in_it() {
    let file = mozilla();
    let farm = farm(&file);
    let (mut builders, mut machines) = (BTreeSet::new(), BTreeSet::<WorkerName>::new());
    for line in history(&file) {
        let Write::Patch { set, .. } = line.write else { unreachable!() };
        for (builder, list) in set {
            let rule = farm.fleet.rule(&builder).unwrap_or_else(|| panic!("no rule for {builder}"));
            for machine in &list {
                let worker = farm.fleet.worker(machine).unwrap_or_else(|| panic!("no worker {machine}"));
                assert_eq!(worker.pool, rule.pool, "{machine} of {builder}");
            }
            let group = farm.fleet.isolation_group(&builder).unwrap();
            assert_ne!(group, builder.as_str(), "a branch is missing from the isolation groups");
            builders.insert(builder);
            machines.extend(list);
        }
    }
    assert_eq!((builders.len(), machines.len()), (197, 608));
}

#[test]
fn the_history_breaks_the_rules_where_the_accidents_were() {
    let file = mozilla();
    let farm = farm(&file);
    let import =
        allocator::Command::Import { lines: history(&file), strict: false, author: Author::new("test"), reason: None };
    let events = farm.plan(Timestamp::from_unix_seconds(1_500_000_000), import.into()).unwrap();
    assert_eq!(events.len(), 5_050);

    let mut broken: BTreeMap<(Rule, String), usize> = BTreeMap::new();
    for event in &events {
        let Event::Allocator(allocator::Event::GenerationMade(made)) = event else { unreachable!() };
        for fault in &made.broken {
            *broken.entry((fault.rule, made.time.to_string())).or_default() += 1;
        }
    }
    let times = |of: Rule| {
        let broken = broken.iter().filter(move |((rule, _), _)| *rule == of);
        broken.map(|((_, time), count)| (time.as_str(), *count)).collect::<Vec<_>>()
    };
    assert_eq!(times(Rule::EmptyList), [("2014-06-04T10:32:17Z", 29)], "the usage message published as data");
    assert_eq!(
        times(Rule::Shrink),
        [
            ("2014-06-04T10:32:17Z", 1),
            ("2015-04-30T13:50:13Z", 1),
            ("2015-04-30T14:31:46Z", 1),
            ("2015-06-09T13:20:11Z", 1), // the empty query that cut 49 builders to one machine each
            ("2015-06-09T20:20:05Z", 1),
            ("2015-11-27T22:10:05Z", 1),
        ]
    );
    let isolation = times(Rule::Isolation);
    assert_eq!((isolation.len(), isolation.iter().map(|(_, count)| count).sum::<usize>()), (9, 101));
    assert_eq!(broken.len(), 1 + 6 + 9, "no other rule is broken");
}
