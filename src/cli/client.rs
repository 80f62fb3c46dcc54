//! The HTTP client of all commands: one request, and an answer or an error that a person can act on.

use std::error::Error as StdError;
use std::fmt;
use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use ureq::http::{Response, header};
use ureq::typestate::WithBody;
use ureq::{Agent, Body, RequestBuilder, Timeout};

use super::credentials::{self, NoToken};
use super::globals::{Globals, ServerUrl};
use super::print::printable;
use super::target::Target;
use super::trust;
use crate::domain::allocator::Fault;

/// A server that is there takes a connection at once.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// For a read, beyond the time that it asks the server to wait.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// For a write: the longest is an import of many thousands of generations.
const WRITE_LIMIT: Duration = Duration::from_secs(600);

/// Several times the blob of a farm of 100,000 workers.
const MAX_ANSWER_BYTES: u64 = 256 * 1024 * 1024;

/// So much of a long answer is in memory.
const PIECE_BYTES: usize = 64 * 1024;

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

impl ClientFault {
    /// The status of an answer that is no success.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::NotFound(problem) | Self::Refused(problem) => Some(problem.status),
            Self::Unreachable { .. } | Self::Interrupted { .. } | Self::Unclear(_) | Self::NoToken(_) => None,
        }
    }

    /// The same request may well succeed later, with nothing changed but the server's state.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Interrupted { .. } => true,
            Self::NotFound(problem) | Self::Refused(problem) => problem.status >= 500 || problem.status == 429,
            Self::Unclear(_) | Self::NoToken(_) => false,
        }
    }
}

/// What the server says about a request that it does not carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    status: u16,
    /// Of a problem document.
    code: Option<String>,
    detail: String,
    /// Every broken rule of a write.
    faults: Vec<Fault>,
}

impl Problem {
    /// The detail says the same as the faults, on one long line.
    fn only_rules(&self) -> bool {
        self.code.as_deref() == Some("rules_broken")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.status >= 500 { "the server cannot answer" } else { "the server refuses" };
        let code = self.code.as_deref().map(|code| format!(", {code}")).unwrap_or_default();
        write!(f, "{what} ({}{code}): ", self.status)?;
        match self.faults.as_slice() {
            [] => f.write_str(&self.detail),
            [fault] if self.only_rules() => f.write_str(&printable(&fault.to_string())),
            faults => {
                if self.only_rules() {
                    write!(f, "{} broken rules", faults.len())?;
                } else {
                    f.write_str(&self.detail)?;
                }
                faults.iter().try_for_each(|fault| write!(f, "\n  {}", printable(&fault.to_string())))
            }
        }
    }
}

/// Speaks to the server that the flags name.
#[derive(Clone)]
pub(super) struct Client {
    globals: Globals,
    agent: Agent,
}

