//! `jacuzzi batching` as people and schedulers call it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with files, in which commands run.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(TempDir::with_prefix("jacuzzi-").unwrap())
    }

    fn with_log(pushes: &[Value]) -> Self {
        let desk = Self::new();
        desk.write("log.jsonl", &lines(pushes));
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn batching(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jacuzzi"));
        command.arg("batching").args(arguments.split_whitespace()).current_dir(self.0.path()).output().unwrap()
    }

    #[track_caller]
    fn json(&self, arguments: &str) -> Value {
        let output = self.batching(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs in vain, and says why.
    #[track_caller]
    fn refused(&self, arguments: &str, code: i32, words: &[&str]) {
        let output = self.batching(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(output.stdout.is_empty());
        for word in words {
            assert!(said.contains(word), "{said} lacks {word}");
        }
    }

    fn state(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("state.json")).unwrap()).unwrap()
    }

    fn recorded(&self) -> Vec<u64> {
        self.state()["batches"].as_array().unwrap().iter().map(|batch| batch["pushlog_id"].as_u64().unwrap()).collect()
    }
}

fn lines(pushes: &[Value]) -> String {
    pushes.iter().map(|push| format!("{push}\n")).collect()
}

fn push(id: i64, date: i64, risk: f64) -> Value {
    let commits = [json!({"rev": format!("c{id}"), "risk": risk})];
    json!({"pushlog_id": id, "pushdate": date, "head_rev": format!("h{id}"), "message": "", "commits": commits})
}

fn pushes(risks: &[f64]) -> Vec<Value> {
    (1..).zip(risks).map(|(n, risk)| push(100 + n, 600 * n, *risk)).collect()
}

const FIRST: [f64; 7] = [0.05, 0.10, 0.02, 0.20, 0.01, 0.30, 0.04];
const RASB: &str = "--strategy rasb --threshold 0.3";

#[test]
fn a_replay_tells_every_decision() {
    let desk = Desk::with_log(&pushes(&FIRST));
    let replayed = desk.json(&format!("replay {RASB} --start 100@0 log.jsonl"));
    assert_eq!((&replayed["strategy"], &replayed["config"]), (&json!("rasb"), &json!({"threshold": 0.3})));
    let batches = [
        json!({"pushlog_id": 104, "pushdate": 2400, "head_rev": "h104"}),
        json!({"pushlog_id": 106, "pushdate": 3600, "head_rev": "h106"}),
    ];
    assert_eq!(replayed["batches"], json!(batches));
    let decisions = replayed["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 7);
    let decision = &decisions[3];
    assert_eq!(
        (&decision["pushlog_id"], &decision["batched"], &decision["cold_start"]),
        (&json!(104), &json!(true), &json!(false))
    );
    assert_eq!((&decision["replayed_from"], &decision["reason"]), (&json!(100), &json!("due: risk 0.32968 of 0.3")));
    assert!((decision["score"].as_f64().unwrap() - 0.32968).abs() < 1e-9);

    let mut waits = pushes(&FIRST);
    waits[3]["message"] = json!("Bug 1 - mend the typo DONTBUILD r=me");
    desk.write("waits.jsonl", &lines(&waits));
    let waited = desk.json(&format!("replay {RASB} --start 100@0 waits.jsonl"));
    assert_eq!((&waited["batches"][0]["pushlog_id"], &waited["decisions"][3]["batched"]), (&json!(105), &json!(false)));
    assert!(waited["decisions"][3]["reason"].as_str().unwrap().contains("DONTBUILD"));

    let cold = desk.json(&format!("replay {RASB} log.jsonl"));
    assert_eq!((&cold["decisions"][0]["cold_start"], &cold["decisions"][0]["score"]), (&json!(true), &Value::Null));
    assert_eq!(cold["decisions"][1]["replayed_from"], 101);
}

#[test]
fn a_run_records_what_it_finds_and_says_what_was_missed() {
    let desk = Desk::with_log(&pushes(&FIRST));
    desk.write("state.json", r#"{"batches":[{"pushlog_id":100,"pushdate":0,"head_rev":"h100"}],"batched":true}"#);
    let decide = |push: u64, record: &str| {
        desk.batching(&format!("decide --state state.json --pushlog log.jsonl --push {push} {RASB} {record}"))
    };
    let batch = decide(104, "");
    assert_eq!(batch.status.code(), Some(0));
    assert_eq!(desk.recorded(), [100], "without --record nothing is");
    let skip = decide(105, "--record");
    assert_eq!(skip.status.code(), Some(10));
    let decided: Value = serde_json::from_slice(&skip.stdout).unwrap();
    assert_eq!((&decided["pushlog_id"], &decided["batched"]), (&json!(105), &json!(false)));
    assert_eq!(decided["missed"], json!([{"pushlog_id": 104, "pushdate": 2400, "head_rev": "h104"}]));
    let state = desk.state();
    assert_eq!(desk.recorded(), [100, 104]);
    assert_eq!(
        (&state["batched"], &state["replayed_from"], &state["config"]),
        (&json!(false), &json!(100), &json!({"threshold": 0.3}))
    );
    assert_eq!(state["risk_prediction"], json!({"c105": 0.01}));
    let keys: Vec<_> = state.as_object().unwrap().keys().map(String::as_str).collect();
    for key in ["batched", "batches", "cold_start", "config", "replayed_from", "risk_prediction", "score"] {
        assert!(keys.contains(&key), "{keys:?} lack {key}");
    }

    assert_eq!(decide(106, "--record").status.code(), Some(0));
    let before = fs::read(desk.path("state.json")).unwrap();
    assert_eq!(decide(103, "--record").status.code(), Some(10));
    assert_eq!(fs::read(desk.path("state.json")).unwrap(), before, "a late run leaves the state as it is");
    let pruning = format!("decide --state state.json --pushlog log.jsonl --push 107 {RASB} --max-recorded 1 --record");
    assert_eq!(desk.batching(&pruning).status.code(), Some(10));
    assert_eq!(desk.recorded(), [106]);
    let stale: Value = serde_json::from_slice(&decide(105, "--record").stdout).unwrap();
    assert!(stale["reason"].as_str().unwrap().starts_with("stale"), "{stale}");
    assert_eq!(desk.recorded(), [106]);
}

#[test]
fn a_run_waits_for_scores_that_it_needs() {
    let mut log = pushes(&[0.1; 4]);
    log[2]["commits"] = json!([{"rev": "new"}, {"rev": "merge", "risk": null}]);
    let desk = Desk::with_log(&log);
    desk.write("state.json", r#"{"batches":[{"pushlog_id":100,"pushdate":0,"head_rev":""}]}"#);
    let decide = "decide --state state.json --pushlog log.jsonl --record --push";
    for push in [103, 104] {
        desk.refused(&format!("{decide} {push} {RASB}"), 75, &["push 103", "missing"]);
    }
    assert_eq!(desk.recorded(), [100]);
    assert_eq!(desk.batching(&format!("{decide} 104 --strategy pushes --pushes 4")).status.code(), Some(0));
    log[2]["commits"][0]["risk"] = json!(0.1);
    desk.write("log.jsonl", &lines(&log));
    desk.write("state.json", r#"{"batches":[{"pushlog_id":100,"pushdate":0,"head_rev":""}]}"#);
    assert_eq!(desk.batching(&format!("{decide} 104 {RASB}")).status.code(), Some(0));
    assert_eq!(desk.recorded(), [100, 104]);
}

#[test]
fn two_runs_at_once_make_one_state() {
    let log: Vec<_> = (101..160).map(|id| push(id, 60 * id, 0.1)).collect();
    let desk = Desk::with_log(&log);
    desk.write("state.json", r#"{"batches":[{"pushlog_id":100,"pushdate":0,"head_rev":""}]}"#);
    std::thread::scope(|scope| {
        for push in 119..127 {
            let desk = &desk;
            scope.spawn(move || {
                let decide = "decide --state state.json --pushlog log.jsonl --record --strategy pushes --pushes 20";
                let decided = desk.batching(&format!("{decide} --push {push}"));
                assert_eq!(decided.status.code(), Some(if push == 120 { 0 } else { 10 }));
            });
        }
    });
    assert_eq!(desk.recorded(), [100, 120]);
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut log = pushes(&[0.1; 4]);
        change(&mut log);
        Desk::with_log(&log)
    };
    let replay = format!("replay {RASB} --start 100@0 log.jsonl");
    for risk in [1.5, -0.1] {
        let desk = with(&|log| log[1]["commits"][0]["risk"] = json!(risk));
        desk.refused(&replay, 1, &["push 102: a risk is a number from 0 to 1", &risk.to_string()]);
        desk.json("replay --strategy pushes --pushes 2 log.jsonl");
    }
    let desk = Desk::with_log(&pushes(&[0.1; 4]));
    desk.write("nan.jsonl", &lines(&pushes(&[0.1])).replace("0.1", "NaN"));
    desk.refused("replay --strategy pushes --pushes 2 nan.jsonl", 1, &["line 1"]);
    with(&|log| log[1]["pushlog_id"] = json!(-5)).refused(&replay, 1, &["line 2", "-5"]);
    with(&|log| log[1]["pushlog_id"] = json!(101)).refused(&replay, 1, &["line 2: push 101 is there twice"]);
    with(&|log| log.swap(1, 2)).refused(&replay, 1, &["line 3: push 102 comes after push 103"]);
    with(&|log| log[1]["pushdate"] = json!(1.5)).refused(&replay, 1, &["line 2", "whole seconds"]);
    with(&|log| log[1] = json!([])).refused(&replay, 1, &["line 2"]);

    desk.refused("replay --strategy rsab --threshold 0.3 log.jsonl", 2, &["'rsab'", "similar value exists: 'rasb'"]);
    desk.refused("replay --strategy rapb --threshold 1 --aging -1 log.jsonl", 1, &["threshold", "aging"]);
    desk.refused("replay --strategy rasb log.jsonl", 1, &["threshold: rasb needs one"]);
    desk.refused("replay --strategy time --hours 4 --price 1 log.jsonl", 1, &["price: time takes none"]);
    desk.refused(
        "replay --strategy rdb_steady --price 1 --forecast log.jsonl log.jsonl",
        1,
        &["log.jsonl is no forecast"],
    );
    desk.refused("replay log.jsonl", 1, &["--strategy"]);
    desk.refused("replay --config c.toml --threshold 0.3 log.jsonl", 1, &["--strategy"]);
    desk.refused(
        &format!("decide --state s.json --pushlog log.jsonl --push 99 {RASB}"),
        1,
        &["push 99 is not in log.jsonl"],
    );
    desk.write("s.json", "[]");
    desk.refused(&format!("decide --state s.json --pushlog log.jsonl --push 101 {RASB}"), 1, &["s.json is no state"]);
    desk.write("c.toml", "[[strategies]]\nstrategy = 'rsab'\n[[strategies]]\nstrategy = 'rasb'\nthreshold = 1\n");
    desk.refused("replay --config c.toml log.jsonl", 1, &["did you mean rasb?", "c.toml:5:13"]);
}

#[test]
fn strategies_are_compared_beside_the_backstop() {
    let mut log: Vec<_> = (101..301).map(|id| push(id, 1_200 * id, if id % 7 == 0 { 0.2 } else { 0.01 })).collect();
    for (at, regressed) in [(10, true), (20, false), (150, true)] {
        log[at]["commits"][0]["regressed"] = json!(regressed);
    }
    let desk = Desk::with_log(&log);
    fs::write(desk.path("forecast.json"), desk.batching("forecast log.jsonl").stdout).unwrap();
    desk.write(
        "c.toml",
        "[[strategies]]\nstrategy = 'rasb'\nthreshold = 0.3\n[[strategies]]\nname = 'ours'\nstrategy = 'rdb_steady'\nprice = 0.4\nforecast = 'forecast.json'\n",
    );
    let rows = desk.json("replay --config c.toml --start 100@120000 --output json log.jsonl");
    let names: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["backstop", "rasb", "ours"]);
    for row in rows.as_array().unwrap() {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("batches") > 5.0 && number("delay_hours") > 0.0 && number("longest_gap_hours") > 0.0);
        assert!(
            number("regret") >= -1e-6
                && (number("batches") - number("regret") - number("optimum_batches")).abs() < 1e-6
        );
        assert_eq!((&row["labels"]["regressions"], &row["labels"]["oracle_batches"]), (&json!(2), &json!(2)));
    }
    assert_eq!((&rows[0]["against_backstop_percent"], &rows[0]["labels"]["late"]), (&json!(0.0), &json!(0)));
    let table = String::from_utf8(desk.batching("replay --config c.toml log.jsonl").stdout).unwrap();
    assert!(table.starts_with("STRATEGY") && table.lines().count() == 4, "{table}");
}

#[test]
fn a_log_is_tuned_on_and_drawn() {
    let mut log: Vec<_> = (101..401).map(|id| push(id, 1_200 * id, if id % 7 == 0 { 0.2 } else { 0.01 })).collect();
    log[150]["commits"][0]["regressed"] = json!(true);
    let desk = Desk::with_log(&log);
    let rows = desk.json("tune --points 40 --svg front.svg --output json log.jsonl");
    let of = |cadence: &str| rows.as_array().unwrap().iter().find(|row| row["cadence"] == cadence).unwrap().clone();
    let backstop = desk.json("replay --strategy backstop log.jsonl")["batches"].as_array().unwrap().len() - 1;
    for cadence in ["pushes", "time", "rasb", "rapb a=0.003", "rdb", "rdb_steady"] {
        let row = of(cadence);
        assert_eq!(row["front"].as_array().unwrap().len(), 40);
        assert!(row["at_backstop_cost"]["batches"].as_f64().unwrap() <= backstop as f64, "{cadence}");
        assert!(row["at_backstop_delay"]["batches"].as_f64().unwrap() > 0.0, "{cadence}");
        assert!(row["catching_all"]["batches"].as_f64().unwrap() > 0.0, "{cadence}");
    }
    let svg = fs::read_to_string(desk.path("front.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.matches("<polyline").count() > 8);
    desk.write("short.jsonl", &lines(&pushes(&FIRST)));
    desk.refused("tune short.jsonl", 1, &["too short"]);
}

#[test]
fn risks_are_calibrated_on_what_became_of_commits() {
    let desk = Desk::with_log(&pushes(&[0.5, 0.1]));
    let row = |regressed: u8, risk: f64, times: usize| format!("c,{regressed},{risk}\n").repeat(times);
    let table = [row(1, 0.5, 2), row(0, 0.5, 18), row(1, 0.1, 1), row(0, 0.1, 99)].concat();
    desk.write("table.csv", &format!("commit,regressed,risk\n{table}"));
    let fit = desk.json("calibrate table.csv");
    assert_eq!((&fit["commits"], &fit["regressed"]), (&json!(120), &json!(3)));
    assert!((fit["sum_after"].as_f64().unwrap() - 3.0).abs() < 1e-9);
    let mended = desk.batching("calibrate table.csv --apply log.jsonl").stdout;
    let mended: Vec<Value> = mended
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let risks: Vec<_> = mended.iter().map(|push| push["commits"][0]["risk"].as_f64().unwrap()).collect();
    assert!((risks[0] - 0.1).abs() < 1e-9 && (risks[1] - 0.01).abs() < 1e-9, "{risks:?}");
    desk.refused("calibrate log.jsonl", 1, &["log.jsonl is no table of risks", "commit,regressed,risk"]);
    desk.write("one.csv", "commit,regressed,risk\na,0,0.5\n");
    desk.refused("calibrate one.csv", 1, &["commits that regressed and commits that did not"]);
}

/// The figures of the contract, within 2 %: they count the start.
#[test]
fn the_reference_trace_has_its_figures() {
    let data = |name: &str| crate::suite::in_checkout("tests/data").join(name).display().to_string();
    let files = ["mozilla-perf-risk-eval.csv", "mozilla-perf-risk-test.csv"].map(data);
    let desk = Desk::new();
    let rows = desk.json(&format!("reference --output json --write log.jsonl {} {}", files[0], files[1]));
    let row =
        |name: &str| rows["strategies"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    let batches = |name: &str| row(name)["batches"].as_f64().unwrap();
    for (name, figure) in
        [("backstop", 210.0), ("rasb", 207.0), ("rasb, raw risks", 247.0), ("rapb", 194.2), ("rdb, forecast", 191.5)]
    {
        assert!((batches(name) / figure - 1.0).abs() < 0.02, "{name}: {} is not {figure}", batches(name));
    }
    assert!((row("backstop")["delay_hours"].as_f64().unwrap() - 1.850).abs() < 0.001);
    assert!(batches("rdb, forecast") <= 192.0 && batches("rdb_steady") <= 185.0);
    assert!((rows["optimum_batches"].as_f64().unwrap() / 145.8 - 1.0).abs() < 0.02);
    assert_eq!(rows["oracle_batches"], 12);
    let first = desk.json("replay --strategy pushes --pushes 20 --start 0@349477 log.jsonl");
    assert_eq!(first["decisions"][1]["score"], 2.0);
    assert_eq!(first["batches"].as_array().unwrap().len(), 2_846 / 20);
    for name in ["rdb", "rdb, forecast", "rdb_steady"] {
        assert!(row(name)["dearest_week"].as_f64().unwrap() <= 2.0, "{name}");
    }
}

/// The log begins after the block's anchor, which the recorded batch is.
#[test]
fn a_recorded_batch_of_the_block_is_as_good_as_its_anchor_however_many_pushes_follow() {
    let push =
        |id: u64, at: i64| json!({"pushlog_id": id, "pushdate": at, "head_rev": "r", "message": "", "commits": []});
    let desk = Desk::with_log(&[push(103, 3600), push(106, 3700), push(111, 3800), push(113, 3900)]);
    let state = json!({"batches": [{"pushlog_id": 100, "pushdate": 3600, "head_rev": "r"}]});
    for max_replayed in [1, 3, 4, 1000] {
        desk.write("state.json", &state.to_string());
        let output = desk.batching(&format!(
            "decide --state state.json --pushlog log.jsonl --push 113 --strategy pushes --pushes 12 --anchor 20 --record \
             --max-replayed {max_replayed}"
        ));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(desk.recorded(), [100, 113], "{max_replayed}");
    }
}
