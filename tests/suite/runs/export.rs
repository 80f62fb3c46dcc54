//! `GET /v1/runs/export`: all of the history, as other tools read it, without being in memory as a whole.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;

use jacuzzi::adapters::data_folder::{DataFolder, runs_path};
use jacuzzi::adapters::runs::SqliteRuns;
use jacuzzi::domain::BuilderName;
use jacuzzi::domain::dispatcher::Event;
use jacuzzi::ports::{PastRun, Runs};
use serde_json::Value;

use super::journal::{FARM, at, cancellation, jobs, journal, now, recorded, run, runs, submission};
use super::list::rows;
use crate::suite::server::{Home, Server};

const HEADING: &str =
    "job,claim,builder,worker,branch,project,push,attempt,submitted_at,started_at,finished_at,result,warm";

const HOSTILE: [&str; 6] = ["a,b", "say \"cheese\"", "\"", ",", " x ", "=cmd|' /C calc'!A0"];

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of a CSV file as another program reads them, as objects of texts.
fn read_by_python(csv: &[u8]) -> Vec<Value> {
    let script = "import csv, io, json, sys\n\
                  text = io.TextIOWrapper(sys.stdin.buffer, newline='')\n\
                  [print(json.dumps(row)) for row in csv.DictReader(text, strict=True)]";
    let mut python = Command::new("python3")
        .args(["-c", script])
        .env("PYTHONUTF8", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, csv) = (python.stdin.take().unwrap(), csv.to_vec());
    let feed = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, &csv).unwrap());
    let output = python.wait_with_output().unwrap();
    feed.join().unwrap();
    assert!(output.status.success());
    lines(std::str::from_utf8(&output.stdout).unwrap())
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn another_program_reads_the_same_of_csv_as_of_json_lines_whatever_the_names() {
    let (home, now) = (Home::new(FARM), now());
    let mut events = vec![submission(&[(100, "cancelled, \"too\"")], now - 100)];
    for (number, builder) in (1..).zip(HOSTILE) {
        let mut run = run(number, now - 60 + number as i64);
        run.builder = BuilderName::parse(builder).unwrap();
        (run.branch, run.push) = (Some("é\r\nb,\n\"".into()), Some("\r".into()));
        events.push(Event::RunEnded(run));
    }
    events.push(cancellation(100, now - 10));
    journal(&home, events);
    let server = home.start();
    recorded(&server);

    let csv = server.get("/v1/runs/export");
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(csv.text().starts_with(&format!("{HEADING}\r\n")));
    let json = server.get("/v1/runs/export?format=jsonl");
    assert_eq!(json.header("content-type"), Some("application/x-ndjson"));
    let runs = lines(json.text());
    let builders: Vec<_> = runs.iter().map(|run| run["builder"].as_str().unwrap()).collect();
    assert_eq!(builders[..6], HOSTILE);
    assert_eq!(builders[6], "cancelled, \"too\"");
    let rows = read_by_python(&csv.body);
    assert_eq!(rows.len(), runs.len());
    for (row, run) in rows.iter().zip(&runs) {
        let (row, run) = (row.as_object().unwrap(), run.as_object().unwrap());
        assert_eq!(run.keys().map(String::as_str).collect::<BTreeSet<_>>(), HEADING.split(',').collect());
        assert!(row.keys().eq(run.keys()));
        for (column, value) in run {
            assert_eq!(row[column], text(value), "{column}");
        }
    }
}

#[test]
fn a_window_is_exported_and_an_empty_one_is_a_heading() {
    let (home, now) = (Home::new(FARM), now());
    journal(&home, runs(10, now));
    let server = home.start();
    recorded(&server);
    let exported = |query: &str| jobs(&lines(server.get(&format!("/v1/runs/export?format=jsonl{query}")).text()));
    assert_eq!(exported(""), (1..=10).collect::<Vec<_>>());
    assert_eq!(exported(&format!("&since={}&until={}", now - 6, now - 2)), [4, 5, 6, 7]);
    assert_eq!(exported(&format!("&since={}", now - 1)), [9, 10]);
    assert_eq!(exported(&format!("&until={}", now - 100)), [0; 0]);
    assert_eq!(server.get("/v1/runs/export?until=5").text(), format!("{HEADING}\r\n"));
    let head = server.request("HEAD", "/v1/runs/export/", &[], b"");
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/csv; charset=utf-8")));
}

fn resident_kib(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn a_hundred_thousand_runs_are_exported_without_being_in_memory() {
    const RUNS: u64 = 100_000;
    let (home, now) = (Home::new(FARM), now());
    // Long rows: what the server needs for itself is little beside them.
    let branch: Option<Arc<str>> = Some("b".repeat(256).into());
    let ended_at = |seq| at(now - RUNS as i64 + seq as i64);
    let recent = |row: PastRun| PastRun { ended_at: ended_at(row.seq), branch: branch.clone(), ..row };
    let rows: Vec<_> = rows(1..=RUNS).into_iter().map(recent).collect();
    let folder = DataFolder::open(home.data_dir()).unwrap();
    let epoch = folder.journal().unwrap().epoch().unwrap();
    SqliteRuns::new(runs_path(home.data_dir()), epoch).append(&rows, 0, 0).unwrap();
    drop(folder);
    let server = home.start();
    // So that all threads and their buffers are there.
    for _ in 0..3 {
        server.get(&format!("/v1/runs/export?since={}", now - 5_000));
    }
    let before = resident_kib(&server);
    let csv = server.get("/v1/runs/export");
    let grown = resident_kib(&server).saturating_sub(before);
    let text = csv.text();
    assert!(text.lines().skip(1).map(|line| line.split(',').next().unwrap()).eq((1..=RUNS).map(|run| run.to_string())));
    println!("{grown} KiB for {} KiB", text.len() >> 10);
    assert!(text.len() > 28 << 20 && grown < 16 << 10, "{grown} KiB for {} KiB", text.len() >> 10);
}
