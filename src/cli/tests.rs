//! Whole commands against a server that gives prepared answers.

mod access;
mod changes;
mod watching;

use std::fs;
use std::io::{self, Write};
use std::net::TcpListener;
use std::path::Path;

use clap::{CommandFactory, Parser};
use tempfile::TempDir;

use super::fake_server::{Asked, FakeServer};
use super::{Cli, Exit};

const BLOB: &str = r#"{"epoch":"e","generation":5,"builders":{"a/b":["w1","w2"],"c d+":["w2"]},"machines":{}}"#;

/// What a command did: its data, its error, and what it asked the server.
struct Done {
    data: String,
    result: anyhow::Result<Exit>,
    asked: Vec<Asked>,
}

impl Done {
    fn exit(&self) -> Exit {
        self.result.as_ref().map_or_else(Exit::of, |exit| *exit)
    }

    fn error(&self) -> String {
        format!("{:#}", self.result.as_ref().unwrap_err())
    }
}

fn run(answers: &[(u16, &str)], arguments: &[&str]) -> Done {
    let server = FakeServer::answering(answers);
    let (data, result) = run_on(&server.url, arguments);
    Done { data, result, asked: server.asked() }
}

fn run_on(url: &str, arguments: &[&str]) -> (String, anyhow::Result<Exit>) {
    let cli = Cli::try_parse_from([&["jacuzzi", "--server", url], arguments].concat()).unwrap();
    let mut data = Vec::new();
    let result = cli.run(&mut data);
    (String::from_utf8(data).unwrap(), result)
}

/// A data folder with a token.
fn data_dir() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("operator.token"), "secret-1\n").unwrap();
    folder
}

/// With a token at hand.
fn run_as_operator(answers: &[(u16, &str)], arguments: &[&str]) -> Done {
    let data_dir = data_dir();
    run(answers, &[arguments, &["--data-dir", text(data_dir.path())]].concat())
}

fn lines(data: &str) -> Vec<&str> {
    data.lines().map(str::trim_end).collect()
}

