//! Why a change is made: a key of a body, or a query parameter of a call without one.

use actix_web::HttpRequest;

use serde::Deserialize;

use super::payload::from_json;
use super::problem::Problem;
use super::target;

/// The longest reason that is recorded, in characters.
const MAX_REASON_CHARS: usize = 1000;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Body {
    reason: Option<String>,
}

/// The reason in a body that has nothing else; an empty body gives none.
pub fn in_body(body: &[u8]) -> Result<Option<String>, Problem> {
    let Body { reason } = if body.is_empty() { Body::default() } else { from_json(body)? };
    check(reason.as_deref())?;
    Ok(reason)
}

/// Whether a reason from a body can be recorded.
pub fn check(reason: Option<&str>) -> Result<(), Problem> {
    if reason.is_some_and(|reason| reason.chars().count() > MAX_REASON_CHARS) {
        return Err(Problem::bad_request("malformed", format!("a reason has at most {MAX_REASON_CHARS} characters")));
    }
    Ok(())
}

/// `reason=`
pub fn parameter(request: &HttpRequest) -> Result<Option<String>, Problem> {
    let reason = target::parameter(request, "reason").map(|bytes| String::from_utf8(bytes.into_owned()));
    let reason = reason.transpose();
    let reason = reason.map_err(|error| Problem::bad_request("bad_parameter", format!("`reason` is text: {error}")))?;
    check(reason.as_deref())?;
    Ok(reason)
}
