//! A farm with idle workers, and short ways to submit, claim and finish.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::suite::reads::boxes::Boxes;
use crate::suite::server::Start;
use crate::suite::wire::{Connection, Response};
use crate::suite::writes::desk::{assert_problem, bearer};

pub const FARM: &str = r#"
[farm]
name = "floor"
default_priority = 5

[[pools]]
name = "linux"
workers = ["w{1..9}"]

[[pools]]
name = "mac"
workers = ["m{1..3}"]
class = "spot"

[[branches]]
name = "main"
priority = 3

[[builders]]
match = '^linux '
pool = "linux"

[[builders]]
match = '^mac '
pool = "mac"
class = "release"
"#;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

pub fn floor() -> Boxes {
    floor_with(FARM, |start| start)
}

pub fn floor_with(farm: &str, how: impl FnOnce(Start<'_>) -> Start<'_>) -> Boxes {
    Boxes::with(farm, |start| {
        let start = start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "100000");
        how(start.env("JACUZZI__LIMITS__READS_PER_SECOND", "100000"))
    })
}

/// Waits until it is so.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what} did not come about");
        std::thread::yield_now();
    }
}

/// The text of an id.
pub fn id(of: &Value) -> &str {
    of["id"].as_str().unwrap_or_else(|| panic!("no id: {of}"))
}

pub fn ids(of: &[Value]) -> Vec<&str> {
    of.iter().map(id).collect()
}

impl Boxes {
    /// Jobs that are accepted; a job or a list of them.
    #[track_caller]
    pub fn submit(&self, jobs: &Value) -> Vec<Value> {
        let response = self.ask("POST", "/v1/jobs", &[], &jobs.to_string());
        assert_eq!(response.status, 201, "{jobs}: {response:?}");
        response.json()["jobs"].as_array().unwrap().clone()
    }

    /// One accepted job of this builder; gives its id.
    #[track_caller]
    pub fn submit_one(&self, builder: &str) -> String {
        id(&self.submit(&json!({"builder": builder}))[0]).to_owned()
    }

    /// What a claim call gets; nothing when it is answered 204.
    #[track_caller]
    pub fn claim(&self, offer: &Value) -> Vec<Value> {
        claims(&self.ask("POST", "/v1/claims", &[], &offer.to_string()))
    }

    /// The job that one worker gets.
    #[track_caller]
    pub fn claim_one(&self, worker: &str) -> Value {
        let claims = self.claim(&json!({"workers": [worker]}));
        assert_eq!(claims.len(), 1, "{claims:?}");
        claims[0].clone()
    }

    pub fn heartbeat(&self, claim: &Value) -> Response {
        let body = json!({"token": claim["token"]}).to_string();
        self.ask("POST", &format!("/v1/claims/{}/heartbeat", id(claim)), &[], &body)
    }

    pub fn finish(&self, claim: &Value, result: &str) -> Response {
        let body = json!({"token": claim["token"], "result": result}).to_string();
        self.ask("POST", &format!("/v1/claims/{}/finish", id(claim)), &[], &body)
    }

    /// A run that ends like that; gives what becomes of the job.
    #[track_caller]
    pub fn finished(&self, claim: &Value, result: &str) -> String {
        let response = self.finish(claim, result);
        assert_eq!(response.status, 200, "{response:?}");
        let answer = response.json();
        assert_eq!(
            (&answer["id"], &answer["job"], &answer["result"]),
            (&claim["id"], &claim["job"]["id"], &json!(result))
        );
        answer["next"].as_str().unwrap().to_owned()
    }

    /// `pending`, `running` or `ended`.
    #[track_caller]
    pub fn state(&self, job: &str) -> String {
        self.read(&format!("/v1/jobs/{job}"))["state"].as_str().unwrap().to_owned()
    }

    /// A claim call that has not been answered yet.
    pub fn open_claim(&self, offer: &Value) -> Connection {
        let mut connection = self.server.connect();
        let (token, body) = (bearer(&self.token), offer.to_string());
        let head = format!("POST /v1/claims HTTP/1.1\r\nHost: localhost\r\n{token}\r\nContent-Length: {}", body.len());
        connection.send(format!("{head}\r\n\r\n{body}").as_bytes());
        connection
    }

    /// Whether a call that has not been answered offers this worker.
    pub fn is_offered(&self, worker: &str) -> bool {
        let probe = json!({"workers": [worker], "session": "probe"}).to_string();
        match self.ask("POST", "/v1/claims", &[], &probe) {
            response if response.status == 204 => false,
            response => {
                assert_problem(&response, 409, "offered_elsewhere", worker);
                true
            }
        }
    }

    #[track_caller]
    pub fn wait_until_offered(&self, worker: &str) {
        until("the offer", || self.is_offered(worker));
    }
}

#[track_caller]
pub fn claims(response: &Response) -> Vec<Value> {
    if response.status == 204 {
        return Vec::new();
    }
    assert_eq!(response.status, 200, "{response:?}");
    let claims = response.json()["claims"].as_array().unwrap().clone();
    assert!(!claims.is_empty(), "{response:?}");
    claims
}
