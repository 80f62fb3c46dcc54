//! The HTTP client of all commands: one request, and an answer or an error that a person can act on.

use std::error::Error as StdError;
use std::fmt::{self, Write};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use ureq::http::{Response, header};
use ureq::{Agent, Body, Timeout};

use super::credentials::{self, NoToken};
use super::globals::{Globals, ServerUrl};
use super::print::printable;

/// A server that is there takes a connection at once.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// For a read, beyond the time that it asks the server to wait.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// For a write: the longest is an import of many thousands of generations.
const WRITE_LIMIT: Duration = Duration::from_secs(600);

/// Several times the blob of a farm of 100,000 workers.
const MAX_ANSWER_BYTES: u64 = 256 * 1024 * 1024;

/// So much is shown of an answer that explains itself in no known form.
const CHARS_SHOWN: usize = 200;

/// Why a request has no answer.
#[derive(Debug, Error)]
pub enum ClientFault {
    #[error(
        "cannot reach a server at {server} (is it running? `jacuzzi serve` starts one, --server or JACUZZI_SERVER names another)"
    )]
    Unreachable { server: ServerUrl, source: ureq::Error },
    #[error("the server at {server} gave no whole answer (a write may have been done all the same)")]
    Interrupted { server: ServerUrl, source: ureq::Error },
    #[error("{0}")]
    NotFound(Problem),
    #[error("{0}")]
    Refused(Problem),
    #[error("the server's answer is not in the form that this version ({}) reads: are both of the same version?", env!("CARGO_PKG_VERSION"))]
    Unclear(#[source] Box<dyn StdError + Send + Sync>),
    #[error(transparent)]
    NoToken(#[from] NoToken),
}

/// What the server says about a request that it does not carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    status: u16,
    /// Of a problem document.
    code: Option<String>,
    detail: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.status >= 500 { "the server cannot answer" } else { "the server refuses" };
        let code = self.code.as_deref().map(|code| format!(", {code}")).unwrap_or_default();
        write!(f, "{what} ({}{code}): {}", self.status, self.detail)
    }
}

/// Speaks to the server that the flags name.
pub(super) struct Client<'a> {
    globals: &'a Globals,
    agent: Agent,
}

impl<'a> Client<'a> {
    pub(super) fn new(globals: &'a Globals) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Farms are inside a network; a proxy for the world outside would only get to see tokens.
            .proxy(None)
            .timeout_connect(Some(CONNECT_LIMIT))
            .user_agent(concat!("jacuzzi/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { globals, agent: config.new_agent() }
    }

    /// `wait`: how long the server may take because the request asks it to.
    /// `None` is the answer "nothing new" (204).
    pub(super) fn get(&self, target: &Target, wait: Duration) -> Result<Option<Vec<u8>>, ClientFault> {
        let request = self.agent.get(self.url(target)).config().timeout_global(Some(READ_LIMIT + wait)).build();
        self.answer(request.call())
    }

    /// A read that always has something to say.
    pub(super) fn read(&self, target: &Target) -> Result<Vec<u8>, ClientFault> {
        let answer = self.get(target, Duration::ZERO)?;
        answer.ok_or_else(|| ClientFault::Unclear("an empty answer (204)".into()))
    }

    pub(super) fn post(&self, target: &Target, media_type: &str, body: &[u8]) -> Result<Vec<u8>, ClientFault> {
        let token = credentials::token(self.globals)?;
        let request = self.agent.post(self.url(target)).config().timeout_global(Some(WRITE_LIMIT)).build();
        let request = request.header(header::AUTHORIZATION, format!("Bearer {token}")).content_type(media_type);
        let answer = self.answer(request.send(body))?;
        answer.ok_or_else(|| ClientFault::Unclear("an empty answer (204)".into()))
    }

    fn url(&self, target: &Target) -> String {
        format!("{}{}", self.globals.server, target.0)
    }

    fn answer(&self, result: Result<Response<Body>, ureq::Error>) -> Result<Option<Vec<u8>>, ClientFault> {
        let mut response = result.map_err(|error| self.no_answer(error))?;
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = body.map_err(|source| ClientFault::Interrupted { server: self.globals.server.clone(), source })?;
        match response.status().as_u16() {
            200 => Ok(Some(body)),
            204 => Ok(None),
            404 => Err(ClientFault::NotFound(problem(&response, &body))),
            _ => Err(ClientFault::Refused(problem(&response, &body))),
        }
    }

    fn no_answer(&self, source: ureq::Error) -> ClientFault {
        let server = self.globals.server.clone();
        match was_connected(&source) {
            true => ClientFault::Interrupted { server, source },
            false => ClientFault::Unreachable { server, source },
        }
    }
}

/// Whether the request may have got through to a server. An unknown host has
/// no error kind of its own, so it is the broken connections that are listed.
fn was_connected(error: &ureq::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
    let broken = [BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock];
    match error {
        ureq::Error::Io(error) => broken.contains(&error.kind()),
        ureq::Error::Timeout(limit) => !matches!(limit, Timeout::Resolve | Timeout::Connect),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => false,
        _ => true,
    }
}

/// Reads an answer's JSON.
pub(super) fn decode<T: DeserializeOwned>(answer: &[u8]) -> Result<T, ClientFault> {
    serde_json::from_slice(answer).map_err(|error| ClientFault::Unclear(error.into()))
}

fn problem(response: &Response<Body>, body: &[u8]) -> Problem {
    /// RFC 9457, as far as we use it.
    #[derive(Deserialize)]
    struct Document {
        detail: String,
        code: Option<String>,
    }
    let status = response.status().as_u16();
    if let Ok(Document { detail, code }) = serde_json::from_slice(body) {
        return Problem { status, code: code.map(|code| printable(&code)), detail: printable(&detail) };
    }
    let moved_to = response.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
    let detail = match moved_to {
        Some(place) => format!("it points to {}; give the server's own address with --server", printable(place)),
        None => {
            let start: String = String::from_utf8_lossy(body).trim().chars().take(CHARS_SHOWN).collect();
            if start.is_empty() { "without a word why".to_owned() } else { printable(&start) }
        }
    };
    Problem { status, code: None, detail }
}

/// A path below the server's address, with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target(String);

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Target {
    /// `path` as it stands.
    pub(super) fn path(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// One more component; a slash in it is a part of it.
    pub(super) fn component(mut self, name: &str) -> Self {
        self.0.push('/');
        self.push_encoded(name);
        self
    }

    pub(super) fn query(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.0.push(if self.0.contains('?') { '&' } else { '?' });
        self.0 += key;
        self.0.push('=');
        self.push_encoded(&value.to_string());
        self
    }

    /// Percent-encodes everything but RFC 3986's unreserved characters.
    fn push_encoded(&mut self, text: &str) {
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                self.0.push(char::from(byte));
            } else {
                write!(self.0, "%{byte:02X}").expect("a String takes everything");
            }
        }
    }
}
