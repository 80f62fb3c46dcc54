//! A small farm on which every write is fine, so that only the reads are under test.

use serde_json::Value;

use crate::suite::server::{Home, Server, Start};
use crate::suite::wire::Response;

/// Any builder may have any of ten boxes.
pub const FARM: &str = r#"
[farm]
name = "boxes"

[[pools]]
name = "boxes"
workers = ["box{0..9}"]

[[builders]]
match = '^(?!unknown)'
pool = "boxes"

[allocations]
max_builders_per_machine = 1000
"#;

/// A running server with the token to write to it.
pub struct Boxes {
    // Before its home, which takes the log away.
    pub server: Server,
    pub home: Home,
    pub token: String,
}

impl Boxes {
    pub fn start() -> Self {
        Self::with(FARM, |start| start)
    }

    /// With another farm, or another way to start.
    pub fn with(farm: &str, how: impl FnOnce(Start<'_>) -> Start<'_>) -> Self {
        let home = Home::new(farm);
        let server = how(home.serve()).start();
        let token = home.operator_token();
        Self { server, home, token }
    }

    /// A write, whatever comes of it.
    pub fn try_write(&self, method: &str, target: &str, body: &str) -> Response {
        let token = format!("Authorization: Bearer {}", self.token);
        self.server.request(method, target, &[&token, "Content-Type: application/json"], body.as_bytes())
    }

    /// A write that is accepted; gives its generation.
    pub fn write(&self, method: &str, target: &str, body: &Value) -> u64 {
        let response = self.try_write(method, target, &body.to_string());
        assert_eq!(response.status, 200, "{method} {target} {body}: {response:?}");
        response.json()["generation"].as_u64().unwrap()
    }

    /// The body of a read that is answered 200.
    pub fn read(&self, target: &str) -> Value {
        let response = self.server.get(target);
        assert_eq!(response.status, 200, "{target}: {response:?}");
        response.json()
    }

    pub fn epoch(&self) -> String {
        self.read("/v1/allocations")["epoch"].as_str().unwrap().to_owned()
    }
}
