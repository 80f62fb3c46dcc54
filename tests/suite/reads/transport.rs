//! The ways in which a request may arrive: old and new HTTP, one connection for all or one for each.

use serde_json::json;

use super::boxes::Boxes;

fn two_builders() -> Boxes {
    let boxes = Boxes::start();
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {"b1": ["box1", "box2"], "b2": ["box2"]}}));
    boxes
}

#[test]
fn one_connection_carries_many_requests() {
    let boxes = two_builders();
    let mut connection = boxes.server.connect();
    for at in 0..200 {
        let (target, status) = [("/v1/builders/b1", 200), ("/v1/builders/none", 404), ("/v1/allocations", 200)][at % 3];
        let method = if at % 2 == 0 { "GET" } else { "HEAD" };
        let response = connection.request(method, target, &["Host: farm"]);
        assert_eq!((response.status, response.header("connection")), (status, None), "{target}");
    }
    let last = connection.request("GET", "/v1/builders/b1", &["Host: farm", "Connection: close"]);
    assert_eq!((last.status, last.header("connection")), (200, Some("close")));
    assert!(connection.is_closed());
}

#[test]
fn requests_sent_at_once_are_answered_in_order() {
    let boxes = two_builders();
    let mut connection = boxes.server.connect();
    let targets = ["/v1/builders/b1", "/v1/builders/none", "/v1/builders/b2", "/v1/machines/box2/", "/v1/builders"];
    let requests: String =
        targets.iter().cycle().take(100).map(|target| format!("GET {target} HTTP/1.1\r\nHost: farm\r\n\r\n")).collect();
    connection.send(requests.as_bytes());
    for _ in 0..20 {
        assert_eq!(connection.receive("GET").json(), json!({"machines": ["box1", "box2"]}));
        assert_eq!(connection.receive("GET").status, 404);
        assert_eq!(connection.receive("GET").json(), json!({"machines": ["box2"]}));
        assert_eq!(connection.receive("GET").json(), json!({"builders": ["b1", "b2"]}));
        assert_eq!(connection.receive("GET").json(), json!({"builders": ["b1", "b2"]}));
    }
}

#[test]
fn http_1_0_needs_no_host_and_closes_unless_asked() {
    let boxes = two_builders();
    let mut connection = boxes.server.connect();
    for target in ["/v1/builders/b2", "/v1/builders/b2/", "/v1/builders?name=b2"] {
        connection.send(format!("GET {target} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").as_bytes());
        let response = connection.receive("GET");
        assert_eq!((response.status, response.json()), (200, json!({"machines": ["box2"]})), "{target}");
    }
    connection.send(b"GET /v1/builders/none HTTP/1.0\r\n\r\n");
    assert_eq!(connection.receive("GET").status, 404);
    assert!(connection.is_closed());
}

#[test]
fn the_target_may_name_a_server() {
    let boxes = two_builders();
    for place in ["http://farm", "http://farm:8080", "http://[::1]:80", "https://user@elsewhere"] {
        let target = format!("{place}/v1/builders/b2");
        let response = boxes.server.get(&target);
        assert_eq!((response.status, response.json()), (200, json!({"machines": ["box2"]})), "{target}");
        assert_eq!(boxes.server.get(&format!("{place}/v1/builders/none")).status, 404);
    }
}

#[test]
fn no_read_is_redirected() {
    let boxes = two_builders();
    for target in [
        "/v1/builders",
        "/v1/builders/b1",
        "/v1/machines",
        "/v1/machines/box1",
        "/v1/allocated/all",
        "/v1/allocations",
        "/v1/allocations/history",
    ] {
        for method in ["GET", "HEAD"] {
            let plain = boxes.server.request(method, target, &[], b"");
            let slashed = boxes.server.request(method, &format!("{target}/"), &[], b"");
            assert_eq!((plain.status, slashed.status), (200, 200), "{method} {target}");
            assert_eq!(plain.body, slashed.body, "{method} {target}");
        }
    }
    for target in ["/v1/allocations/?since=0", "/v1/allocations/events/"] {
        assert_eq!(boxes.server.request("HEAD", target, &[], b"").status, 200, "{target}");
    }
}
