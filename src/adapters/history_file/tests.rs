//! Every fault of a history says where it is; the real history has none.

use super::*;
use crate::domain::WorkerName;

fn builder(name: &str) -> BuilderName {
    BuilderName::parse(name).unwrap()
}

fn machines(names: &[&str]) -> Vec<WorkerName> {
    names.iter().map(|name| WorkerName::parse(name).unwrap()).collect()
}

fn fault(text: &str) -> String {
    parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn the_real_history_is_5050_lines_with_29_empty_lists() {
    let path = "tests/data/mozilla-jacuzzis-2014-2016.jsonl";
    let lines = parse(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(lines.len(), 5_050);
    let empty = lines.iter().map(|line| match &line.write {
        Write::Patch { set, .. } => set.values().filter(|list| list.is_empty()).count(),
        other => panic!("{other:?} in a history"),
    });
    assert_eq!(empty.sum::<usize>(), 29);
    assert_eq!(lines[0].time, Some(Timestamp::from_unix_seconds(1_393_345_278)));
}

#[test]
fn a_history_is_read_line_by_line() {
    let text = concat!(
        "\n",
        r#"{"time":1.5,"commit":["ignored"],"set":{"a+b/c":["w2","w1","w2"],"none":[]}}"#,
        "\r\n  \n",
        r#"{"time":"2014-06-04T10:32:17Z","unset":["a+b/c","a+b/c"]}"#,
        "\n",
        r#"{"set":{}}"#,
    );
    let set = Builders::from([(builder("a+b/c"), machines(&["w2", "w1", "w2"])), (builder("none"), vec![])]);
    let lines = parse(text.as_bytes()).unwrap();
    let patch = |set, unset| Write::Patch { set, unset };
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0].time, Some(Timestamp::from_unix_micros(1_500_000)));
    assert_eq!(lines[0].write, patch(set, BTreeSet::new()));
    assert_eq!(lines[1].time, Some(Timestamp::from_unix_seconds(1_401_877_937)));
    assert_eq!(lines[1].write, patch(Builders::new(), BTreeSet::from([builder("a+b/c")])));
    assert_eq!(lines[2], ImportLine { time: None, write: patch(Builders::new(), BTreeSet::new()) });
}

#[test]
fn a_blob_is_one_line_that_replaces_everything() {
    let one_line = r#"{"epoch":"e","generation":7,"builders":{"b":["w1"]},"machines":{"w1":["b"]}}"#;
    let pretty = "\n{\n  \"generation\": 7,\n  \"builders\": {\n    \"b\": [\n      \"w1\"\n    ]\n  }\n}\n";
    let replace = Write::Replace(Builders::from([(builder("b"), machines(&["w1"]))]));
    for text in [one_line, pretty] {
        assert_eq!(parse(text.as_bytes()).unwrap(), [ImportLine { time: None, write: replace.clone() }]);
    }
    assert_eq!(parse(b"{\"builders\":{}}").unwrap()[0].write, Write::Replace(Builders::new()));
}

#[test]
fn a_fault_names_line_key_builder_and_value() {
    let in_line_2 = |line: &str| fault(&format!("{{\"set\":{{}}}}\n{line}\n"));
    for (line, expected) in [
        (r#"{"time":1}"#, r#"a change has "set" or "unset", this one has neither"#),
        (r#"{"set":{"b":["w"]},"unset":["b"]}"#, r#"builder "b" is both in "set" and in "unset""#),
        (r#"{"set":{"b":["w"],"b":["v"]}}"#, r#"builder "b" is named twice in "set""#),
        (r#"{"set":{},"set":{}}"#, r#"the key "set" is given twice"#),
        (r#"{"set":{"":["w"]}}"#, r#"builder "" in "set": a name is never empty"#),
        (r#"{"set":{"b":["a\tb"]}}"#, r#"machine "a\tb" in "set", builder "b": a name has no control characters"#),
        (r#"{"unset":["\u0085"]}"#, r#"builder "\u{85}" in "unset": a name has no control characters"#),
        (r#"{"set":{"b":[5]}}"#, r#"integer `5`, expected the name of a machine in "set", builder "b""#),
        (r#"{"set":{"b":"w"}}"#, r#"string "w", expected a list of machines in "set", builder "b""#),
        (r#"{"set":{"b":null}}"#, r#"null, expected a list of machines in "set", builder "b""#),
        (r#"{"set":[]}"#, r#"sequence, expected an object of builders and their machines in "set""#),
        (r#"{"unset":{}}"#, r#"map, expected a list of builders in "unset""#),
        (r#"{"unset":[],"time":"yesterday"}"#, r#""time": "yesterday" is not a time"#),
        (r#"{"unset":[],"time":1e300}"#, r#""time": a time is a number of Unix seconds up to"#),
        (r#"{"unset":[],"time":null}"#, r#"null, expected "time" as Unix seconds or RFC 3339 text"#),
        (r#"["set"]"#, "sequence, expected a change"),
        (r#"{"builders":{"b":["w"]}}"#, r#"a change has "set" or "unset", this one has neither"#),
        (r#"{"set":{"b":["#, "EOF while parsing"),
        (r#"{"set":{}} {"set":{}}"#, "trailing characters"),
    ] {
        let found = in_line_2(line);
        assert!(found.starts_with("line 2, column "), "{line}: {found}");
        assert!(found.contains(expected), "{line}: {found}");
    }
}

#[test]
fn a_file_that_is_something_else_says_so() {
    assert_eq!(fault(" \n\n"), "line 1, column 0: the file is empty");
    assert!(fault("\nUsage: allocate [options]").starts_with("line 2, column 1: \"Usage: allocate [options]\" begins"));
    assert!(fault("[{\"set\":{}}]").contains("begins neither a history"));
    assert!(fault("{\n  \"x\": 1\n}").contains("neither \"builders\" nor"));
    assert!(fault("{\n  \"builders\": {\n    \"b\": 5\n  }\n}").starts_with("line 3, column "));
    assert!(fault("{\"builders\":{}}\n{\"builders\":{}}").starts_with("line 2, column 1: trailing"));
    assert!(fault("{\"set\":{\"b\":[\"w\"\n{\"set\":{}}").starts_with("line 1, column "), "a torn first line");
    assert!(parse(b"{\"set\":{}}\n{\"set\":{\"b\":[\"\xff\"]}}").unwrap_err().to_string().starts_with("line 2, "));
}
