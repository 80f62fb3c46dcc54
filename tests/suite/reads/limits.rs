//! Where the HTTP parser below us says no before we see the request: the one exception to "200, 304 or 404".

use serde_json::json;

use super::boxes::Boxes;
use crate::suite::wire::Response;

fn boxes() -> Boxes {
    let boxes = Boxes::start();
    boxes.write("PUT", "/v1/builders/a", &json!({"machines": ["box1"]}));
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

/// The bytes that may not stand raw between these parts of a target.
fn refused(boxes: &Boxes, before: &[u8], after: &[u8]) -> Vec<u8> {
    let refused = |byte: &u8| match status(boxes, &[before, &[*byte], after].concat(), "Host: farm\r\n") {
        400 => true,
        404 => false,
        other => panic!("{other} for byte {byte:#04x}"),
    };
    (0..=255).filter(refused).collect()
}

#[test]
fn these_bytes_must_be_percent_encoded() {
    let boxes = boxes();
    let refused_with = |quote: u8| -> Vec<u8> {
        (0..=255).filter(|byte| *byte <= b' ' || *byte >= 0x7f || [b'<', b'>', quote].contains(byte)).collect()
    };
    assert_eq!(refused(&boxes, b"/v1/builders/no", b"name"), refused_with(b'`'));
    assert_eq!(refused(&boxes, b"/v1/builders?name=no", b"name"), refused_with(b'"'));
    // A raw `#` is no part of a target: it and what follows it are not looked at.
    assert_eq!(status(&boxes, b"/v1/builders/a#b", "Host: farm\r\n"), 200);
}

#[test]
fn these_requests_are_no_http() {
    let boxes = boxes();
    for (request, status) in [
        ("GET /v1/builders/a HTTP/1.1\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nName with spaces: x\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nContent-Length: none\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: none\r\n\r\n", 400),
        ("GET v1/builders/a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /v1/builders/a HTTP/3.0\r\nHost: a\r\n\r\n", 400),
        ("GET /v1/builders/a\r\n\r\n", 400),
        // Read all the same.
        ("GET /v1/builders/a HTTP/1.1\r\nHost:\r\n\r\n", 200),
        ("\r\nGET /v1/builders/a HTTP/1.1\nHost: a\n\n", 200),
    ] {
        assert_eq!(answer(&boxes, request.as_bytes()).status, status, "{request:?}");
    }
}

#[test]
fn a_head_has_a_largest_size() {
    let boxes = boxes();
    let headers = |count: usize| "Host: farm\r\n".to_owned() + &"X: y\r\n".repeat(count - 1);
    assert_eq!(status(&boxes, b"/v1/builders/a", &headers(96)), 200);
    assert_eq!(status(&boxes, b"/v1/builders/a", &headers(97)), 431);
    let target = |length: usize| [b"/v1/builders/", "x".repeat(length - 13).as_bytes()].concat();
    assert_eq!(status(&boxes, &target(65_534), "Host: farm\r\n"), 404);
    assert_eq!(status(&boxes, &target(65_535), "Host: farm\r\n"), 400);
    let long = |bytes: usize| format!("Host: farm\r\nX: {}\r\n", "y".repeat(bytes));
    assert_eq!(status(&boxes, b"/v1/builders/a", &long(130_000)), 200);
    assert_eq!(status(&boxes, b"/v1/builders/a", &long(140_000)), 431);
}
