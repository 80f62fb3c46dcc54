//! A backup taken under load is one moment of the truth, and a restore is exactly that moment with a life of its own.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::Value;

use super::damage::{NO_SNAPSHOT, flip_a_bit};
use super::load::{Client, FARM, Said, Writers, serve};
use super::{run, run_well, verify};
use crate::suite::dice::Dice;
use crate::suite::server::{Home, Server};

fn backup(home: &Home) -> String {
    let file = home.farm_file().with_file_name("farm.backup");
    let text = file.to_str().unwrap().to_owned();
    run_well(home, &["backup", &text]);
    text
}

fn restore(to: &Home, file: &str) -> Output {
    run(to, &["restore", file])
}

fn blob(server: &Server) -> Value {
    server.get("/v1/allocations").json()
}

/// The state of generation `generation`, as the delta from nothing.
fn state_at(server: &Server, generation: u64) -> Value {
    server.get(&format!("/v1/allocations?since=0&until={generation}")).json()["set"].clone()
}

#[test]
fn a_backup_under_load_is_restored_exactly_and_with_another_epoch() {
    let (home, mut dice) = (Home::new(FARM), Dice::seeded(4));
    let server = serve(&home, NO_SNAPSHOT).start();
    let writers = Writers::start(&home, &server, "load", &mut dice);
    writers.wait(50, Duration::ZERO);
    let acknowledged = blob(&server)["generation"].as_u64().unwrap();
    let file = backup(&home);
    writers.wait(20, Duration::ZERO);
    let said = writers.stop();
    let made = said.iter().filter_map(Said::generation).max().unwrap();
    assert_eq!(blob(&server)["generation"], made, "the load never stopped");

    let copy = Home::new(FARM);
    let restored = restore(&copy, &file);
    assert!(restored.status.success(), "{restored:?}");
    verify(&copy);
    let twin = serve(&copy, NO_SNAPSHOT).start();
    let (state, original) = (blob(&twin), blob(&server));
    let generation = state["generation"].as_u64().unwrap();
    assert!((acknowledged..=made).contains(&generation), "{acknowledged} {generation} {made}");
    assert_eq!(state["builders"], state_at(&server, generation));
    assert_eq!(
        twin.get("/v1/allocations/history").json()["generations"],
        server.get(&format!("/v1/allocations/history?before={}", generation + 1)).json()["generations"],
    );

    let (old, new) = (original["epoch"].as_str().unwrap(), state["epoch"].as_str().unwrap());
    assert_ne!(old, new);
    let stale = twin.get(&format!("/v1/allocations?since={generation}&epoch={old}"));
    assert_eq!((stale.status, stale.json()["code"].as_str()), (410, Some("other_epoch")));
    assert_eq!(twin.get(&format!("/v1/allocations?since={generation}&epoch={new}")).status, 200);
    // Both go their own ways.
    Client::new(&copy, &twin).write_generations("twin", 3);
    assert_eq!(blob(&twin)["generation"], generation + 3);
    twin.kill9();
    assert_eq!(blob(&serve(&copy, NO_SNAPSHOT).start())["epoch"], new);
    assert_eq!(blob(&server), original);
}

#[test]
fn a_backup_can_be_taken_again_and_of_a_stopped_server() {
    let home = Home::new(FARM);
    let server = serve(&home, NO_SNAPSHOT).start();
    Client::new(&home, &server).write_generations("one", 3);
    let first = fs::read(backup(&home)).unwrap();
    Client::new(&home, &server).write_generations("two", 3);
    server.kill9();
    let file = backup(&home);
    assert_ne!(fs::read(&file).unwrap(), first, "the newer backup has taken the older one's place");
    let copy = Home::new(FARM);
    assert!(restore(&copy, &file).status.success());
    assert_eq!(blob(&serve(&copy, NO_SNAPSHOT).start())["generation"], 6);
}

