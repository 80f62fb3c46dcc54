//! The HTTP API as a whole: which paths and methods there are, how errors look, health, metrics, request ids.

use std::time::Duration;

use serde_json::Value;

use super::server::{Home, Server};
use super::wire::Response;

const FARM: &str = r#"
[farm]
name = "boxes"

[[pools]]
name = "boxes"
workers = ["box{1..3}"]
class = "inhouse"

[[builders]]
match = '^b\d'
pool = "boxes"
"#;

const METHODS: [&str; 9] = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "BREW"];

fn authorization(home: &Home) -> String {
    format!("Authorization: Bearer {}", home.operator_token())
}

/// A server on which builder `b1` has the machine `box1`, and a job.
fn start(home: &Home) -> Server {
    let server = home.start();
    let made = server.request("PUT", "/v1/builders/b1", &[&authorization(home)], br#"{"machines":["box1"]}"#);
    assert_eq!(made.status, 200, "{}", made.text());
    let submitted = server.request("POST", "/v1/jobs", &[&authorization(home)], br#"{"builder":"b1"}"#);
    assert_eq!(submitted.status, 201, "{}", submitted.text());
    server
}

/// Each path of the document with its methods; the names in it are such that they can be read.
fn documented(document: &Value) -> Vec<(String, Vec<String>)> {
    let methods = |item: &Value| item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
    document["paths"].as_object().unwrap().iter().map(|(path, item)| (path.clone(), methods(item))).collect()
}

/// Status and headers only, since a stream does not end.
fn head(server: &Server, method: &str, target: &str) -> (u16, Option<String>) {
    let mut connection = server.connect();
    connection.send(format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address()).as_bytes());
    let (status, headers) = connection.receive_head();
    let allow = headers.into_iter().find(|(name, _)| name == "allow").map(|(_, value)| value);
    (status, allow)
}

#[test]
fn a_method_is_answered_if_and_only_if_the_document_has_it() {
    let home = Home::new(FARM);
    let server = start(&home);
    for (path, methods) in documented(&server.get("/openapi.json").json()) {
        let name = if path.starts_with("/v1/builders") { "b1" } else { "box1" };
        let plain = path.replace("{name}", name).replace("{id}", "1");
        // A write to a collection means what `?name=` names.
        let query = if path.ends_with("ers") { format!("?name={name}") } else { String::new() };
        for method in METHODS {
            for target in [&format!("{plain}{query}"), &format!("{plain}/{query}")] {
                if path.starts_with("/v1/builders/{name}/") && ["GET", "HEAD"].contains(&method) {
                    // A read of a builder whose name ends like that.
                    continue;
                }
                let (status, allow) = head(&server, method, target);
                if methods.iter().any(|documented| documented == method) {
                    assert!(![404, 405].contains(&status), "{method} {target}: {status}");
                } else {
                    assert_eq!(status, 405, "{method} {target}");
                    let mut allowed: Vec<_> = allow.as_deref().unwrap_or("").split(", ").collect();
                    allowed.sort_unstable();
                    let mut expected: Vec<_> = methods.iter().map(String::as_str).collect();
                    expected.sort_unstable();
                    assert_eq!(allowed, expected, "{method} {target}");
                }
            }
        }
    }
}

#[test]
fn the_document_is_the_committed_one_and_refers_to_nothing_that_is_missing() {
    let home = Home::new(FARM);
    let served = start(&home).get("/openapi.json");
    assert_eq!(served.header("content-type"), Some("application/json"));
    let committed = include_str!("../../deploy/openapi.json");
    assert!(served.text() == committed, "it has drifted: cargo run -- openapi > deploy/openapi.json");
    let printed = home.jacuzzi(&["openapi"]).output().unwrap().stdout;
    assert!(printed == committed.as_bytes());
    let document = served.json();
    for reference in committed.split("\"$ref\": \"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[track_caller]
fn assert_problem(response: &Response, status: u16, code: &str) {
    assert_eq!(response.status, status, "{}", response.text());
    assert_eq!(response.header("content-type"), Some("application/problem+json"));
    let problem = response.json();
    assert_eq!((problem["status"].as_u64(), problem["code"].as_str()), (Some(status.into()), Some(code)));
    assert!(!problem["title"].as_str().unwrap().is_empty() && !problem["detail"].as_str().unwrap().is_empty());
}

/// A request, with the status and the code of its answer.
type Case<'a> = (&'a str, &'a str, &'a [&'a str], &'a [u8], u16, &'a str);

#[test]
fn every_error_is_a_problem_document() {
    let home = Home::new(FARM);
    let server = start(&home);
    let token = authorization(&home);
    let chunked = "Transfer-Encoding: chunked";
    #[rustfmt::skip]
    let cases: &[Case] = &[
        ("GET", "/", &[], b"", 404, "no_such_path"),
        ("GET", "/v2/builders", &[], b"", 404, "no_such_path"),
        ("GET", "/v1/builders/b2", &[], b"", 404, "not_allocated"),
        ("GET", "/v1/machines/box2", &[], b"", 404, "not_allocated"),
        ("POST", "/v1/builders", &[], b"", 405, "method_not_allowed"),
        ("PUT", "/v1/builders", &[&token], b"{}", 405, "method_not_allowed"),
        ("DELETE", "/v1/builders/", &[&token], b"", 405, "method_not_allowed"),
        ("GET", "/v1/allocations?since=x", &[], b"", 400, "bad_parameter"),
        ("GET", "/v1/allocations?wait=1", &[], b"", 400, "bad_parameter"),
        ("GET", "/v1/allocations?since=99", &[], b"", 410, "generation_not_kept"),
        ("GET", "/v1/allocations?since=0&epoch=x", &[], b"", 410, "other_epoch"),
        ("GET", "/v1/allocations/history?limit=0", &[], b"", 400, "bad_parameter"),
        ("GET", "/v1/allocations/events", &["Last-Event-ID: x"], b"", 400, "bad_parameter"),
        ("GET", "/readyz?for=tea", &[], b"", 400, "bad_parameter"),
        ("PUT", "/v1/allocations", &[&token], b"{", 400, "malformed"),
        ("PUT", "/v1/allocations", &[&token, chunked], b"", 400, "malformed"),
        ("PUT", "/v1/allocations?dry_run=maybe", &[&token], b"{}", 400, "bad_parameter"),
        ("PUT", "/v1/allocations", &[], br#"{"builders":{}}"#, 401, "unauthorized"),
        ("PUT", "/v1/allocations", &["Authorization: Basic eDp5"], br#"{"builders":{}}"#, 401, "unauthorized"),
        ("PATCH", "/v1/allocations", &[&token, "If-Match: \"x-1\""], b"{}", 412, "generation_changed"),
        ("PUT", "/v1/builders/b1", &[&token], br#"{"machines":[]}"#, 422, "rules_broken"),
        ("DELETE", "/v1/builders/b2", &[&token], b"", 404, "not_allocated"),
        ("POST", "/v1/allocations/rollback", &[&token], br#"{"generation":9}"#, 410, "generation_not_kept"),
        ("POST", "/v1/allocations/import", &[&token], b"tea", 400, "malformed"),
        ("POST", "/v1/farm/reload", &[], b"", 401, "unauthorized"),
        ("GET", "/v1/jobs/2", &[], b"", 404, "no_such_job"),
        ("DELETE", "/v1/jobs/x", &[&token], b"", 404, "no_such_job"),
        ("POST", "/v1/jobs", &[&token], br#"{"builder":"c1"}"#, 422, "bad_jobs"),
        ("POST", "/v1/claims", &[&token], br#"{"workers":["none"]}"#, 422, "no_such_worker"),
        ("POST", "/v1/claims/1/finish", &[], b"{}", 400, "malformed"),
    ];
    for (method, target, headers, body, status, code) in cases {
        println!("{method} {target}");
        let response = if headers.contains(&chunked) {
            let mut connection = server.connect();
            let head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n{token}\r\n{chunked}\r\n\r\n");
            connection.send(format!("{head}1\r\n{{\r\n0\r\n\r\n").as_bytes());
            connection.receive(method)
        } else {
            server.request(method, target, headers, body)
        };
        assert_problem(&response, *status, code);
        assert_eq!(response.header("allow").is_some(), *status == 405);
        assert_eq!(response.header("www-authenticate").is_some(), *status == 401);
    }
}

#[test]
fn what_is_not_http_is_refused_and_harms_nobody() {
    let home = Home::new(FARM);
    let server = start(&home);
    for request in [
        "PUT /v1/allocations HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        "PUT /v1/allocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "PUT /v1/allocations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "PUT /v1/builders HTTP/1.1\r\n\r\n",
        "PUT / / / HTTP/1.1\r\nHost: x\r\n\r\n",
        "tea\r\n\r\n",
    ] {
        let mut connection = server.connect();
        connection.send(request.as_bytes());
        assert_eq!(connection.receive("GET").status, 400, "{request}");
    }
    assert_eq!(server.get("/v1/builders").status, 200);
}

#[test]
fn a_write_is_answered_in_full_whatever_the_client_has() {
    let home = Home::new(FARM);
    let server = start(&home);
    let token = authorization(&home);
    let put = |target: &str| server.request("PUT", target, &[&token, "If-None-Match: *"], br#"{"machines":["box2"]}"#);
    let tried = put("/v1/builders/b1?dry_run=true");
    assert_eq!((tried.status, tried.header("etag"), tried.header("x-jacuzzi-generation")), (200, None, Some("1")));
    let made = put("/v1/builders/b1");
    assert_eq!((made.status, made.header("x-jacuzzi-generation")), (200, Some("2")));
    assert_eq!(made.header("etag"), server.get("/v1/builders").header("etag"));
    assert_eq!(made.text(), tried.text());
}

#[test]
fn health_says_what_it_is_asked_for() {
    let home = Home::new(FARM);
    let server = start(&home);
    for (target, text) in [
        ("/livez", "alive\n"),
        ("/readyz", "ready\n"),
        ("/readyz?for=reads", "ready\n"),
        ("/readyz/?for=writes", "ready\n"),
    ] {
        let response = server.get(target);
        assert_eq!((response.status, response.text()), (200, text), "{target}");
        assert_eq!(server.request("HEAD", target, &[], b"").status, 200, "{target}");
    }
}

/// The samples of an OpenMetrics text, every one of which belongs to a family with a type.
fn samples(text: &str) -> Vec<(&str, f64)> {
    let body = text.strip_suffix("# EOF\n").expect("OpenMetrics ends with its own mark");
    let (mut families, mut samples) = (Vec::new(), Vec::new());
    for line in body.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let (kind, rest) = comment.split_once(' ').unwrap();
            assert!(["HELP", "TYPE", "UNIT"].contains(&kind), "{line}");
            if kind == "TYPE" {
                families.push(rest.split_once(' ').unwrap().0);
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let family = families.last().expect("a type comes first");
        assert!(name.starts_with(family), "{line} is not of {family}");
        samples.push((name, value.parse().unwrap_or_else(|_| panic!("not a number: {line}"))));
    }
    samples
}

#[test]
fn metrics_are_openmetrics_and_move() {
    let home = Home::new(FARM);
    let server = start(&home);
    let read = || {
        let response = server.get("/metrics");
        assert!(response.header("content-type").unwrap().starts_with("application/openmetrics-text"));
        response.text().to_owned()
    };
    let value = |text: &str, name: &str| {
        let found = samples(text).into_iter().find(|(sample, _)| *sample == name).map(|(_, value)| value);
        found.unwrap_or_else(|| panic!("no {name} in\n{text}"))
    };
    let before = read();
    server.get("/v1/builders/b1");
    server.get("/v1/builders/b2");
    let change = server.request("DELETE", "/v1/builders/b1", &[&authorization(&home)], b"");
    assert_eq!(change.status, 200);
    let after = read();
    for (name, step) in [
        ("jacuzzi_reads_total{read=\"builder\",status=\"200\"}", 1.0),
        ("jacuzzi_reads_total{read=\"builder\",status=\"404\"}", 1.0),
        ("jacuzzi_reads_total{read=\"blob\",status=\"200\"}", 0.0),
        ("jacuzzi_journal_records_total", 1.0),
        ("jacuzzi_journal_append_seconds_count", 1.0),
        ("jacuzzi_generation", 1.0),
        ("jacuzzi_allocated_builders", -1.0),
        ("jacuzzi_read_only", 0.0),
    ] {
        assert_eq!(value(&after, name) - value(&before, name), step, "{name}");
    }
}

#[test]
fn a_request_has_an_id_unless_it_is_a_plain_read() {
    let home = Home::new(FARM);
    let server = start(&home);
    let id = |target: &str, sent: &str| {
        let sent = format!("X-Request-ID: {sent}");
        server.request("GET", target, &[&sent], b"").header("x-request-id").map(str::to_owned)
    };
    for target in ["/livez", "/v1/allocations?since=0", "/v1/allocations/history", "/nowhere"] {
        assert_eq!(id(target, "from-the-client").as_deref(), Some("from-the-client"), "{target}");
    }
    for odd in ["", "two words", "\u{e9}", &"x".repeat(129)] {
        let made = id("/livez", odd).unwrap();
        assert!(!made.is_empty() && made != odd && made != id("/livez", odd).unwrap(), "{odd:?}: {made:?}");
    }
    for target in
        ["/v1/builders", "/v1/builders/b1", "/v1/builders/none", "/v1/machines", "/v1/allocated/all", "/v1/allocations"]
    {
        assert_eq!(id(target, "from-the-client"), None, "{target}");
    }
}

#[test]
fn a_write_leaves_one_line_in_the_log_and_a_read_none() {
    let home = Home::new(FARM);
    let server = start(&home);
    let token = authorization(&home);
    server.request("PATCH", "/v1/allocations", &["X-Request-ID: refused-1", &token], b"{");
    server.request("PATCH", "/v1/allocations", &["X-Request-ID: made-1", &token], b"{}");
    server.request("GET", "/v1/allocations/history", &["X-Request-ID: read-1"], b"");
    assert!(server.stop().success());
    let log = home.log();
    let lines = |id: &str| log.lines().filter(|line| line.contains(id)).map(str::to_owned).collect::<Vec<_>>();
    for (id, status) in [("refused-1", "status=400"), ("made-1", "status=200")] {
        let [line] = &lines(id)[..] else { panic!("{id}: {log}") };
        for part in ["method=PATCH", "/v1/allocations", status, "milliseconds="] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
    }
    assert_eq!(lines("read-1"), [""; 0]);
}

#[test]
fn a_connection_beyond_the_limit_waits_for_a_place() {
    let home = Home::new(FARM);
    let limits = [("JACUZZI__SERVER__MAX_CONNECTIONS", "1"), ("JACUZZI__SERVER__WORKERS", "1")];
    let server = home.serve().envs(limits).start();
    let mut first = server.connect();
    assert_eq!(first.request("GET", "/livez", &["Host: localhost"]).status, 200);
    let mut second = server.connect();
    second.send(b"GET /livez HTTP/1.0\r\n\r\n");
    assert!(second.stays_open(Duration::from_millis(300)), "there is one place, and it is taken");
    drop(first);
    assert_eq!(second.receive("GET").status, 200);
}

#[test]
fn an_import_is_not_read_before_its_sender_is_known() {
    let home = Home::new(FARM);
    let server = home.start();
    let refused = server.request("POST", "/v1/allocations/import", &[], b"not even a history");
    assert_eq!((refused.status, refused.json()["code"].clone()), (401, "unauthorized".into()));
}
