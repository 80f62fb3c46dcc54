//! Changes of allocations: what is shown, what is sent, and how refusals read.

use std::fs;

use super::{BLOB, data_dir, is_wrong, lines, run, run_as_operator, text};
use crate::cli::Exit;

const MADE: &str = r#"{"generation":6,"since":5,"set":{"a/b":["w1","w3"]},"unset":[]}"#;

#[test]
fn set_gives_a_builder_its_machines() {
    let answers = [(200, r#"{"machines":["w1","w2"]}"#), (200, MADE)];
    let done = run_as_operator(&answers, &["set", "a/b", "w1", "w3", "--reason", "a & b"]);
    assert_eq!(done.asked[0].line, "GET /v1/builders/a%2Fb HTTP/1.1");
    assert_eq!(done.asked[1].line, "PUT /v1/builders/a%2Fb?dry_run=false&force=false HTTP/1.1");
    assert_eq!(done.asked[1].body, r#"{"machines":["w1","w3"],"reason":"a & b"}"#);
    assert!(done.asked[1].headers.contains("authorization: Bearer secret-1\n"), "{}", done.asked[1].headers);
    assert_eq!(lines(&done.data), ["   BUILDER  ADDED  REMOVED", "~  a/b      w3     w2"]);
    let done = run_as_operator(&answers, &["set", "a/b", "w1", "--force", "--dry-run", "--output", "json"]);
    assert_eq!(done.asked[1].line, "PUT /v1/builders/a%2Fb?dry_run=true&force=true HTTP/1.1");
    assert_eq!(done.data, format!("{MADE}\n"));
}

#[test]
fn set_none_takes_an_allocation_away() {
    let gone = r#"{"generation":6,"since":5,"set":{},"unset":["b"]}"#;
    let answers = [(200, r#"{"machines":["w1"]}"#), (200, gone)];
    let done = run_as_operator(&answers, &["set", "b", "--none", "--reason", "too small"]);
    let expected = "DELETE /v1/builders/b?dry_run=false&force=false&reason=too%20small HTTP/1.1";
    assert_eq!(done.asked[1].line, expected);
    assert_eq!(lines(&done.data)[1], "-  b               w1");
    let missing = (404, r#"{"code":"not_allocated","detail":"no allocation"}"#);
    assert_eq!(run_as_operator(&[missing, missing], &["set", "b", "--none"]).exit(), Exit::NotFound);
    for arguments in [&["set", "b"][..], &["set", "b", "w1", "--none"], &["set"]] {
        assert!(is_wrong(arguments), "{arguments:?}");
    }
}

#[test]
fn every_broken_rule_of_a_refusal_stands_on_a_line() {
    let refused = r#"{"status":422,"code":"rules_broken","detail":"one; two","faults":[
        {"builder":"a\u001b","rule":"empty_list"},
        {"builder":"b","rule":"wrong_pool","machine":"w","value":{"pool":"p","expected":"q"}},
        {"builder":null,"rule":"shrink","value":{"most":190,"becomes":61,"max_shrink_percent":30}}]}"#;
    let missing = (404, r#"{"code":"not_allocated","detail":"no allocation"}"#);
    let done = run_as_operator(&[missing, (422, refused)], &["set", "b", "w"]);
    let expected = [
        "the server refuses (422, rules_broken): 3 broken rules",
        r#"  builder "a\u{1b}": an allocation has at least one machine (delete it to give the builder none)"#,
        r#"  builder "b": machine "w" is in the wrong pool: "p", the builder's is "q""#,
        "  the allocated machines shrink too much at once (force=true allows it): from 190 to 61, at most 30 % in an hour",
    ];
    assert_eq!(done.error().lines().collect::<Vec<_>>(), expected);
    assert_eq!((done.exit(), done.data.as_str()), (Exit::Failed, ""));
}

#[test]
fn apply_replaces_what_it_has_shown() {
    let folder = data_dir();
    let file = folder.path().join("wanted.json");
    fs::write(&file, r#"{"builders":{"a/b":["w3","w1"],"new":["w4"]}}"#).unwrap();
    let answers = [(200, BLOB), (200, MADE)];
    let done = run_as_operator(&answers, &["apply", text(&file), "--yes", "--reason", "r"]);
    assert_eq!(done.asked[1].line, "PUT /v1/allocations?dry_run=false&force=false HTTP/1.1");
    assert!(done.asked[1].headers.contains("if-match: \"e-5\"\n"), "{}", done.asked[1].headers);
    assert_eq!(done.asked[1].body, r#"{"builders":{"a/b":["w3","w1"],"new":["w4"]},"reason":"r"}"#);
    let expected = ["   BUILDER  ADDED  REMOVED", "~  a/b      w3     w2", "-  c d+            w2", "+  new      w4"];
    assert_eq!(lines(&done.data), expected);
    let done = run_as_operator(&answers, &["apply", text(&file), "--dry-run", "--output", "json"]);
    assert_eq!(done.asked[1].line, "PUT /v1/allocations?dry_run=true&force=false HTTP/1.1");
    assert_eq!(done.data, format!("{MADE}\n"));
}

#[test]
fn apply_never_overwrites_what_it_has_not_shown() {
    let folder = data_dir();
    let file = folder.path().join("wanted.json");
    fs::write(&file, r#"{"builders":{"new":["w4"]}}"#).unwrap();
    let stale = (412, r#"{"status":412,"code":"generation_changed","detail":"6 is in force"}"#);
    let done = run_as_operator(&[(200, BLOB), stale], &["apply", text(&file), "-y"]);
    assert!(done.error().starts_with("the allocations were changed after generation 5, which"), "{}", done.error());
    assert!(done.error().ends_with("(412, generation_changed): 6 is in force"), "{}", done.error());
}

#[test]
fn what_is_in_force_already_is_not_written_again() {
    let folder = data_dir();
    let file = folder.path().join("same.json");
    fs::write(&file, BLOB).unwrap();
    let done = run_as_operator(&[(200, BLOB)], &["apply", text(&file)]);
    assert_eq!((done.exit(), done.data.as_str()), (Exit::Ok, ""));
    let same = r#"{"generation":3,"since":5,"set":{},"unset":[]}"#;
    assert_eq!(run_as_operator(&[(200, BLOB), (200, same)], &["rollback", "3"]).exit(), Exit::Ok);
}

#[test]
fn only_one_whole_state_can_be_applied() {
    let folder = data_dir();
    let file = folder.path().join("history.jsonl");
    fs::write(&file, "{\"set\":{\"b\":[\"w\"]}}\n").unwrap();
    let error = run_as_operator(&[], &["apply", text(&file)]).error();
    assert!(error.starts_with(&format!("cannot read {}: this is a history of changes", file.display())), "{error}");
    let error = run_as_operator(&[], &["diff", "no-such-file"]).error();
    assert!(error.starts_with("cannot read no-such-file: No such file"), "{error}");
}

#[test]
fn rollback_shows_what_comes_back() {
    let back = r#"{"generation":3,"since":5,"set":{"a/b":["w1","w3"],"old":["w9"]},"unset":["c d+"]}"#;
    let done = run_as_operator(&[(200, BLOB), (200, back), (200, MADE)], &["rollback", "3", "--yes", "--force"]);
    assert_eq!(done.asked[1].line, "GET /v1/allocations?since=5&until=3&epoch=e HTTP/1.1");
    assert_eq!(done.asked[2].line, "POST /v1/allocations/rollback?dry_run=false&force=true HTTP/1.1");
    assert!(done.asked[2].headers.contains("if-match: \"e-5\"\n"), "{}", done.asked[2].headers);
    assert_eq!(done.asked[2].body, r#"{"generation":3}"#);
    let expected = ["   BUILDER  ADDED  REMOVED", "~  a/b      w3     w2", "-  c d+            w2", "+  old      w9"];
    assert_eq!(lines(&done.data), expected);
}

#[test]
fn diff_compares_a_file_with_what_is_in_force() {
    let folder = data_dir();
    let builders = folder.path().join("tree/v1/builders");
    fs::create_dir_all(builders.join("a")).unwrap();
    fs::write(builders.join("a/b"), r#"{"machines":["w2","w1","w2"]}"#).unwrap();
    fs::write(builders.join("123"), r#"{"machines":["w3"]}"#).unwrap();
    let tree = folder.path().join("tree");
    let done = run(&[(200, BLOB)], &["diff", text(&tree)]);
    assert_eq!(done.asked[0].line, "GET /v1/allocations HTTP/1.1");
    assert_eq!(lines(&done.data)[1..], ["+  123      w3", "-  c d+            w2"]);
    let done = run(&[(200, BLOB)], &["diff", text(&tree), "--output", "json"]);
    assert_eq!(done.data, "{\"since\":5,\"set\":{\"123\":[\"w3\"]},\"unset\":[\"c d+\"]}\n");
    let error = run(&[], &["diff", text(&tree), "4"]).error();
    assert!(error.contains("is compared with the generation in force"), "{error}");
}
