//! Names of every kind through every call that takes one.

use serde_json::json;

use super::floor::{floor_with, id};
use crate::suite::writes::desk::component;

const ANYTHING: &str = r##"
[farm]
name = "names"

[[pools]]
name = "a/b c+d?#%"
workers = ["x"]

[[builders]]
match = ""
pool = "a/b c+d?#%"
"##;

#[test]
fn a_name_of_any_kind_goes_through_every_call() {
    let floor = floor_with(ANYTHING, |start| start);
    let pool = "a/b c+d?#%";
    let long = "𝒳".repeat(128);
    for name in [
        "Android armv7 API 11+ b2g-inbound debug build",
        "a/b",
        "/",
        "a/",
        "50%",
        "%2F",
        ".",
        "..",
        "?",
        "#",
        "é",
        "e\u{301}",
        " ",
        "\u{2028}",
        "\\\"",
        &long,
    ] {
        let encoded = component(name);
        let made = floor.ask("PUT", &format!("/v1/workers/{encoded}"), &[], &json!({"pool": pool}).to_string());
        assert_eq!(made.status, 201, "{name}: {made:?}");
        let texts = json!({"builder": name, "branch": name, "project": name, "push": name, "payload": name});
        let job = &floor.submit(&texts)[0];
        assert_eq!((&job["builder"], &job["push"]), (&json!(name), &json!(name)));
        let listed = |query: &str| floor.read(&format!("/v1/jobs?{query}"))["jobs"].as_array().unwrap().len();
        assert_eq!(listed(&format!("builder={encoded}&pool={}", component(pool))), 1, "{name}");
        assert_eq!(listed(&format!("builder={encoded}&state=running")), 0, "{name}");

        let offer = json!({"workers": [name], "session": name, "idempotency_key": name});
        let claim = floor.claim(&offer)[0].clone();
        assert_eq!((&claim["worker"], &claim["job"]["builder"]), (&json!(name), &json!(name)));
        assert_eq!(claim["job"]["payload"], json!(name));
        for target in [format!("/v1/workers/{encoded}"), format!("/v1/workers?name={encoded}")] {
            let running = &floor.read(&target)["running"];
            assert_eq!((&running["job"], &running["session"]), (&job["id"], &json!(name)), "{target}");
        }
        for filter in ["builder", "worker"] {
            let body = json!({filter: name, "reason": name}).to_string();
            let response = floor.ask("POST", "/v1/jobs/requeue?dry_run=true", &[], &body);
            let put_back = &response.json()["jobs"];
            assert_eq!((put_back.as_array().unwrap().len(), &put_back[0]["id"]), (1, &job["id"]), "{filter} {name}");
        }
        assert_eq!(floor.finished(&claim, "success"), "ended");
        assert_eq!(floor.state(id(job)), "ended");
        assert_eq!(floor.ask("DELETE", &format!("/v1/workers/{encoded}"), &[], "").status, 200);
    }
    assert_eq!(floor.read("/v1/pools")["pools"][0]["name"], json!(pool));
}

#[test]
fn what_is_no_name_is_refused_everywhere() {
    let floor = floor_with(ANYTHING, |start| start);
    for name in ["", "\u{0}", "a\nb", "\u{7f}", "\u{85}", &"é".repeat(129)] {
        for (target, body) in [
            ("/v1/jobs", json!({"builder": name})),
            ("/v1/claims", json!({"workers": [name]})),
            ("/v1/jobs/requeue", json!({"builder": name})),
            ("/v1/jobs/requeue", json!({"pool": name})),
            ("/v1/jobs/requeue", json!({"worker": name})),
        ] {
            floor.refused("POST", target, &body.to_string(), (400, "malformed"));
        }
        assert_eq!(floor.read(&format!("/v1/jobs?builder={}", component(name)))["jobs"], json!([]));
    }
}
