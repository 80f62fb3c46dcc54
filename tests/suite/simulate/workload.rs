//! `jacuzzi simulate workload` makes files that everything else of jacuzzi takes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::suite::server::Home;

const FILES: [&str; 4] = ["allocations.json", "arrivals.jsonl", "farm.toml", "history.jsonl"];

/// Two days, of which the second is a Saturday.
const FRIDAY: [&str; 4] = ["--start", "2014-06-06T00:00:00Z", "--days", "2"];

struct Made {
    _home: TempDir,
    folder: PathBuf,
}

fn simulate(home: &Path, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jacuzzi"));
    command.args(["simulate", "workload"]).args(arguments).current_dir(home).output().unwrap()
}

fn made(arguments: &[&str]) -> Made {
    let home = TempDir::with_prefix("jacuzzi-").unwrap();
    let output = simulate(home.path(), &[arguments, &["--out", "some/farm"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty(), "the summary is for people");
    let folder = home.path().join("some/farm");
    Made { _home: home, folder }
}

impl Made {
    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap()
    }

    fn lines(&self, file: &str) -> Vec<Value> {
        self.read(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn keys(line: &Value) -> Vec<&str> {
    line.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_made_farm_is_as_large_as_mozillas_and_keeps_all_rules() {
    let made = made(&[&["--seed", "4"], &FRIDAY[..]].concat());
    let farm = made.read("farm.toml");
    let home = Home::new(&farm.replace("import = \"allocations.json\"\n", ""));
    let checked = home.jacuzzi(&["config", "check", "farm.toml"]).output().unwrap();
    let summary = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success() && summary.contains("workers: 435,"), "{summary}");

    let server = home.start();
    let blob = made.folder.join("allocations.json");
    let mut import = home.jacuzzi(&["import", "--strict", blob.to_str().unwrap()]);
    import.env("JACUZZI_SERVER", server.url()).env("JACUZZI_TOKEN", home.operator_token());
    let imported = import.output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let count = |path, key: &str| {
        let body: Value = serde_json::from_slice(&server.get(path).body).unwrap();
        body[key].as_array().unwrap().len()
    };
    assert_eq!((count("/v1/builders", "builders"), count("/v1/allocated/all", "machines")), (145, 435));

    let arrivals = made.lines("arrivals.jsonl");
    let saturday = arrivals.partition_point(|job| job["submitted_at"].as_i64().unwrap() < 1_402_099_200);
    let (friday, saturday) = (saturday as f64, (arrivals.len() - saturday) as f64);
    assert!((0.95..1.05).contains(&(friday / (0.89 * 75_000.0))), "{friday} jobs on a Friday");
    assert!((0.95..1.05).contains(&(saturday / (0.35 * 75_000.0))), "{saturday} jobs on a Saturday");
}

#[test]
fn a_server_starts_with_a_made_farm() {
    let made = made(&["--seed", "4", "--days", "1", "--jobs-per-day", "100"]);
    let home = Home::new(&made.read("farm.toml"));
    fs::copy(made.folder.join("allocations.json"), home.farm_file().with_file_name("allocations.json")).unwrap();
    let server = home.start();
    let blob: Value = serde_json::from_slice(&server.get("/v1/allocations").body).unwrap();
    let written: Value = serde_json::from_str(&made.read("allocations.json")).unwrap();
    assert_eq!(blob["builders"], written["builders"]);
}

#[test]
fn arrivals_are_jobs_and_the_history_is_their_runs() {
    let made = made(&[&["--seed", "4", "--jobs-per-day", "1000"], &FRIDAY[..]].concat());
    let (arrivals, history) = (made.lines("arrivals.jsonl"), made.lines("history.jsonl"));
    let job_keys = ["branch", "builder", "project", "push", "service", "submitted_at"];
    assert_eq!(BTreeSet::from_iter(keys(&arrivals[0])), BTreeSet::from(job_keys));
    assert!(history.len() >= arrivals.len());
    for run in &history {
        let job = &arrivals[run["job"].as_str().unwrap().parse::<usize>().unwrap() - 1];
        for key in ["branch", "builder", "project", "push", "submitted_at"] {
            assert_eq!(run[key], job[key], "{key}");
        }
        assert!(run["started_at"].as_f64() >= run["submitted_at"].as_f64());
        assert!(run["finished_at"].as_f64() > run["started_at"].as_f64());
    }
}

#[test]
fn one_seed_is_one_farm_byte_for_byte() {
    let small = |seed| made(&[&["--jobs-per-day", "1000", "--seed", seed], &FRIDAY[..]].concat());
    let (first, again, other) = (small("1"), small("1"), small("2"));
    for file in FILES {
        assert_eq!(first.read(file), again.read(file), "{file}");
        assert_ne!(first.read(file), other.read(file), "{file}");
    }
}

#[test]
fn a_csv_history_says_the_same() {
    let flags = ["--seed", "4", "--days", "1", "--jobs-per-day", "200"];
    let (json, csv) = (made(&flags), made(&[&flags[..], &["--csv"]].concat()));
    let table = csv.read("history.csv");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let columns = lines.next().unwrap();
    let expected =
        "job,claim,builder,worker,branch,project,push,attempt,submitted_at,started_at,finished_at,result,warm";
    assert_eq!(columns.join(","), expected);
    let rows: Vec<_> = lines.collect();
    let runs = json.lines("history.jsonl");
    assert_eq!(rows.len(), runs.len());
    for (row, run) in rows.iter().zip(&runs) {
        let texts = columns.iter().map(|column| run[column].to_string().trim_matches('"').to_owned());
        assert!(row.iter().eq(texts.collect::<Vec<_>>().iter()), "{row:?} {run}");
    }
}

#[test]
fn a_folder_that_is_in_use_is_left_alone() {
    let home = TempDir::with_prefix("jacuzzi-").unwrap();
    fs::write(home.path().join("mine"), "precious").unwrap();
    let output = simulate(home.path(), &["--seed", "4", "--days", "1", "--out", home.path().to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("is not an empty folder"), "{said}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn without_a_folder_there_is_a_summary_alone() {
    let home = TempDir::with_prefix("jacuzzi-").unwrap();
    let flags = ["--seed", "4", "--days", "1", "--jobs-per-day", "200"];
    let table = simulate(home.path(), &flags);
    let said = String::from_utf8_lossy(&table.stderr).into_owned();
    assert!(said.starts_with("POOL ") && said.contains("\nall "), "{said}");
    let json = simulate(home.path(), &[&flags[..], &["--output", "json"]].concat());
    let parts: Value = serde_json::from_slice(&json.stdout).unwrap();
    let all = parts.as_array().unwrap().last().unwrap();
    assert_eq!((&all["pool"], &all["builders"], &all["machines"]), (&Value::Null, &145.into(), &435.into()));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}
