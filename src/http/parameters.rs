//! Query parameters of calls that change something: a slip in one is an error, and never a change that nobody meant.

use std::collections::BTreeSet;

use actix_web::HttpRequest;

use super::problem::Problem;
use super::target;

/// Refuses parameters that the call does not have (`dryrun=true` would do what
/// was only to be tried), and those that are given twice.
pub fn only_parameters(request: &HttpRequest, known: &[&str]) -> Result<(), Problem> {
    let mut given = BTreeSet::new();
    for key in target::parameter_keys(request) {
        let shown = String::from_utf8_lossy(&key).into_owned();
        if !known.contains(&shown.as_str()) {
            let those = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let detail = format!("this call has no parameter {shown:?}; those that it has: {those}");
            return Err(Problem::bad_request("bad_parameter", detail));
        }
        if !given.insert(shown.clone()) {
            return Err(Problem::bad_request("bad_parameter", format!("`{shown}` is given twice")));
        }
    }
    Ok(())
}

/// A query parameter that is `true` or `false`.
pub fn flag(request: &HttpRequest, key: &str) -> Result<bool, Problem> {
    match target::text_parameter(request, key).as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => Err(Problem::bad_request("bad_parameter", format!("`{key}` is true or false, not {other:?}"))),
    }
}
