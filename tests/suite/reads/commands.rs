//! The commands that read, import and export, against a real server.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use super::boxes::{Boxes, FARM};
use crate::suite::server::Home;

/// What came of a command.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Done {
    fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn words(&self) -> Vec<Vec<&str>> {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout.lines().map(|line| line.split_whitespace().collect()).collect()
    }
}

/// The command as a person on the server's machine gives it.
fn run(boxes: &Boxes, arguments: &[&str]) -> Done {
    let mut command = boxes.home.jacuzzi(arguments);
    command.env("JACUZZI_SERVER", boxes.server.url()).env_remove("JACUZZI_TOKEN");
    command.arg("--data-dir").arg(boxes.home.data_dir()).output().unwrap().into()
}

fn three_generations() -> Boxes {
    let boxes = Boxes::start();
    boxes.write(
        "PUT",
        "/v1/allocations",
        &json!({"builders": {"a/b c+d": ["box1", "box2"], "b2": ["box2"]}, "reason": "first"}),
    );
    boxes.write("PUT", "/v1/builders/b2", &json!({"machines": ["box3"]}));
    boxes.write("PATCH", "/v1/allocations", &json!({"set": {"é": ["box4"]}, "unset": ["b2"]}));
    boxes
}

#[test]
fn get_shows_one_builder_or_machine() {
    let boxes = three_generations();
    assert_eq!(run(&boxes, &["get", "a/b c+d"]).words(), [["box1"], ["box2"]]);
    assert_eq!(run(&boxes, &["get", "builder", "é"]).words(), [["box4"]]);
    assert_eq!(run(&boxes, &["get", "machine", "box1"]).stdout, "a/b c+d\n");
    assert_eq!(run(&boxes, &["get", "é", "--output", "json"]).json(), json!({"machines": ["box4"]}));
    assert_eq!(run(&boxes, &["--output", "json", "get", "machine", "box4"]).json(), json!({"builders": ["é"]}));
    for arguments in [["get", "builder", "b2"], ["get", "machine", "box3"]] {
        let done = run(&boxes, &arguments);
        assert_eq!((done.code, done.stdout.as_str()), (Some(4), ""), "{done:?}");
        assert!(done.stderr.contains(arguments[2]), "{done:?}");
    }
    assert_eq!(run(&boxes, &["get", ""]).code, Some(2));
}

#[test]
fn allocations_shows_all_or_what_changed() {
    let boxes = three_generations();
    let all = run(&boxes, &["allocations"]);
    assert_eq!(all.words()[1..], [vec!["a/b", "c+d", "2", "box1,", "box2"], vec!["é", "1", "box4"]]);
    assert!(all.stderr.contains("generation 3"), "{all:?}");
    assert_eq!(run(&boxes, &["allocations", "--output", "json"]).json(), boxes.read("/v1/allocations"));
    let since = run(&boxes, &["allocations", "--since", "2"]);
    assert_eq!(since.words()[1..], [vec!["é", "1", "box4"], vec!["b2", "0", "no", "allocation", "any", "more"]]);
    let json = run(&boxes, &["allocations", "--since", "1", "--output", "json"]).json();
    assert_eq!(json, boxes.read("/v1/allocations?since=1"));
    let nothing = run(&boxes, &["allocations", "--since", "3", "--wait", "1"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), ""), "{nothing:?}");
    let ahead = run(&boxes, &["allocations", "--since", "4"]);
    assert_eq!((ahead.code, ahead.stdout.as_str()), (Some(1), ""), "{ahead:?}");
    assert!(ahead.stderr.contains("generation 4 is not kept"), "{ahead:?}");
}

#[test]
fn diff_shows_what_changed_by_builder() {
    let boxes = three_generations();
    let words = |arguments: &[&str]| -> Vec<String> {
        let done = run(&boxes, arguments);
        done.words().iter().skip(1).map(|words| words.join(" ")).collect()
    };
    assert_eq!(words(&["diff", "1"]), ["- b2 box2", "+ é box4"]);
    assert_eq!(words(&["diff", "1", "2"]), ["~ b2 box3 box2"]);
    assert_eq!(words(&["diff", "3", "2"]), ["+ b2 box3", "- é box4"]);
    assert_eq!(words(&["diff", "2", "2"]), [""; 0]);
    let json = run(&boxes, &["diff", "1", "2", "--output", "json"]).json();
    assert_eq!(json, boxes.read("/v1/allocations?since=1&until=2"));
    assert_eq!(run(&boxes, &["diff", "1", "9"]).code, Some(1));
}

#[test]
fn generations_lists_them_newest_first() {
    let boxes = three_generations();
    let listed = run(&boxes, &["generations"]);
    let first_words: Vec<_> = listed.words().iter().map(|words| words[0].to_owned()).collect();
    assert_eq!(first_words, ["GENERATION", "3", "2", "1"]);
    assert!(listed.stdout.lines().nth(3).unwrap().ends_with("first"), "{listed:?}");
    let page = run(&boxes, &["generations", "--limit", "1", "--before", "3", "--output", "json"]).json();
    assert_eq!(page, boxes.read("/v1/allocations/history?limit=1&before=3"));
}

