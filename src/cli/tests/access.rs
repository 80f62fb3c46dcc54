//! Tokens, the audit log and workers.

use super::{is_wrong, lines, run, run_as_operator};
use crate::cli::Exit;

const WORKER: &str = r#"{"name":"w 1","pool":"p","class":"spot","attributes":{"trust":"core","ram":"big"},
    "state":"draining","reason":"new disk","author":"ann","since":1401877937,"from":"api","builders":["a","b"]}"#;

#[test]
fn a_new_token_is_all_that_is_printed() {
    let answer = r#"{"name":"m 1","role":"master","token":"jzma_1"}"#;
    let done = run_as_operator(&[(201, answer)], &["token", "add", "--role", "master", "m 1", "--reason", "r"]);
    assert_eq!(done.asked[0].line, "POST /v1/tokens HTTP/1.1");
    assert_eq!(done.asked[0].body, r#"{"name":"m 1","role":"master","reason":"r"}"#);
    assert_eq!(done.data, "jzma_1\n");
    for arguments in [&["token", "add", "m"][..], &["token", "add", "m", "--role", "king"], &["token", "add"]] {
        assert!(is_wrong(arguments), "{arguments:?}");
    }
}

#[test]
fn tokens_are_listed_and_revoked() {
    let tokens = r#"{"tokens":[{"name":"m","role":"master","added_by":"operator","added_at":1401877937}]}"#;
    let done = run_as_operator(&[(200, tokens)], &["token", "list"]);
    assert!(done.asked[0].headers.contains("authorization: Bearer secret-1\n"), "{}", done.asked[0].headers);
    assert_eq!(lines(&done.data)[1], "m     master  2014-06-04T10:32:17Z  operator");
    let done = run_as_operator(&[(200, r#"{"name":"m"}"#)], &["token", "revoke", "m"]);
    assert_eq!(done.asked[0].line, "DELETE /v1/tokens/m HTTP/1.1");
    let done = run_as_operator(&[(200, tokens)], &["token", "revoke", "m", "--dry-run"]);
    assert_eq!((done.exit(), done.asked[0].line.as_str()), (Exit::Ok, "GET /v1/tokens HTTP/1.1"));
    let done = run_as_operator(&[(200, tokens)], &["token", "revoke", "x", "--dry-run"]);
    assert_eq!(done.error(), "there is no token \"x\"");
}

#[test]
fn the_audit_log_says_who_did_what() {
    let page = r#"{"entries":[{"seq":9,"time":1401877937,"author":"ann","action":"worker.drain","target":"w\u001b",
        "reason":null,"detail":"active to draining"}],"next_before":9}"#;
    let done = run_as_operator(&[(200, page)], &["audit", "--limit", "1", "--before", "10"]);
    assert_eq!(done.asked[0].line, "GET /v1/audit?limit=1&before=10 HTTP/1.1");
    assert!(done.asked[0].headers.contains("authorization: Bearer secret-1\n"), "{}", done.asked[0].headers);
    let expected = r"9      2014-06-04T10:32:17Z  ann     worker.drain  w\u{1b}  active to draining";
    assert_eq!(lines(&done.data)[1], expected);
    assert_eq!(run_as_operator(&[(200, page)], &["audit", "--output", "json"]).data, format!("{page}\n"));
}

#[test]
fn workers_are_listed_and_shown() {
    let page = format!(r#"{{"workers":[{WORKER}],"next_after":"w 1"}}"#);
    let arguments = ["worker", "list", "--pool", "p", "--state", "draining", "--after", "w"];
    let done = run(&[(200, &page)], &arguments);
    assert_eq!(done.asked[0].line, "GET /v1/workers?pool=p&state=draining&limit=100&after=w HTTP/1.1");
    assert_eq!(lines(&done.data)[1], "w 1   p     spot   draining  2         ram=big, trust=core  new disk");
    let done = run(&[(200, WORKER)], &["worker", "get", "w 1"]);
    assert_eq!(done.asked[0].line, "GET /v1/workers/w%201 HTTP/1.1");
    let expected = [
        "WORKER      w 1",
        "pool        p",
        "class       spot",
        "attributes  ram=big, trust=core",
        "state       draining",
        "reason      new disk",
        "set by      ann",
        "since       2014-06-04T10:32:17Z",
        "made by     api",
        "builders    a, b",
    ];
    assert_eq!(lines(&done.data), expected);
    let simple =
        r#"{"name":"w","pool":"p","class":"spot","attributes":{},"state":"active","from":"file","builders":[]}"#;
    let done = run(&[(200, simple)], &["worker", "get", "w"]);
    let expected = ["WORKER   w", "pool     p", "class    spot", "state    active", "made by  the farm file"];
    assert_eq!(lines(&done.data), expected);
}

#[test]
fn workers_come_and_go() {
    let arguments =
        ["worker", "put", "w 1", "--pool", "p", "--class", "spot", "--attribute", "trust=core", "--attribute", "a=b=c"];
    let done = run_as_operator(&[(201, WORKER)], &[&arguments[..], &["--reason", "new"]].concat());
    assert_eq!(done.asked[0].line, "PUT /v1/workers/w%201 HTTP/1.1");
    let expected = r#"{"pool":"p","class":"spot","attributes":{"a":"b=c","trust":"core"},"reason":"new"}"#;
    assert_eq!(done.asked[0].body, expected);
    let done = run_as_operator(&[(200, WORKER)], &["worker", "put", "w 1", "--pool", "p"]);
    assert_eq!(done.asked[0].body, r#"{"pool":"p"}"#);
    let done = run_as_operator(&[(200, r#"{"name":"w 1"}"#)], &["worker", "delete", "w 1", "--reason", "sold it"]);
    assert_eq!(done.asked[0].line, "DELETE /v1/workers/w%201?reason=sold%20it HTTP/1.1");
    let done = run_as_operator(&[(200, WORKER)], &["worker", "delete", "w 1", "--dry-run"]);
    assert_eq!((done.exit(), done.asked[0].line.as_str()), (Exit::Ok, "GET /v1/workers/w%201 HTTP/1.1"));
    let in_file = (409, r#"{"code":"in_farm_file","detail":"the farm file names it"}"#);
    assert_eq!(run_as_operator(&[in_file], &["worker", "delete", "w"]).exit(), Exit::Failed);
    assert!(is_wrong(&["worker", "put", "w", "--pool", "p", "--attribute", "=x"]));
}

#[test]
fn workers_are_taken_out_of_work_and_back() {
    for what in ["drain", "quarantine", "release"] {
        let done = run_as_operator(&[(200, WORKER)], &["worker", what, "w 1", "--reason", "why"]);
        assert_eq!(done.asked[0].line, format!("POST /v1/workers/w%201/{what} HTTP/1.1"));
        assert_eq!(done.asked[0].body, r#"{"reason":"why"}"#);
    }
    let done = run_as_operator(&[(200, WORKER)], &["worker", "drain", "w", "--output", "json"]);
    assert_eq!((done.asked[0].body.as_str(), done.data), ("{}", format!("{WORKER}\n")));
}
