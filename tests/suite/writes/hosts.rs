//! Web pages that talk to us through somebody's browser: `Host` and `Origin` are checked on all but the v1 reads.

use super::desk::{FARM, assert_problem, bearer, desk, desk_with};
use super::identity::CALLS;
use crate::suite::reads::boxes::Boxes;
use crate::suite::wire::Response;

const OPEN: [&str; 11] = [
    "/v1/builders",
    "/v1/builders/Mac%20central",
    "/v1/builders?name=Mac%20central",
    "/v1/machines",
    "/v1/machines/mac0/",
    "/v1/allocated/all",
    "/v1/allocations",
    "/v1/allocations/",
    "/v1/allocations?since=0",
    "/v1/allocations/history",
    "/v1/builders/none",
];

const GUARDED: [&str; 6] = ["/v1/workers", "/v1/workers/lin00", "/livez", "/readyz", "/metrics", "/openapi.json"];

/// The operator's request with exactly these headers.
fn ask(boxes: &Boxes, method: &str, target: &str, headers: &str, body: &str) -> Response {
    let token = bearer(&boxes.token);
    let length = body.len();
    let mut connection = boxes.server.connect();
    let request = format!("{method} {target} HTTP/1.1\r\n{headers}{token}\r\nContent-Length: {length}\r\n\r\n{body}");
    connection.send(request.as_bytes());
    connection.receive(method)
}

#[test]
fn a_foreign_host_is_only_answered_what_masters_read() {
    let boxes = desk();
    let before = boxes.known();
    for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil", "127.0.0.1@evil", ""]
    {
        let headers = format!("Host: {host}\r\n");
        for (method, target, body) in CALLS {
            let response = ask(&boxes, method, target, &headers, body);
            assert_problem(&response, 421, "foreign_host", &format!("{host}: {method} {target}"));
        }
        for target in GUARDED {
            let response = ask(&boxes, "GET", target, &headers, "");
            assert_problem(&response, 421, "foreign_host", &format!("{host}: {target}"));
        }
        for target in OPEN {
            let status = if target.ends_with("none") { 404 } else { 200 };
            assert_eq!(ask(&boxes, "GET", target, &headers, "").status, status, "{host}: {target}");
        }
    }
    assert_eq!(boxes.known(), before);
}

#[test]
fn a_foreign_page_is_only_answered_what_masters_read() {
    let boxes = desk();
    let before = boxes.known();
    let other_port = format!("http://127.0.0.1:{}", boxes.server.address().port() ^ 1);
    for origin in ["http://evil.example", "https://evil.example:8080", "null", "", "file://", &other_port] {
        let headers = format!("Host: {}\r\nOrigin: {origin}\r\n", boxes.server.address());
        for (method, target, body) in CALLS {
            let response = ask(&boxes, method, target, &headers, body);
            assert_problem(&response, 403, "foreign_origin", &format!("{origin}: {method} {target}"));
        }
        for target in GUARDED {
            let response = ask(&boxes, "GET", target, &headers, "");
            assert_problem(&response, 403, "foreign_origin", &format!("{origin}: {target}"));
        }
        for target in OPEN {
            let status = if target.ends_with("none") { 404 } else { 200 };
            let response = ask(&boxes, "GET", target, &headers, "");
            assert_eq!(response.status, status, "{origin}: {target}");
            assert_eq!(response.header("access-control-allow-origin"), None, "{target}");
        }
    }
    assert_eq!(boxes.known(), before);
    let own = format!("Host: {0}\r\nOrigin: http://{0}\r\n", boxes.server.address());
    assert_eq!(ask(&boxes, "PATCH", "/v1/allocations", &own, "{}").status, 200);
}

#[test]
fn names_of_our_own_stand_in_the_settings() {
    let boxes = desk_with(FARM, |start| start.env("JACUZZI__SERVER__HOSTS", "jacuzzi.example, farm"));
    for (host, status) in [
        ("jacuzzi.example", 200),
        ("jacuzzi.example:443", 200),
        ("JACUZZI.example", 200),
        ("farm", 200),
        ("localhost", 200),
        ("localhost:1", 200),
        ("10.1.2.3:80", 200),
        ("[::1]:80", 200),
        ("example", 421),
        ("x.jacuzzi.example", 421),
        ("jacuzzi.example.evil", 421),
        ("farm,localhost", 421),
    ] {
        let response = ask(&boxes, "PATCH", "/v1/allocations", &format!("Host: {host}\r\n"), "{}");
        assert_eq!(response.status, status, "{host}: {response:?}");
    }
    let page = |origin: &str| format!("Host: jacuzzi.example\r\nOrigin: {origin}\r\n");
    assert_eq!(ask(&boxes, "PATCH", "/v1/allocations", &page("https://jacuzzi.example"), "{}").status, 200);
    assert_eq!(ask(&boxes, "PATCH", "/v1/allocations", &page("https://farm"), "{}").status, 403);
}