#[test]
fn no_server_is_an_exit_code_of_its_own() {
    let boxes = three_generations();
    let url = boxes.server.url();
    let Boxes { home, server, .. } = boxes;
    server.kill9();
    for arguments in [["get", "x"].as_slice(), &["allocations"], &["diff", "1"], &["generations"], &["export", "-"]] {
        let done: Done = home.jacuzzi(arguments).args(["--server", &url]).output().unwrap().into();
        assert_eq!((done.code, done.stdout.as_str()), (Some(3), ""), "{arguments:?}: {done:?}");
        assert!(done.stderr.contains(&url), "{done:?}");
    }
    let done: Done = home.jacuzzi(&["import", "farm.toml"]).args(["--server", &url]).output().unwrap().into();
    assert_eq!(done.code, Some(1), "what cannot be parsed is never sent: {done:?}");
}

/// Boxes with a builder of each of these names.
fn with_builders(names: &[&str]) -> Boxes {
    let boxes = Boxes::start();
    let machines = |at: usize| json!([format!("box{}", at % 10), format!("box{}", (at + 3) % 10)]);
    let builders: serde_json::Map<String, Value> =
        names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), machines(at))).collect();
    boxes.write("PUT", "/v1/allocations", &json!({"builders": builders}));
    boxes
}

/// The blob without what tells one server's from another's.
fn lists(boxes: &Boxes) -> [Value; 2] {
    let mut blob = boxes.read("/v1/allocations");
    [blob["builders"].take(), blob["machines"].take()]
}

#[test]
fn an_export_is_imported_as_it_was() {
    let long = "x".repeat(128);
    let real = "Android armv7 API 11+ b2g-inbound debug build";
    let boxes = with_builders(&[real, "a/b c+d", "50%", "é", "e\u{301}", "?#", "%2F", "a%2Fb", "A", "-", " ", &long]);
    let tree = boxes.home.farm_file().with_file_name("tree");
    let blob = tree.with_extension("json");
    for to in [&tree, &blob] {
        let to = to.to_str().unwrap();
        let done = run(&boxes, &["export", to]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{done:?}");

        let other = Boxes::start();
        let done = run(&other, &["import", to, "--reason", "moved", "--strict", "--output", "json"]);
        assert_eq!((&done.json()["last"], &done.json()["broken"]), (&json!(1), &json!([])), "{done:?}");
        assert_eq!(lists(&other), lists(&boxes));
        let entry = &other.read("/v1/allocations/history")["generations"][0];
        assert_eq!((&entry["author"], &entry["reason"]), (&json!("operator"), &json!("moved")));
    }
    assert_eq!(run(&boxes, &["export", "-"]).json(), boxes.read("/v1/allocations"));

    // The next export is swapped in over the first.
    boxes.write("PATCH", "/v1/allocations", &json!({"unset": ["é"]}));
    assert_eq!(run(&boxes, &["export", tree.to_str().unwrap()]).code, Some(0));
    let other = Boxes::start();
    assert_eq!(run(&other, &["import", tree.to_str().unwrap()]).code, Some(0));
    assert_eq!(lists(&other), lists(&boxes));
}

#[test]
fn a_tree_has_no_file_for_some_names_and_a_blob_has_all() {
    let long = "é".repeat(128);
    let boxes = with_builders(&["a", "a/b", ".", "..", &long]);
    let tree = boxes.home.farm_file().with_file_name("tree");
    let refused = run(&boxes, &["export", tree.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for name in ["\"a/b\"", "\".\"", "\"..\"", &long] {
        assert!(refused.stderr.contains(name), "{name}: {refused:?}");
    }
    assert!(!tree.exists());
    let blob = tree.with_extension("json");
    assert_eq!(run(&boxes, &["export", blob.to_str().unwrap()]).code, Some(0));
    let other = Boxes::start();
    assert_eq!(run(&other, &["import", blob.to_str().unwrap()]).code, Some(0));
    assert_eq!(lists(&other), lists(&boxes));
}

#[test]
fn an_import_says_what_is_odd_about_it() {
    let boxes = Boxes::start();
    let file = boxes.home.farm_file().with_file_name("history.jsonl");
    let (good, bad) =
        (json!({"time": 1_400_000_000, "set": {"b1": ["box1"]}}), json!({"set": {"b1": [], "b2": ["box77"]}}));
    fs::write(&file, format!("{good}\n{bad}\n")).unwrap();
    let file = file.to_str().unwrap();

    let refused = run(&boxes, &["import", file, "--strict"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("line 2"), "{refused:?}");
    assert_eq!(boxes.read("/v1/allocations")["generation"], json!(0));

    let done = run(&boxes, &["import", file]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{done:?}");
    for said in ["generations 1 to 2", "1 empty_list", "1 unknown_machine", "box77"] {
        assert!(done.stderr.contains(said), "{said}: {done:?}");
    }
    assert_eq!(boxes.read("/v1/allocations")["builders"], json!({"b1": ["box1"], "b2": ["box77"]}));

    let home = Home::new(FARM);
    let nobody: Done = home
        .jacuzzi(&["import", file])
        .args(["--server", &boxes.server.url()])
        .env_remove("JACUZZI_TOKEN")
        .output()
        .unwrap()
        .into();
    assert_eq!(nobody.code, Some(1), "{nobody:?}");
    assert!(nobody.stderr.contains("token"), "{nobody:?}");
}
