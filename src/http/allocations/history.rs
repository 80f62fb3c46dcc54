//! The list of generations: who changed how much, when and why.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::delta::generation;
use super::made::Question;
use crate::domain::Farm;
use crate::domain::allocator::{Entry, Generation};
use crate::engine::views::Body;
use crate::http::App;
use crate::http::negotiate::{Version, respond};
use crate::http::paging::limit;
use crate::http::problem::Problem;

/// One page, newest first.
#[derive(Serialize)]
struct Page {
    generations: Vec<HistoryEntry>,
    /// `before` of the next page; null on the last.
    next_before: Option<Generation>,
}

#[derive(Serialize)]
struct HistoryEntry {
    generation: Generation,
    time: crate::domain::Timestamp,
    author: crate::domain::Author,
    reason: Option<String>,
    added: u64,
    removed: u64,
}

/// `GET /v1/allocations/history?limit=&before=`.
pub async fn history(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    let limit = limit(&request)?;
    let before = generation(&request, "before")?;
    app.admit_read(&request)?;
    let view = app.views.current_owned();
    let question = Question::History { limit, before };
    if let Some(body) = app.made.get(view.generation(), question) {
        return Ok(respond(request.headers(), Version::of(&view), |encoding| body.encoded(encoding)));
    }
    let (generation, page) =
        app.engine.ask(move |farm| (farm.allocations.generation(), page(farm, limit, before))).await?;
    let body = serde_json::to_vec(&page).map_err(anyhow::Error::from)?;
    let body = app.made.keep(generation, question, Body::new(body));
    let version = Version { epoch: view.epoch(), since: None, generation };
    Ok(respond(request.headers(), version, |encoding| body.encoded(encoding)))
}

fn page(farm: &Farm, limit: usize, before: Option<Generation>) -> Page {
    let mut entries =
        farm.allocations.entries().skip_while(|entry| before.is_some_and(|before| entry.generation >= before));
    let generations: Vec<_> = entries.by_ref().take(limit).map(HistoryEntry::from).collect();
    let next_before = entries.next().and(generations.last()).map(|entry| entry.generation);
    Page { generations, next_before }
}

impl From<&Entry> for HistoryEntry {
    fn from(entry: &Entry) -> Self {
        Self {
            generation: entry.generation,
            time: entry.time,
            author: entry.author.clone(),
            reason: entry.reason.clone(),
            added: entry.added,
            removed: entry.removed,
        }
    }
}
