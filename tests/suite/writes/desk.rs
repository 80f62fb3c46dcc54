//! Where a test writes from: a small farm with rules, and a look at all that a refused write must leave as it was.

use serde_json::{Value, json};

use crate::suite::reads::boxes::Boxes;
use crate::suite::server::Start;
use crate::suite::wire::Response;

/// Two pools, two isolation groups, two builders a machine.
pub const FARM: &str = r#"
[farm]
name = "desk"

[[pools]]
name = "linux"
workers = ["lin{00..49}"]

[[pools]]
name = "mac"
workers = ["mac{0..9}"]

[[builders]]
match = '^Linux '
pool = "linux"

[[builders]]
match = '^Mac '
pool = "mac"

[allocations]
max_builders_per_machine = 2
isolation_groups = ["central", "inbound"]
"#;

/// What all tests start from: generation 1.
pub fn first() -> Value {
    json!({"Linux central a": ["lin00", "lin01"], "Linux central b": ["lin00"], "Mac central": ["mac0"]})
}

/// The farm with its first generation.
pub fn desk() -> Boxes {
    desk_with(FARM, |start| start)
}

pub fn desk_with(farm: &str, how: impl FnOnce(Start<'_>) -> Start<'_>) -> Boxes {
    let boxes = Boxes::with(farm, |start| how(start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "100000")));
    boxes.write("PUT", "/v1/allocations", &json!({"builders": first()}));
    boxes
}

pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// All that is known of what was ever written.
#[derive(Debug, PartialEq)]
pub struct Known {
    blob: Value,
    history: Value,
    audit: Value,
    workers: Value,
    tokens: Value,
}

impl Boxes {
    /// A request of the operator, with further headers.
    pub fn ask(&self, method: &str, target: &str, headers: &[&str], body: &str) -> Response {
        let token = bearer(&self.token);
        let headers: Vec<&str> = headers.iter().copied().chain([token.as_str()]).collect();
        self.server.request(method, target, &headers, body.as_bytes())
    }

    /// What the operator reads, which is answered 200.
    pub fn look(&self, target: &str) -> Value {
        let response = self.ask("GET", target, &[], "");
        assert_eq!(response.status, 200, "{target}: {response:?}");
        response.json()
    }

    pub fn known(&self) -> Known {
        Known {
            blob: self.look("/v1/allocations"),
            history: self.look("/v1/allocations/history"),
            audit: self.look("/v1/audit"),
            workers: self.look("/v1/workers?limit=1000"),
            tokens: self.look("/v1/tokens"),
        }
    }

    /// A write that is refused in this way and changes nothing; gives the problem.
    pub fn refused(&self, method: &str, target: &str, body: &str, (status, code): (u16, &str)) -> Value {
        let before = self.known();
        let response = self.ask(method, target, &[], body);
        let problem = assert_problem(&response, status, code, &format!("{method} {target} {body}"));
        assert_eq!(self.known(), before, "{method} {target} {body}");
        problem
    }

    /// A write that breaks exactly these rules.
    pub fn broken(&self, method: &str, target: &str, body: &Value, faults: &Value) {
        let problem = self.refused(method, target, &body.to_string(), (422, "rules_broken"));
        assert_eq!(&problem["faults"], faults, "{method} {target} {body}");
    }

    /// A new token of this role, under the role's name.
    pub fn add_token(&self, role: &str) -> String {
        let response = self.ask("POST", "/v1/tokens", &[], &json!({"name": role, "role": role}).to_string());
        assert_eq!(response.status, 201, "{response:?}");
        response.json()["token"].as_str().unwrap().to_owned()
    }
}

/// A problem document with this status and code.
pub fn assert_problem(response: &Response, status: u16, code: &str, what: &str) -> Value {
    assert_eq!(response.status, status, "{what}: {response:?}");
    assert_eq!(response.header("content-type"), Some("application/problem+json"), "{what}: {response:?}");
    let problem = response.json();
    assert_eq!((&problem["code"], &problem["status"]), (&json!(code), &json!(status)), "{what}: {problem}");
    assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{what}: {problem}");
    problem
}

/// A name as a component of a path.
pub fn component(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