#[test]
fn a_restore_that_could_destroy_or_mislead_is_refused() {
    let home = Home::new(FARM);
    let server = serve(&home, NO_SNAPSHOT).start();
    Client::new(&home, &server).write_generations("one", 5);
    let file = backup(&home);
    let refuses = |to: &Home, file: &str, words: &[&str]| {
        let refused = restore(to, file);
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{words:?} are not in: {stderr}");
    };
    refuses(&home, &file, &["is not empty", "new folder", home.data_dir().to_str().unwrap()]);
    assert_eq!(blob(&server)["generation"], 5);

    let damaged = format!("{file}.damaged");
    fs::copy(&file, &damaged).unwrap();
    flip_a_bit(Path::new(&damaged), "one-3");
    let empty = Home::new(FARM);
    refuses(&empty, &damaged, &["damaged", "record 6", "cannot be restored"]);
    fs::write(&damaged, &fs::read(&file).unwrap()[..5000]).unwrap();
    refuses(&empty, &damaged, &["damaged", "cannot be restored"]);
    fs::write(&damaged, "").unwrap();
    refuses(&empty, &damaged, &["empty, or not a jacuzzi journal"]);
    refuses(&empty, "nothing.backup", &["there is no", "nothing.backup"]);
    assert!(!empty.data_dir().exists(), "a refused restore leaves nothing behind");
}

#[test]
fn a_restore_that_a_crash_cut_short_is_no_farm_and_can_be_repeated() {
    let home = Home::new(FARM);
    let server = serve(&home, NO_SNAPSHOT).start();
    Client::new(&home, &server).write_generations("one", 3);
    let file = backup(&home);

    let cut_short = Home::new(FARM);
    fs::create_dir(cut_short.data_dir()).unwrap();
    fs::write(cut_short.data_dir().join("lock"), "1").unwrap();
    fs::write(cut_short.data_dir().join("restoring.sqlite"), &fs::read(&file).unwrap()[..5000]).unwrap();
    let refused = serve(&cut_short, NO_SNAPSHOT).try_start().err().expect("half a journal is none");
    assert!(refused.stderr.contains("cut short") && refused.stderr.contains("jacuzzi restore"), "{}", refused.stderr);
    assert!(restore(&cut_short, &file).status.success());
    assert_eq!(blob(&serve(&cut_short, NO_SNAPSHOT).start())["generation"], 3);
}

#[test]
fn a_journal_is_read_while_it_is_written() {
    let home = Home::new(FARM);
    let server = serve(&home, NO_SNAPSHOT).start();
    Client::new(&home, &server).write_generations("first", 1);
    let writers = Writers::start(&home, &server, "load", &mut Dice::seeded(5));
    writers.wait(30, Duration::ZERO);
    verify(&home);
    let exported = lines(&home, &["journal", "export"]);
    assert!(exported.len() > 30);
    assert!(exported.iter().enumerate().all(|(at, line)| line["seq"] == at as u64 + 1));
    writers.stop();

    let all = lines(&home, &["journal", "export"]);
    assert_eq!(all[..exported.len()], exported, "what is in a journal stays as it is");
    let after = (all.len() - 3).to_string();
    assert_eq!(lines(&home, &["journal", "export", "--after", &after]), all[all.len() - 3..]);
    assert_eq!(lines(&home, &["journal", "tail", "-n", "2"]), all[all.len() - 2..]);
    assert_eq!(lines(&home, &["journal", "tail"]).len(), 10);
    assert_eq!(all[0]["body"]["event"]["fleet"]["defined"]["definition"]["name"], "small");
    assert_eq!(all[1]["body"]["event"]["access"]["token_added"]["name"], "operator");
    let made = &all[2]["body"]["event"]["allocator"]["generation_made"];
    assert_eq!(
        (&all[2]["body"]["v"], &made["generation"], &made["author"]),
        (&1.into(), &1.into(), &"operator".into())
    );
    assert_eq!(made["time"], all[2]["time"]);
}

/// What a command prints, as JSON lines.
fn lines(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let output = run_well(home, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
