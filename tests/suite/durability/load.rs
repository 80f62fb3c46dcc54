//! Writers that never rest, and remember every word that they said and heard.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

use super::intent::{Ask, Intent};
use crate::suite::dice::Dice;
use crate::suite::server::{Home, Server, Start};

/// Builders of their own for each writer, and machines too, so that no write breaks a rule.
pub const FARM: &str = r#"
[farm]
name = "small"

[[pools]]
name = "linux"
workers = ["w-{00..79}"]

[[builders]]
match = '^build '
pool = "linux"

[allocations]
max_builders_per_machine = 4
max_shrink_percent = 100
keep_generations = 2000
"#;

const WRITERS: u64 = 6;

/// How long a writer waits for one answer, and a test for one write: longer than a busy disk may stall.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server without rate limits, that takes a snapshot after so many records.
pub fn serve(home: &Home, snapshot_every: u32) -> Start<'_> {
    home.serve()
        .env("JACUZZI__LIMITS__WRITES_PER_SECOND", "1000000")
        .env("JACUZZI__LIMITS__READS_PER_SECOND", "1000000")
        .env("JACUZZI__DATA__SNAPSHOT_EVERY", snapshot_every.to_string())
}

/// What came back.
#[derive(Debug, Clone)]
pub enum Heard {
    /// What it made: a delta, a worker, a token.
    Made(Value),
    /// A refusal: its status, `Retry-After`, media type and body.
    Refused { status: u16, retry_after: Option<String>, media_type: String, body: Value },
    /// The connection broke.
    Nothing,
}

/// A write and its answer.
#[derive(Debug, Clone)]
pub struct Said {
    pub intent: Intent,
    pub heard: Heard,
}

impl Said {
    pub fn is_made(&self) -> bool {
        matches!(self.heard, Heard::Made(_))
    }

    /// Whether it was told that what it was to change is not there, or is there already.
    pub fn is_refused_lawfully(&self) -> bool {
        let Heard::Refused { status, body, .. } = &self.heard else { return false };
        self.intent.ask.lawful_refusal().is_some_and(|(lawful, code)| *status == lawful && body["code"] == code)
    }

    /// The generation that was made, if any.
    pub fn generation(&self) -> Option<u64> {
        match &self.heard {
            Heard::Made(made) if self.intent.ask.makes_a_generation() => made["generation"].as_u64(),
            Heard::Made(_) | Heard::Refused { .. } | Heard::Nothing => None,
        }
    }
}

/// A client with the operator's token.
pub struct Client {
    agent: Agent,
    url: String,
    token: String,
}

impl Client {
    pub fn new(home: &Home, server: &Server) -> Self {
        let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build();
        Self { agent: config.into(), url: server.url(), token: home.operator_token() }
    }

    /// One write; never panics over what the server does.
    pub fn write(&self, method: &str, target: &str, body: &[u8]) -> Heard {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{target}", self.url))
            .header("Authorization", format!("Bearer {}", self.token));
        let answer = match body {
            [] => self.agent.run(request.body(()).unwrap()),
            body => self.agent.run(request.body(body).unwrap()),
        };
        let Ok(mut answer) = answer else { return Heard::Nothing };
        let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (retry_after, media_type) = (header("retry-after"), header("content-type").unwrap_or_default());
        let Ok(text) = answer.body_mut().read_to_vec() else { return Heard::Nothing };
        let body = serde_json::from_slice(&text).unwrap_or(Value::Null);
        match answer.status().as_u16() {
            200 | 201 => Heard::Made(body),
            status => Heard::Refused { status, retry_after, media_type, body },
        }
    }

    pub fn say(&self, intent: Intent) -> Said {
        let call = intent.call();
        let body = call.body.map(|body| body.to_string()).unwrap_or_default();
        let heard = self.write(call.method, &call.target, body.as_bytes());
        Said { intent, heard }
    }

    /// So many patches by one writer, each of which must be accepted.
    pub fn write_generations(&self, tag: &str, count: u64) -> Vec<Said> {
        let mut dice = Dice::loaded();
        let writes = (0..count).map(|number| {
            let reason = format!("{tag}-{number}");
            self.say(Intent { reason, ask: Ask::patch(0, &mut dice) })
        });
        let said: Vec<_> = writes.collect();
        assert!(said.iter().all(Said::is_made), "{said:#?}");
        said
    }
}

/// Writers at work on one server.
pub struct Writers {
    threads: Vec<JoinHandle<Vec<Said>>>,
    accepted: mpsc::Receiver<()>,
    enough: Arc<AtomicBool>,
}

impl Writers {
    /// Each makes writes of every kind until one is neither accepted nor lawfully refused, or [`stop`](Self::stop).
    /// No two rounds of a test may have the same tag.
    pub fn start(home: &Home, server: &Server, tag: &str, dice: &mut Dice) -> Self {
        let (accept, accepted) = mpsc::channel();
        let enough = Arc::new(AtomicBool::new(false));
        let threads = (0..WRITERS).map(|writer| {
            let (client, accept, enough) = (Client::new(home, server), accept.clone(), enough.clone());
            let (mut dice, tag) = (dice.split(), tag.to_owned());
            thread::spawn(move || {
                let (mut all, mut newest) = (Vec::new(), None);
                while !enough.load(Ordering::Relaxed) {
                    let reason = format!("{tag}-{writer}-{}", all.len());
                    let said = client.say(Intent { reason, ask: Ask::any(writer, newest, &mut dice) });
                    newest = said.generation().or(newest);
                    let (made, refused) = (said.is_made(), said.is_refused_lawfully());
                    all.push(said);
                    if made {
                        accept.send(()).ok();
                    } else if !refused {
                        break;
                    }
                }
                all
            })
        });
        Self { threads: threads.collect(), accepted, enough }
    }

    /// Waits for so many acceptances, and then for a moment more.
    pub fn wait(&self, accepted: u64, then: Duration) {
        for number in 0..accepted {
            let next = self.accepted.recv_timeout(PATIENCE);
            next.unwrap_or_else(|error| panic!("no write was accepted after {number} had been: {error}"));
        }
        let until = std::time::Instant::now() + then;
        while self.accepted.recv_timeout(until.saturating_duration_since(std::time::Instant::now())).is_ok() {}
    }

    /// Waits until each of them has ended.
    pub fn join(self) -> Vec<Said> {
        self.threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    }

    /// Has them end after the write that each is at.
    pub fn stop(self) -> Vec<Said> {
        self.enough.store(true, Ordering::Relaxed);
        self.join()
    }
}
