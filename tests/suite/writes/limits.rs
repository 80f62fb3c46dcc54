//! Rate limits: by token where there is one, else by address; plain reads have none.

use super::desk::{FARM, bearer};
use crate::suite::reads::boxes::Boxes;

/// How many of 20 such requests in a row were told to slow down.
fn slowed(boxes: &Boxes, header: &str, method: &str, target: &str, body: &str) -> usize {
    let slowed = |_: &usize| {
        let response = boxes.server.request(method, target, &[header], body.as_bytes());
        assert_eq!(response.header("retry-after").is_some(), response.status == 429, "{response:?}");
        if response.status == 429 {
            assert_eq!(response.json()["code"], "too_many_requests");
        }
        response.status == 429
    };
    (0..20).filter(slowed).count()
}

#[test]
fn each_token_has_writes_of_its_own() {
    let boxes = Boxes::with(FARM, |start| start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "3"));
    let operator = bearer(&boxes.token);
    let second = boxes.try_write("POST", "/v1/tokens", r#"{"name":"second","role":"operator"}"#).json();
    let master = boxes.try_write("POST", "/v1/tokens", r#"{"name":"master","role":"master"}"#).json();
    let [second, master] = [second, master].map(|made| bearer(made["token"].as_str().unwrap()));
    assert!(slowed(&boxes, &operator, "PATCH", "/v1/allocations", "{}") >= 10);
    // Others are not its fault: neither another token, nor who has none.
    let one = |header: &str| boxes.server.request("PATCH", "/v1/allocations", &[header], b"{}").status;
    assert_eq!((one(&second), one(&master), one("X-No: token")), (200, 403, 401));
    assert!(
        slowed(&boxes, &operator, "DELETE", "/v1/builders/none", "") >= 10,
        "writes of every kind are counted together"
    );
    for (method, target, body) in super::identity::CALLS {
        if method != "GET" {
            assert!(slowed(&boxes, &operator, method, target, body) >= 10, "{method} {target}");
        }
    }
    // Guessing is slowed down, whatever is guessed.
    assert!((0..20).filter(|at| one(&format!("Authorization: Bearer guess{at}")) == 429).count() >= 10);
    for target in
        ["/v1/builders", "/v1/machines/mac0", "/v1/allocated/all", "/v1/allocations", "/v1/allocations?since=0"]
    {
        assert_eq!(slowed(&boxes, &operator, "GET", target, ""), 0, "{target}");
    }
}

#[test]
fn reads_that_do_work_are_counted_too_and_plain_ones_never() {
    let boxes = Boxes::with(FARM, |start| start.env("JACUZZI__LIMITS__READS_PER_SECOND", "3"));
    let operator = bearer(&boxes.token);
    for target in [
        "/v1/audit",
        "/v1/tokens",
        "/v1/workers",
        "/v1/workers/lin00",
        "/v1/allocations/history",
        "/v1/allocations?since=0",
    ] {
        for header in [operator.as_str(), "Authorization: Bearer guess"] {
            assert!(slowed(&boxes, header, "GET", target, "") >= 10, "{target} {header}");
        }
    }
    for target in
        ["/v1/builders", "/v1/builders/x", "/v1/machines", "/v1/machines/mac0", "/v1/allocated/all", "/v1/allocations"]
    {
        assert_eq!(slowed(&boxes, &operator, "GET", target, ""), 0, "{target}");
    }
    assert_eq!(slowed(&boxes, &operator, "PATCH", "/v1/allocations", "{}"), 0);
}
