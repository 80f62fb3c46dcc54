//! When several things are wrong with a write, which of them is told: 400, 401, 403, 412, 413, 422.

use serde_json::json;

use super::desk::{FARM, assert_problem, bearer, desk_with};

#[test]
fn the_checks_come_in_one_order() {
    let boxes = desk_with(FARM, |start| start.env("JACUZZI__SERVER__MAX_BODY_BYTES", "1024"));
    let master = bearer(&boxes.add_token("master"));
    let operator = bearer(&boxes.token);
    let wrong = bearer("jz_wrong");
    let stale = "If-Match: \"stale\"";
    let large = format!("{{{}", " ".repeat(2000));
    let broken = json!({"set": {"none": []}}).to_string();
    let ask = |method: &str, target: &str, headers: &[&str], body: &str, (status, code): (u16, &str)| {
        let response = boxes.server.request(method, target, headers, body.as_bytes());
        assert_problem(&response, status, code, &format!("{method} {target} {headers:?} {:.40}", body));
    };
    let before = boxes.known();
    let patch = |headers: &[&str], body: &str, refusal: (u16, &str)| {
        ask("PATCH", "/v1/allocations", headers, body, refusal);
        ask("PATCH", "/v1/allocations?dry_run=true", headers, body, refusal);
    };
    patch(&[stale], "{", (400, "malformed"));
    patch(&[&wrong, stale], &broken, (401, "unauthorized"));
    patch(&[stale], &broken, (401, "unauthorized"));
    patch(&[stale], &large, (401, "unauthorized"));
    patch(&[&master, stale], "{", (400, "malformed"));
    patch(&[&master, stale], &large, (403, "forbidden"));
    patch(&[&master, stale], &broken, (403, "forbidden"));
    patch(&[&operator, stale], &large, (412, "generation_changed"));
    patch(&[&operator, stale], &broken, (412, "generation_changed"));
    patch(&[&operator], &large, (413, "too_large"));
    patch(&[&operator], &broken, (422, "rules_broken"));

    for (method, target, body, (status, code)) in [
        ("DELETE", "/v1/builders/none", "", (404, "not_allocated")),
        ("DELETE", "/v1/builders/%00", "", (404, "not_allocated")),
        ("POST", "/v1/allocations/rollback", "{\"generation\":7}", (410, "generation_not_kept")),
        ("PUT", "/v1/builders/%00", "{\"machines\":[]}", (422, "rules_broken")),
    ] {
        ask(method, target, &[stale], body, (401, "unauthorized"));
        ask(method, target, &[&wrong], body, (401, "unauthorized"));
        ask(method, target, &[&master, stale], body, (403, "forbidden"));
        ask(method, target, &[&operator, stale], body, (412, "generation_changed"));
        ask(method, target, &[&operator], body, (status, code));
        ask(method, &format!("{target}?dry_run=2"), &[stale], body, (400, "bad_parameter"));
    }
    for (method, target, body, refusal) in [
        ("PUT", "/v1/workers/%00", "{\"pool\":\"mac\"}", (422, "bad_name")),
        ("PUT", "/v1/workers/lin00", "{\"pool\":\"linux\"}", (409, "in_farm_file")),
        ("PUT", "/v1/workers/new", "{\"pool\":\"none\"}", (422, "no_such_pool")),
        ("PUT", "/v1/workers/new", &large, (413, "too_large")),
        ("DELETE", "/v1/workers/none", "", (404, "no_such_worker")),
        ("DELETE", "/v1/workers/%00", "", (404, "no_such_worker")),
        ("POST", "/v1/workers/none/drain", "", (404, "no_such_worker")),
        ("POST", "/v1/tokens", "{\"name\":\"\",\"role\":\"worker\"}", (422, "bad_name")),
        ("POST", "/v1/tokens", &large, (413, "too_large")),
        ("DELETE", "/v1/tokens/none", "", (404, "no_such_token")),
        ("DELETE", "/v1/tokens/%00", "", (404, "no_such_token")),
        ("DELETE", "/v1/tokens/operator", "", (409, "last_operator")),
    ] {
        ask(method, target, &[], body, (401, "unauthorized"));
        ask(method, target, &[&master], body, (403, "forbidden"));
        ask(method, target, &[&operator], body, refusal);
    }
    assert_eq!(boxes.known(), before);
}
