//! Reads in the strangest heads that are still HTTP, each answered 200, 304 or 404, and what is no HTTP at all.

use serde_json::{Value, json};

use super::boxes::Boxes;
use crate::suite::wire::{Connection, Response};

/// Names that a client may send without encoding anything.
const RAW: [&str; 12] =
    ["a", "a b", " a ", "é", "<a>", "\"a\"", "`a`", "#", "a#b", "50%é", "Mac 10.9 <debug> \"q\" #1", "𝒳 HTTP/1.1"];

fn boxes() -> Boxes {
    let workers = json!(RAW);
    let boxes = Boxes::with(
        &format!(
            "farm = {{ name = 'raw' }}\npools = [{{ name = 'all', workers = {workers} }}]\n\
             builders = [{{ match = '', pool = 'all' }}]\n"
        ),
        |start| start,
    );
    let set: serde_json::Map<_, _> = RAW.iter().map(|name| ((*name).to_owned(), json!([name]))).collect();
    boxes.write("PUT", "/v1/allocations", &json!({"builders": set}));
    boxes
}

/// The answer to these bytes on a connection of their own.
fn answer(boxes: &Boxes, request: &[u8]) -> Response {
    let mut connection = boxes.server.connect();
    connection.send(request);
    connection.receive("GET")
}

fn status(boxes: &Boxes, target: &[u8], headers: &str) -> u16 {
    answer(boxes, &[b"GET ", target, b" HTTP/1.1\r\n", headers.as_bytes(), b"\r\n"].concat()).status
}

#[test]
fn a_name_may_be_sent_raw() {
    let boxes = boxes();
    let mut connection = boxes.server.connect();
    for name in RAW {
        for (collection, key) in [("builders", "machines"), ("machines", "builders")] {
            for target in [
                format!("/v1/{collection}/{name}"),
                format!("/v1/{collection}/{name}/"),
                format!("/v1/{collection}?name={name}"),
                format!("http://farm/v1/{collection}/?x=é<\">&name={name}"),
            ] {
                let got = connection.request("GET", &target, &["Host: farm"]);
                assert_eq!((got.status, got.json()), (200, json!({key: [name]})), "{target}");
                let tag = format!("If-None-Match: {}", got.header("etag").unwrap());
                assert_eq!(connection.request("HEAD", &target, &["Host: farm", &tag]).status, 304, "{target}");
                assert_eq!(connection.request("HEAD", &format!("{target}\u{1}"), &["Host: farm"]).status, 404);
            }
        }
    }
}

#[test]
fn every_byte_may_stand_in_a_name() {
    let boxes = boxes();
    for (before, after) in [("/v1/builders/no", "name"), ("/v1/machines?name=no", "name")] {
        for byte in 0..=255 {
            let target = [before.as_bytes(), &[byte], after.as_bytes()].concat();
            // These two end lines; so does, to some, the first of them alone.
            let expected = if matches!(byte, b'\r' | b'\n') { 400 } else { 404 };
            assert_eq!(status(&boxes, &target, "Host: farm\r\n"), expected, "{byte:#04x} in {before}");
        }
    }
    assert_eq!(status(&boxes, b"/v1/builders/\xff\xfe", "Host: farm\r\n"), 404);
}

#[test]
fn a_read_needs_no_host_and_nothing_else_does_without() {
    let boxes = boxes();
    for hosts in ["", "Host:\r\n", "Host: a\r\nHost: b\r\n", "host: 127.0.0.1\r\nX: y\r\nHOST: 127.0.0.1\r\n"] {
        for (target, expected) in [
            ("/v1/builders/a", 200),
            ("/v1/builders/none", 404),
            ("/v1/machines", 200),
            ("/v1/allocated/all", 200),
            ("/v1/allocations", 200),
            ("/v1/workers", 421),
            ("/metrics", 421),
            ("/livez", 421),
        ] {
            let got = status(&boxes, target.as_bytes(), &format!("{hosts}X-Y: z\r\n"));
            assert_eq!(got, expected, "{hosts:?} {target}");
        }
    }
    let token = format!("Authorization: Bearer {}\r\n", boxes.token);
    for (hosts, expected) in [("", 400), ("Host: a\r\nHost: b\r\n", 400), ("Host: 127.0.0.1\r\n", 200)] {
        let delete = format!("DELETE /v1/builders/a?dry_run=true HTTP/1.1\r\n{hosts}{token}\r\n");
        assert_eq!(answer(&boxes, delete.as_bytes()).status, expected, "{hosts:?}");
    }
}

#[test]
fn a_write_is_not_put_right() {
    let boxes = boxes();
    let token = format!("Authorization: Bearer {}", boxes.token);
    for target in ["/v1/builders/a b", "/v1/builders/é", "/v1/builders/a?dry_run=true&reason=<"] {
        assert_eq!(boxes.server.request("DELETE", target, &[&token], b"").status, 400, "{target}");
    }
    assert_eq!(boxes.read("/v1/builders")["builders"].as_array().map(Vec::len), Some(RAW.len()));
}

