//! Request bodies, up to a limit.

use std::future::ready;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// A body beyond the limit is read on to so many times the limit, so that the
/// client gets to see the answer and not a broken connection.
const DRAIN: u64 = 4;

/// How long a body may take to come in.
const PATIENCE: Duration = Duration::from_secs(120);

enum Payload {
    Whole(Bytes),
    TooLarge,
}

/// Reads a body to its end, and keeps it if it is within `limit` bytes.
async fn read(payload: web::Payload, limit: u64) -> Result<Payload, Problem> {
    tokio::time::timeout(PATIENCE, collect(payload, limit)).await.map_err(|_| {
        let detail = format!("the body was not there within {} s", PATIENCE.as_secs());
        Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
    })?
}

/// Reads a body that nobody wants, so that its sender gets to see the answer.
pub async fn discard(payload: web::Payload, limit: u64) {
    let mut length = 0;
    let rest = payload.take_while(|chunk| {
        length += chunk.as_ref().map_or(u64::MAX / 2, |chunk| chunk.len() as u64);
        ready(length <= limit)
    });
    tokio::time::timeout(PATIENCE, rest.for_each(|_| ready(()))).await.ok();
}

async fn collect(mut payload: web::Payload, limit: u64) -> Result<Payload, Problem> {
    let mut body = BytesMut::new();
    let mut length = 0u64;
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| Problem::bad_request("malformed", format!("the body broke off: {error}")))?;
        length += chunk.len() as u64;
        if length <= limit {
            body.extend_from_slice(&chunk);
        } else if length > limit.saturating_mul(DRAIN) {
            break;
        }
    }
    Ok(if length > limit { Payload::TooLarge } else { Payload::Whole(body.freeze()) })
}

/// Reads a JSON body, which is an object; what it says is wrong names the place.
pub fn from_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    from_object(body)
        .map_err(|error| Problem::bad_request("malformed", format!("the body is not as it should be: {error}")))
}

/// Reads a JSON object, or says what is wrong and where.
pub fn from_object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, String> {
    // A list of the right values, in order, would be read as the object.
    if json.trim_ascii_start().first() == Some(&b'[') {
        return Err("a JSON object is expected, not a list".to_owned());
    }
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

/// A parsed body, or what is only told after who is calling has been checked,
/// such as that it was too large.
pub struct Parsed<T>(Result<T, Problem>);

impl<T> Parsed<T> {
    pub fn new(parsed: Result<T, Problem>) -> Self {
        Self(parsed)
    }

    pub fn into_inner(self) -> Result<T, Problem> {
        self.0
    }
}

/// Reads a body and parses it; what is malformed is told at once.
pub async fn read_json<T>(
    payload: web::Payload,
    limit: u64,
    parse: impl FnOnce(&[u8]) -> Result<T, Problem>,
) -> Result<Parsed<T>, Problem> {
    match read(payload, limit).await? {
        Payload::Whole(body) => Ok(Parsed(Ok(parse(&body)?))),
        Payload::TooLarge => Ok(Parsed(Err(too_large(limit)))),
    }
}

fn too_large(limit: u64) -> Problem {
    let detail =
        format!("the body is larger than {limit} bytes; the setting that limits it is in the section [server]");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
}
