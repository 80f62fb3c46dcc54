//! Parameters of lists that come page by page.

use actix_web::HttpRequest;

use super::problem::Problem;
use super::target;

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;

/// `limit=`: entries on a page.
pub fn limit(request: &HttpRequest) -> Result<usize, Problem> {
    let Some(text) = target::text_parameter(request, "limit") else { return Ok(DEFAULT_LIMIT) };
    let limit = target::whole_number(&text).and_then(|limit| limit.try_into().ok());
    limit.filter(|limit| (1..=MAX_LIMIT).contains(limit)).ok_or_else(|| {
        Problem::bad_request("bad_parameter", format!("`limit` is 1 to {MAX_LIMIT} entries a page, not {text:?}"))
    })
}

/// A whole number in a parameter.
pub fn number(request: &HttpRequest, key: &str) -> Result<Option<u64>, Problem> {
    let Some(text) = target::text_parameter(request, key) else { return Ok(None) };
    let number = target::whole_number(&text);
    let bad = || Problem::bad_request("bad_parameter", format!("`{key}` is a whole number, not {text:?}"));
    Ok(Some(number.ok_or_else(bad)?))
}
