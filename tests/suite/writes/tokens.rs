//! Tokens from their making to their end, across restarts.

use std::fs;

use serde_json::{Value, json};

use super::desk::{FARM, bearer, desk, desk_with};
use crate::suite::server::Server;

fn names(list: &Value) -> Vec<&str> {
    list["tokens"].as_array().unwrap().iter().map(|token| token["name"].as_str().unwrap()).collect()
}

/// Whether the token may read the audit log.
fn is_good(server: &Server, token: &str) -> bool {
    match server.request("GET", "/v1/audit", &[&bearer(token)], b"").status {
        200 | 403 => true,
        401 => false,
        other => panic!("{other}"),
    }
}

#[test]
fn a_token_is_made_listed_and_revoked() {
    let boxes = desk();
    let made =
        boxes.ask("POST", "/v1/tokens", &[], r#"{"name":"master é/1","role":"master","reason":"for scheduler 1"}"#);
    assert_eq!(
        (made.status, &made.json()["name"], &made.json()["role"]),
        (201, &json!("master é/1"), &json!("master"))
    );
    let token = made.json()["token"].as_str().unwrap().to_owned();
    let list = boxes.look("/v1/tokens");
    assert_eq!(names(&list), ["operator", "master é/1"]);
    let listed = list["tokens"][1].as_object().unwrap();
    assert_eq!(listed.keys().collect::<Vec<_>>(), ["added_at", "added_by", "name", "role"]);
    assert_eq!((&listed["added_by"], listed["added_at"].as_f64().unwrap() > 1.7e9), (&json!("operator"), true));
    assert!(is_good(&boxes.server, &token));

    let again = r#"{"name":"master é/1","role":"operator"}"#;
    boxes.refused("POST", "/v1/tokens", again, (409, "token_exists"));
    for name in ["", "a\nb", &"x".repeat(129)] {
        let body = json!({"name": name, "role": "worker"}).to_string();
        boxes.refused("POST", "/v1/tokens", &body, (422, "bad_name"));
    }
    let revoked = boxes.ask("DELETE", "/v1/tokens/master%20%C3%A9/1?reason=leaked", &[], "");
    assert_eq!((revoked.status, revoked.json()), (200, json!({"name": "master é/1"})));
    assert!(!is_good(&boxes.server, &token));
    boxes.refused("DELETE", "/v1/tokens/master%20%C3%A9/1", "", (404, "no_such_token"));
    let audit = boxes.look("/v1/audit?limit=2");
    let line = |at: usize, key: &str| audit["entries"][at][key].clone();
    assert_eq!((line(0, "action"), line(0, "reason")), (json!("token.revoke"), json!("leaked")));
    assert_eq!((line(1, "action"), line(1, "reason")), (json!("token.add"), json!("for scheduler 1")));
    // The name is free again, and the old token stays bad.
    let made = boxes.ask("POST", "/v1/tokens", &[], again).json();
    assert!(is_good(&boxes.server, made["token"].as_str().unwrap()) && !is_good(&boxes.server, &token));
}

#[test]
fn a_revoked_token_stops_at_once_on_every_connection() {
    let boxes = desk();
    let second = boxes.ask("POST", "/v1/tokens", &[], r#"{"name":"second","role":"operator"}"#).json();
    let second = bearer(second["token"].as_str().unwrap());
    let mut connections: Vec<_> = (0..8).map(|_| boxes.server.connect()).collect();
    let mut write = |at: usize| {
        let head =
            format!("PATCH /v1/allocations HTTP/1.1\r\nHost: localhost\r\n{second}\r\nContent-Length: 2\r\n\r\n{{}}");
        connections[at].send(head.as_bytes());
        connections[at].receive("PATCH").status
    };
    assert!((0..8).all(|at| write(at) == 200));
    // One of them has sent half of a write by then.
    let mut half = boxes.server.connect();
    half.send(
        format!("PATCH /v1/allocations HTTP/1.1\r\nHost: localhost\r\n{second}\r\nContent-Length: 2\r\n\r\n{{")
            .as_bytes(),
    );
    assert_eq!(boxes.ask("DELETE", "/v1/tokens/second", &[], "").status, 200);
    assert!((0..8).all(|at| write(at) == 401));
    half.send(b"}");
    assert_eq!(half.receive("PATCH").status, 401);
    assert_eq!(boxes.read("/v1/allocations")["generation"], json!(9));
}

#[test]
fn the_last_operator_cannot_be_revoked() {
    let boxes = desk();
    boxes.add_token("master");
    boxes.refused("DELETE", "/v1/tokens/operator", "", (409, "last_operator"));
    let second = boxes.ask("POST", "/v1/tokens", &[], r#"{"name":"second","role":"operator"}"#).json();
    // Also by itself.
    assert_eq!(boxes.ask("DELETE", "/v1/tokens/operator", &[], "").status, 200);
    let second = bearer(second["token"].as_str().unwrap());
    assert_eq!(boxes.ask("DELETE", "/v1/tokens/second", &[], "").status, 401);
    assert_eq!(boxes.server.request("DELETE", "/v1/tokens/second", &[&second], b"").status, 409);
}

#[test]
fn a_restart_keeps_tokens_as_they_were() {
    let boxes = desk_with(FARM, |start| start);
    let (first, master) = (boxes.token.clone(), boxes.add_token("master"));
    let second = boxes.ask("POST", "/v1/tokens", &[], r#"{"name":"second","role":"operator"}"#).json();
    let second = second["token"].as_str().unwrap().to_owned();
    let second_revokes = bearer(&second);
    let revoked = boxes.server.request("DELETE", "/v1/tokens/operator", &[&second_revokes], b"");
    assert_eq!(revoked.status, 200);
    let before = boxes.server.request("GET", "/v1/tokens", &[&second_revokes], b"").json();
    assert_eq!(names(&before), ["master", "second"]);
    let (home, mut server) = (boxes.home, boxes.server);
    // From the journal, then from a snapshot.
    for kill in [true, false] {
        if kill {
            server.kill9();
        } else {
            assert!(server.stop().success());
        }
        server = home.start();
        assert_eq!(home.operator_token(), first, "the file is as it was");
        assert!(!is_good(&server, &first), "revoked is revoked");
        assert!(is_good(&server, &master) && is_good(&server, &second));
        assert_eq!(server.request("GET", "/v1/tokens", &[&second_revokes], b"").json(), before);
        assert!(home.log().contains("operator.token is not good any more"), "{}", home.log());
    }
    // Whoever may write to the folder may become an operator again.
    fs::remove_file(home.data_dir().join("operator.token")).unwrap();
    assert!(server.stop().success());
    let server = home.start();
    let fresh = home.operator_token();
    assert_ne!(fresh, first);
    assert!(is_good(&server, &fresh) && !is_good(&server, &first) && is_good(&server, &second));
    let list = server.request("GET", "/v1/tokens", &[&bearer(&fresh)], b"").json();
    assert_eq!(names(&list), ["master", "second", "operator"]);
}

#[test]
fn without_its_file_the_operator_gets_another_token_and_the_old_one_stops() {
    for empty in [false, true] {
        let boxes = desk();
        let (home, old) = (boxes.home, boxes.token);
        boxes.server.kill9();
        let file = home.data_dir().join("operator.token");
        if empty {
            fs::write(&file, " \n").unwrap();
        } else {
            fs::remove_file(&file).unwrap();
        }
        let server = home.start();
        let fresh = home.operator_token();
        assert!(fresh != old && is_good(&server, &fresh) && !is_good(&server, &old));
        let list = server.request("GET", "/v1/tokens", &[&bearer(&fresh)], b"").json();
        assert_eq!(names(&list), ["operator"]);
    }
}