impl Client {
    pub(super) fn new(globals: &Globals) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Farms are inside a network; a proxy for the world outside would only get to see tokens.
            .proxy(None)
            .timeout_connect(Some(CONNECT_LIMIT))
            .tls_config(trust::config(globals))
            .user_agent(concat!("jacuzzi/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { globals: globals.clone(), agent: config.new_agent() }
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

    /// Passes a long answer on as it comes; it may take as long as it goes on coming.
    pub(super) fn download(&self, target: &Target, to: &mut dyn Write) -> anyhow::Result<()> {
        let request = self.agent.get(self.url(target)).config().timeout_recv_response(Some(READ_LIMIT)).build();
        let mut response = request.call().map_err(|error| self.no_answer(error))?;
        if response.status().as_u16() != 200 {
            self.answer(Ok(response))?;
            return Err(ClientFault::Unclear("an empty answer (204)".into()).into());
        }
        let mut from = response.body_mut().as_reader();
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let broken = |source: io::Error| self.interrupted(ureq::Error::Io(source));
            match from.read(&mut piece).map_err(broken)? {
                0 => return Ok(to.flush()?),
                bytes => to.write_all(&piece[..bytes])?,
            }
        }
    }

    /// A read for operators alone.
    pub(super) fn read_with_token(&self, target: &Target) -> Result<Vec<u8>, ClientFault> {
        let request = self.agent.get(self.url(target)).config().timeout_global(Some(READ_LIMIT)).build();
        let answer = self.answer(request.header(header::AUTHORIZATION, self.bearer()?).call())?;
        answer.ok_or_else(|| ClientFault::Unclear("an empty answer (204)".into()))
    }

    /// `body`: as it is, of this media type.
    pub(super) fn post(&self, target: &Target, media_type: &str, body: &[u8]) -> Result<Vec<u8>, ClientFault> {
        self.write(self.agent.post(self.url(target)), media_type, body)
    }

    /// `if_match`: the state that the write is meant for; with another one it is refused (412).
    pub(super) fn post_json(
        &self,
        target: &Target,
        body: &impl Serialize,
        if_match: Option<&str>,
    ) -> Result<Vec<u8>, ClientFault> {
        self.write_json(self.agent.post(self.url(target)), body, if_match)
    }

    /// `if_match`: the state that the write is meant for; with another one it is refused (412).
    pub(super) fn put_json(
        &self,
        target: &Target,
        body: &impl Serialize,
        if_match: Option<&str>,
    ) -> Result<Vec<u8>, ClientFault> {
        self.write_json(self.agent.put(self.url(target)), body, if_match)
    }

    pub(super) fn delete(&self, target: &Target) -> Result<Vec<u8>, ClientFault> {
        let request = self.agent.delete(self.url(target)).config().timeout_global(Some(WRITE_LIMIT)).build();
        let answer = self.answer(request.header(header::AUTHORIZATION, self.bearer()?).call())?;
        answer.ok_or_else(|| ClientFault::Unclear("an empty answer (204)".into()))
    }

    fn write_json(
        &self,
        mut request: RequestBuilder<WithBody>,
        body: &impl Serialize,
        if_match: Option<&str>,
    ) -> Result<Vec<u8>, ClientFault> {
        if let Some(tag) = if_match {
            request = request.header(header::IF_MATCH, tag);
        }
        let body = serde_json::to_vec(body).expect("what commands send is plain data");
        self.write(request, "application/json", &body)
    }

    fn write(&self, request: RequestBuilder<WithBody>, media_type: &str, body: &[u8]) -> Result<Vec<u8>, ClientFault> {
        let request = request.config().timeout_global(Some(WRITE_LIMIT)).build();
        let request = request.header(header::AUTHORIZATION, self.bearer()?).content_type(media_type);
        let answer = self.answer(request.send(body))?;
        answer.ok_or_else(|| ClientFault::Unclear("an empty answer (204)".into()))
    }

    fn bearer(&self) -> Result<String, NoToken> {
        Ok(format!("Bearer {}", credentials::token(&self.globals)?))
    }

    fn url(&self, target: &Target) -> String {
        format!("{}{target}", self.globals.server)
    }

    fn answer(&self, result: Result<Response<Body>, ureq::Error>) -> Result<Option<Vec<u8>>, ClientFault> {
        let mut response = result.map_err(|error| self.no_answer(error))?;
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = body.map_err(|source| self.interrupted(source))?;
        match response.status().as_u16() {
            200 | 201 => Ok(Some(body)),
            204 => Ok(None),
            404 => Err(ClientFault::NotFound(problem(&response, &body))),
            _ => Err(ClientFault::Refused(problem(&response, &body))),
        }
    }

    fn no_answer(&self, source: ureq::Error) -> ClientFault {
        match was_connected(&source) {
            true => self.interrupted(source),
            false => ClientFault::Unreachable { server: self.globals.server.clone(), source },
        }
    }

    fn interrupted(&self, source: ureq::Error) -> ClientFault {
        ClientFault::Interrupted { server: self.globals.server.clone(), source }
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
        #[serde(default)]
        faults: Vec<Fault>,
    }
    let status = response.status().as_u16();
    if let Ok(Document { detail, code, faults }) = serde_json::from_slice(body) {
        return Problem { status, code: code.map(|code| printable(&code)), detail: printable(&detail), faults };
    }
    let moved_to = response.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
    let detail = match moved_to {
        Some(place) => format!("it points to {}; give the server's own address with --server", printable(place)),
        None => {
            let start: String = String::from_utf8_lossy(body).trim().chars().take(CHARS_SHOWN).collect();
            if start.is_empty() { "without a word why".to_owned() } else { printable(&start) }
        }
    };
    Problem { status, code: None, detail, faults: Vec::new() }
}
