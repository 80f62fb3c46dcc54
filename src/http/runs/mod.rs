//! The run history over HTTP: page by page, and as a whole.

mod export;
mod list;

pub use export::export;
pub use list::list;

use actix_web::HttpRequest;

use super::problem::Problem;
use super::target;
use crate::domain::Timestamp;
use crate::ports::Window;

/// `since=` and `until=`.
fn window(request: &HttpRequest) -> Result<Window, Problem> {
    Ok(Window { since: time(request, "since")?, until: time(request, "until")? })
}

fn time(request: &HttpRequest, key: &str) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = target::text_parameter(request, key) else { return Ok(None) };
    let bad = |error| Problem::bad_request("bad_parameter", format!("`{key}`: {error}"));
    Timestamp::parse(&text).map(Some).map_err(bad)
}