/// Whether the command line refuses these arguments.
fn is_wrong(arguments: &[&str]) -> bool {
    Cli::try_parse_from([&["jacuzzi"], arguments].concat()).is_err()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_command_line_is_sound_and_help_lists_the_exit_codes() {
    Cli::command().debug_assert();
    let help = Cli::command().render_help().to_string();
    assert!(help.contains("3  no server could be reached"), "{help}");
    assert_eq!(Exit::Usage as i32, Cli::try_parse_from(["jacuzzi", "nonsense"]).unwrap_err().exit_code());
}

#[test]
fn get_asks_for_the_name_as_it_is() {
    let done = run(&[(200, r#"{"machines":["w1","w2"]}"#)], &["get", "API 11+/é%"]);
    assert_eq!(done.asked[0].line, "GET /v1/builders/API%2011%2B%2F%C3%A9%25 HTTP/1.1");
    assert!(!done.asked[0].headers.contains("authorization"), "reads need no token");
    assert_eq!(done.data, "w1\nw2\n");
    let done = run(&[(200, r#"{"builders":["b"]}"#)], &["get", "machine", "w1"]);
    assert_eq!((done.asked[0].line.as_str(), done.data.as_str()), ("GET /v1/machines/w1 HTTP/1.1", "b\n"));
    let done = run(&[(200, "{\"machines\":[\"w1\"]}\n")], &["get", "builder", "machine", "--output", "json"]);
    assert_eq!(done.asked[0].line, "GET /v1/builders/machine HTTP/1.1");
    assert_eq!(done.data, "{\"machines\":[\"w1\"]}\n");
}

#[test]
fn no_allocation_is_an_exit_code_and_a_meaning() {
    let body = r#"{"type":"about:blank","status":404,"code":"not_allocated","detail":"no allocation"}"#;
    let done = run(&[(404, body)], &["get", "b"]);
    assert_eq!(done.exit(), Exit::NotFound);
    let expected = "builder \"b\" has no allocation: it may use the workers of its pool that no builder has: \
                    the server refuses (404, not_allocated): no allocation";
    assert_eq!(done.error(), expected);
    assert_eq!(done.data, "");
    let done = run(&[(404, "<html>")], &["get", "machine", "w"]);
    assert_eq!(done.exit(), Exit::NotFound);
}

#[test]
fn a_name_that_cannot_be_is_wrong_usage() {
    for arguments in [&["jacuzzi", "get", ""][..], &["jacuzzi", "get", "machine", "a\tb"], &["jacuzzi", "get"]] {
        assert_eq!(Cli::try_parse_from(arguments).unwrap_err().exit_code(), 2);
    }
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_, result) = run_on(&format!("http://{free}"), &["get", "b"]);
    let error = result.unwrap_err();
    assert_eq!(Exit::of(&error), Exit::Unreachable);
    assert!(error.to_string().starts_with(&format!("cannot reach a server at http://{free} (is it running?")));
}

#[test]
fn a_server_that_hangs_up_may_have_done_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let hang_up = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let error = run_on(&url, &["get", "b"]).1.unwrap_err();
    hang_up.join().unwrap();
    assert_eq!(Exit::of(&error), Exit::Unreachable);
    assert!(error.to_string().contains("gave no whole answer"), "{error}");
}

#[test]
fn other_answers_say_what_they_can() {
    let done = run(&[(503, r#"{"detail":"the journal is \u001b[31mfull","code":"read_only"}"#)], &["allocations"]);
    assert_eq!(done.error(), r"the server cannot answer (503, read_only): the journal is \u{1b}[31mfull");
    assert_eq!(done.exit(), Exit::Failed);
    let done = run(&[(403, "nope\n")], &["allocations"]);
    assert_eq!(done.error(), "the server refuses (403): nope");
    let done = run(&[(200, "[]")], &["allocations"]);
    assert!(done.error().starts_with("the server's answer is not in the form"), "{}", done.error());
}

#[test]
fn allocations_are_a_table_or_json() {
    let done = run(&[(200, BLOB)], &["allocations"]);
    let lines: Vec<_> = done.data.lines().collect();
    assert_eq!(lines, ["BUILDER  MACHINES  NAMES", "a/b      2         w1, w2", "c d+     1         w2"]);
    assert_eq!(run(&[(200, BLOB)], &["--output", "json", "allocations"]).data, format!("{BLOB}\n"));
}

#[test]
fn allocations_since_a_generation_wait_for_a_change() {
    let delta = r#"{"generation":5,"since":4,"set":{"b":["w1"]},"unset":["c"]}"#;
    let done = run(&[(200, delta)], &["allocations", "--since", "4", "--wait", "30"]);
    assert_eq!(done.asked[0].line, "GET /v1/allocations?since=4&wait=30 HTTP/1.1");
    assert!(done.data.contains("c        0         no allocation any more"), "{}", done.data);
    let done = run(&[(204, "")], &["allocations", "--since", "4", "--wait", "1"]);
    assert_eq!((done.exit(), done.data.as_str()), (Exit::Ok, ""));
    for wait in [&["--wait", "1"][..], &["--since", "4", "--wait", "61"]] {
        assert!(Cli::try_parse_from([&["jacuzzi", "allocations"], wait].concat()).is_err());
    }
}

#[test]
fn a_diff_says_what_came_and_what_went() {
    let forward = r#"{"generation":9,"since":3,"set":{"kept":["w1","w3"],"new":["w4"]},"unset":["gone"]}"#;
    let back = r#"{"generation":3,"since":9,"set":{"gone":["w5"],"kept":["w1","w2"]},"unset":["new"]}"#;
    let expected = ["   BUILDER  ADDED  REMOVED", "-  gone            w5", "~  kept     w3     w2", "+  new      w4"];
    let done = run(&[(200, forward), (200, back)], &["diff", "3"]);
    assert_eq!(done.asked[0].line, "GET /v1/allocations?since=3 HTTP/1.1");
    assert_eq!(done.asked[1].line, "GET /v1/allocations?since=9&until=3 HTTP/1.1");
    assert_eq!(done.data.lines().map(str::trim_end).collect::<Vec<_>>(), expected);
    let done = run(&[(200, forward), (200, back)], &["diff", "3", "9"]);
    assert_eq!(done.asked[0].line, "GET /v1/allocations?since=3&until=9 HTTP/1.1");
    let done = run(&[(200, forward)], &["diff", "3", "9", "--output", "json"]);
    assert_eq!(done.data, format!("{forward}\n"));
}

#[test]
fn generations_are_listed_with_their_times() {
    let page = r#"{"generations":[
        {"generation":2,"time":1401877937,"author":"op\u001b","reason":"why","added":3,"removed":1},
        {"generation":1,"time":1.5,"author":"import","reason":null,"added":1,"removed":0}],"next_before":1}"#;
    let done = run(&[(200, page)], &["generations", "--limit", "2", "--before", "3"]);
    assert_eq!(done.asked[0].line, "GET /v1/allocations/history?limit=2&before=3 HTTP/1.1");
    let lines: Vec<_> = done.data.lines().map(str::trim_end).collect();
    assert_eq!(lines[1], r"2           2014-06-04T10:32:17Z    +3     -1       op\u{1b}  why");
    assert_eq!(lines[2], "1           1970-01-01T00:00:01.5Z  +1     -0       import");
}

#[test]
fn an_import_sends_the_file_with_the_token() {
    let data_dir = data_dir();
    let file = data_dir.path().join("history.jsonl");
    let history = "{\"set\":{\"b\":[\"w\"]}}\n\n{\"unset\":[\"b\"]}\n";
    fs::write(&file, history).unwrap();
    let answer = r#"{"first":1,"last":2,"imported":2,"broken":[
        {"line":1,"time":1,"builder":"b","rule":"wrong_pool","machine":"w","value":{"pool":"p","expected":"q"}}]}"#;
    let arguments =
        ["import", text(&file), "--data-dir", text(data_dir.path()), "--reason", "a & b", "--output", "json"];
    let done = run(&[(200, answer)], &arguments);
    let asked = &done.asked[0];
    assert_eq!(asked.line, "POST /v1/allocations/import?strict=false&reason=a%20%26%20b HTTP/1.1");
    assert!(asked.headers.contains("authorization: Bearer secret-1\n"), "{}", asked.headers);
    assert!(asked.headers.contains("content-type: application/x-ndjson\n"), "{}", asked.headers);
    assert_eq!(asked.body, history);
    assert_eq!(done.data, format!("{answer}\n"));
}

#[test]
fn an_import_of_a_tree_sends_a_blob() {
    let data_dir = data_dir();
    let builders = data_dir.path().join("tree/v1/builders");
    fs::create_dir_all(&builders).unwrap();
    fs::write(builders.join("b"), r#"{"machines": ["w", "w"]}"#).unwrap();
    fs::write(builders.join("none"), r#"{"machines": []}"#).unwrap();
    let tree = data_dir.path().join("tree");
    let arguments = ["import", text(&tree), "--data-dir", text(data_dir.path())];
    let answer = r#"{"first":null,"last":0,"imported":0,"broken":[]}"#;
    let done = run(&[(200, answer)], &arguments);
    assert!(done.asked[0].headers.contains("content-type: application/json\n"));
    assert_eq!(done.asked[0].body, r#"{"builders":{"b":["w","w"],"none":[]}}"#);
    assert_eq!((done.exit(), done.data.as_str()), (Exit::Ok, ""));
    let strict = run(&[], &[&arguments[..], &["--strict"]].concat());
    assert!(strict.error().ends_with("the tree's views disagree, and the import is strict"), "{}", strict.error());
}

#[test]
fn an_import_of_what_is_no_history_never_reaches_the_server() {
    let data_dir = data_dir();
    let file = data_dir.path().join("x.jsonl");
    fs::write(&file, "{\"set\":{}}\n{\"set\":{\"b\":[7]}}\n").unwrap();
    let done = run(&[], &["import", text(&file), "--data-dir", text(data_dir.path())]);
    assert_eq!(done.exit(), Exit::Failed);
    let expected = format!("cannot import {}: line 2, column 14: invalid type: integer `7`", file.display());
    assert!(done.error().starts_with(&expected), "{}", done.error());
}

#[test]
fn an_export_is_a_tree_a_file_or_stdout() {
    let folder = TempDir::new().unwrap();
    let (tree, file) = (folder.path().join("tree"), folder.path().join("blob.json"));
    assert_eq!(run(&[(200, BLOB)], &["export", "-"]).data, format!("{BLOB}\n"));
    run(&[(200, BLOB)], &["export", text(&file)]).result.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), BLOB);
    run(&[(200, BLOB)], &["export", text(&tree)]).result.unwrap();
    assert_eq!(fs::read_to_string(tree.join("v1/allocations")).unwrap(), BLOB);
    assert!(tree.join("v1/builders/a/b").is_file());
    assert!(tree.join("v1/machines/w2").is_file());
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["blob.json", "tree", "tree.generations"]);
}

#[test]
fn completions_are_printed() {
    let (data, result) = run_on("http://127.0.0.1:1", &["completions", "bash"]);
    result.unwrap();
    assert!(data.contains("_jacuzzi"));
}

/// A reader that has seen enough.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let cli = Cli::try_parse_from(["jacuzzi", "completions", "bash"]).unwrap();
    assert_eq!(Exit::of(&cli.run(&mut Closed).unwrap_err()), Exit::Ok);
}
