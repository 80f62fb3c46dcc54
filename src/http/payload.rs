//! Request bodies, up to a limit.

use actix_web::web;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

use super::problem::Problem;

/// A body beyond the limit is read on to so many times the limit, so that the
/// client gets to see the answer and not a broken connection.
const DRAIN: u64 = 4;

pub enum Payload {
    Whole(Bytes),
    TooLarge,
}

/// Reads a body to its end, and keeps it if it is within `limit` bytes.
pub async fn read(mut payload: web::Payload, limit: u64) -> Result<Payload, Problem> {
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