#[test]
fn a_head_may_be_very_large() {
    let boxes = boxes();
    let many = |count: usize| "Host: farm\r\n".to_owned() + &"X: y\r\n".repeat(count - 1);
    let long = |bytes: usize| format!("Host: farm\r\nX: {}\r\n", "y".repeat(bytes));
    let name = |bytes: usize| format!("Host: farm\r\n{}: y\r\n", "X".repeat(bytes));
    for headers in [many(96), many(97), many(10_000), long(130_000), long(1_000_000), name(70_000)] {
        let shown = &headers[..30];
        assert_eq!(status(&boxes, b"/v1/builders/a", &headers), 200, "{shown}");
        assert_eq!(status(&boxes, b"/v1/builders/none", &headers), 404, "{shown}");
        // What a guard looks at is not lost among the rest.
        assert_eq!(status(&boxes, b"/livez", &headers.replace("farm", "127.0.0.1")), 200, "{shown}");
        assert_eq!(status(&boxes, b"/livez", &headers), 421, "{shown}");
        let foreign = format!("{}Origin: http://evil.example\r\n", headers.replace("farm", "127.0.0.1"));
        assert_eq!(status(&boxes, b"/livez", &foreign), 403, "{shown}");
    }
    let tag = boxes.server.get("/v1/builders/a").header("etag").unwrap().to_owned();
    assert_eq!(status(&boxes, b"/v1/builders/a", &format!("{}If-None-Match: {tag}\r\n", many(1000))), 304);

    let x = |length: usize| "x".repeat(length);
    for (target, expected) in [
        (format!("/v1/builders/{}", x(65_521)), 404),
        (format!("/v1/builders/{}", x(65_522)), 404),
        (format!("/v1/machines?name={}", x(900_000)), 404),
        (format!("/v1/builders/a?{}", x(900_000)), 200),
        (format!("/v1/builders?pad={}&name=a", x(900_000)), 200),
        (format!("/v1/allocated/all?{}", x(900_000)), 200),
    ] {
        assert_eq!(status(&boxes, target.as_bytes(), "Host: farm\r\n"), expected, "{} bytes", target.len());
    }
    // There is an end to it, and a write gets no more than the parser takes.
    assert_eq!(status(&boxes, b"/v1/builders/a", &long(1 << 20)), 431);
    let write = format!("DELETE /v1/builders/a HTTP/1.1\r\n{}\r\n", many(97));
    assert_eq!(answer(&boxes, write.as_bytes()).status, 431);
}

#[test]
fn a_body_stays_a_body() {
    let boxes = boxes();
    // A body that looks like a request, in which a name would be put right.
    let inside = "GET /v1/builders/a b HTTP/1.1\r\n\r\n";
    let length = inside.len();
    let chunked = format!("Transfer-Encoding: chunked\r\n\r\n{length:x};x=y\r\n{inside}\r\n0\r\nX: y\r\n\r\n");
    let sized = format!("Content-Length: {length}\r\n\r\n{inside}");
    let mut connection = boxes.server.connect();
    for body in [sized, chunked] {
        let reads = "GET /v1/builders/é HTTP/1.1\r\n\r\nGET /v1/builders/none HTTP/1.1\r\nHost: a\r\n\r\n";
        connection.send(format!("GET /v1/builders/<a> HTTP/1.1\r\n{body}{reads}").as_bytes());
        assert_eq!(connection.receive("GET").json(), json!({"machines": ["<a>"]}));
        assert_eq!(connection.receive("GET").json(), json!({"machines": ["é"]}));
        assert_eq!(connection.receive("GET").status, 404);
    }
    // What is written comes through as it is, in however many pieces.
    let reason = "GET /a b HTTP/1.1 #é".repeat(50);
    let body = json!({"machines": ["a"], "reason": reason}).to_string();
    let token = &boxes.token;
    let head = format!("PUT /v1/builders/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n");
    for piece in [format!("{head}Content-Length: {}\r\n\r\n", body.len()), body[..500].into(), body[500..].into()] {
        connection.send(piece.as_bytes());
    }
    assert_eq!(connection.receive("PUT").status, 200);
    let history = boxes.read("/v1/allocations/history?limit=1");
    assert!(history.to_string().contains(&Value::from(reason).to_string()), "{history}");
}

#[test]
fn these_requests_are_no_http() {
    let boxes = boxes();
    for (request, status) in [
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nName with spaces: x\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400),
        // Nobody could tell where the next request begins.
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nContent-Length: none\r\n\r\n", 400),
        ("GET /v1/builders/a b HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: none\r\n\r\n", 400),
        ("GET /v1/builders/a b HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400),
        ("GET v1/builders/a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/3.0\r\nHost: a\r\n\r\n", 400),
        ("GET /v1/builders/a\r\n", 400),
        ("hello\r\n", 400),
        ("\u{16}\u{3}\u{1}", 400),
        // Read all the same.
        ("GET /v1/builders/a HTTP/1.1\r\nHost:\r\n\r\n", 200),
        ("\r\nGET /v1/builders/a HTTP/1.1\nHost: a\n\n", 200),
        ("GET /v1/builders/a b HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", 200),
    ] {
        assert_eq!(answer(&boxes, request.as_bytes()).status, status, "{request:?}");
    }
}

#[test]
fn a_head_in_pieces_is_waited_for() {
    let boxes = boxes();
    let mut connection: Connection = boxes.server.connect();
    for byte in "GET /v1/builders/a b HTTP/1.1\r\nX: y\r\n\r\n".bytes() {
        connection.send(&[byte]);
    }
    assert_eq!(connection.receive("GET").json(), json!({"machines": ["a b"]}));
}
