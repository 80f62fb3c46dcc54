//! Who may call what: every call of the table, by everybody who may not make it.

use serde_json::json;

use super::desk::{assert_problem, bearer, desk};

/// Every call that needs a token, with a body of the right form.
pub const CALLS: [(&str, &str, &str); 20] = [
    ("PUT", "/v1/allocations", r#"{"builders":{"Mac a":["mac1"]}}"#),
    ("PUT", "/v1/allocations/?dry_run=true", r#"{"builders":{"Mac a":["mac1"]}}"#),
    ("PATCH", "/v1/allocations", r#"{"set":{"Mac a":["mac1"]}}"#),
    ("PATCH", "/v1/allocations?force=true", r#"{"set":{"Mac a":["mac1"]}}"#),
    ("PUT", "/v1/builders/Mac%20a", r#"{"machines":["mac1"]}"#),
    ("PUT", "/v1/builders?name=Mac%20a", r#"{"machines":["mac1"]}"#),
    ("DELETE", "/v1/builders/Mac%20central", ""),
    ("POST", "/v1/allocations/rollback", r#"{"generation":0}"#),
    ("POST", "/v1/allocations/import", r#"{"set":{"Mac a":["mac1"]}}"#),
    ("POST", "/v1/farm/reload", ""),
    ("POST", "/v1/farm/reload?dry_run=true", ""),
    ("PUT", "/v1/workers/new", r#"{"pool":"mac"}"#),
    ("DELETE", "/v1/workers/new", ""),
    ("POST", "/v1/workers/lin00/drain", ""),
    ("POST", "/v1/workers/lin00/quarantine", r#"{"reason":"disk"}"#),
    ("POST", "/v1/workers/lin00/release/", ""),
    ("POST", "/v1/tokens", r#"{"name":"mine","role":"operator"}"#),
    ("GET", "/v1/tokens", ""),
    ("DELETE", "/v1/tokens/master", ""),
    ("GET", "/v1/audit", ""),
];

#[test]
fn no_call_is_made_without_a_good_token() {
    let boxes = desk();
    boxes.add_token("master");
    let before = boxes.known();
    let good = &boxes.token;
    let (upper, cut, more) = (good.to_uppercase(), &good[..good.len() - 1], format!("{good}0"));
    let headers = [
        "X-No: token".to_owned(),
        "Authorization:".to_owned(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer ".to_owned(),
        format!("Authorization: {good}"),
        format!("Authorization: Basic {good}"),
        format!("Authorization: Token {good}"),
        format!("Authorization: Bearer{good}"),
        format!("Authorization: Bearer \"{good}\""),
        format!("Authorization: Bearer {good},{good}"),
        format!("Authorization: Bearer {upper}"),
        format!("Authorization: Bearer {cut}"),
        format!("Authorization: Bearer {more}"),
        format!("Authorization: Bearer x {good}"),
        "Authorization: Bearer jz_000000000000000000000000000000000000000000000000".to_owned(),
        "Authorization: Bearer é".to_owned(),
        format!("Proxy-Authorization: Bearer {good}"),
        format!("Cookie: token={good}"),
    ];
    for (method, target, body) in CALLS {
        for header in &headers {
            let response = boxes.server.request(method, target, &[header], body.as_bytes());
            let problem = assert_problem(&response, 401, "unauthorized", &format!("{method} {target} {header}"));
            assert!(response.header("www-authenticate").is_some_and(|scheme| scheme.starts_with("Bearer")));
            assert!(!problem.to_string().contains(cut), "{header}: {problem}");
        }
        // A token in the target is no token: a write knows no such parameter, a read does not look at it.
        let mark = if target.contains('?') { '&' } else { '?' };
        let response = boxes.server.request(method, &format!("{target}{mark}token={good}"), &[], body.as_bytes());
        assert_eq!(response.status, if method == "GET" { 401 } else { 400 }, "{method} {target}");
        assert!(!response.text().contains(cut), "{response:?}");
    }
    assert_eq!(boxes.known(), before);
}

#[test]
fn no_call_is_made_by_too_small_a_role() {
    let boxes = desk();
    let tokens = ["worker", "master"].map(|role| (role, bearer(&boxes.add_token(role))));
    let before = boxes.known();
    for (method, target, body) in CALLS {
        for (role, token) in &tokens {
            let response = boxes.server.request(method, target, &[token], body.as_bytes());
            let problem = assert_problem(&response, 403, "forbidden", &format!("{role}: {method} {target}"));
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(role) && detail.contains("operator"), "{detail}");
        }
    }
    assert_eq!(boxes.known(), before);
}

#[test]
fn the_scheme_is_read_in_any_case_and_reads_need_no_token() {
    let boxes = desk();
    for scheme in ["Bearer", "bearer", "BEARER", "Bearer  "] {
        let header = format!("Authorization: {scheme} {}", boxes.token);
        assert_eq!(boxes.server.request("GET", "/v1/audit", &[&header], b"").status, 200, "{scheme}");
    }
    for target in [
        "/v1/builders",
        "/v1/allocations",
        "/v1/allocations?since=0",
        "/v1/allocations/history",
        "/v1/workers",
        "/v1/workers/lin00",
        "/livez",
        "/readyz",
        "/metrics",
        "/openapi.json",
    ] {
        for header in ["X-No: token", "Authorization: Bearer wrong", "Authorization: nonsense"] {
            assert_eq!(boxes.server.request("GET", target, &[header], b"").status, 200, "{target} {header}");
        }
    }
}

#[test]
fn what_has_a_token_has_only_these_methods() {
    let boxes = desk();
    for (method, target) in [
        ("POST", "/v1/allocations"),
        ("DELETE", "/v1/allocations"),
        ("POST", "/v1/builders/Mac%20central"),
        ("PUT", "/v1/machines/mac0"),
        ("DELETE", "/v1/machines/mac0"),
        ("GET", "/v1/allocations/rollback"),
        ("GET", "/v1/farm/reload"),
        ("PUT", "/v1/tokens"),
        ("GET", "/v1/tokens/operator"),
        ("POST", "/v1/tokens/mine"),
        ("POST", "/v1/audit"),
        ("DELETE", "/v1/audit"),
    ] {
        let body = json!({"name": "mine", "role": "operator"}).to_string();
        let response = boxes.ask(method, target, &[], if method == "GET" { "" } else { &body });
        assert_problem(&response, 405, "method_not_allowed", &format!("{method} {target}"));
        assert!(response.header("allow").is_some(), "{response:?}");
    }
}
