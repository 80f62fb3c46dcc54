//! A history, or a blob, taken in as it happened, with a report of every rule that it breaks.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::writes::made;
use crate::adapters::history_file;
use crate::domain::Timestamp;
use crate::domain::allocator::{Command, Fault, Generation};
use crate::http::App;
use crate::http::auth::Call;
use crate::http::negotiate::GENERATION_HEADER;
use crate::http::parameters::{flag, only_parameters};
use crate::http::payload::{discard, read_json};
use crate::http::problem::Problem;
use crate::http::reason;

#[derive(Serialize)]
struct Imported<'a> {
    /// Null when there was nothing to import.
    first: Option<Generation>,
    last: Generation,
    imported: usize,
    broken: Vec<Broken<'a>>,
}

#[derive(Serialize)]
struct Broken<'a> {
    /// Counted from 1.
    line: usize,
    time: Timestamp,
    #[serde(flatten)]
    fault: &'a Fault,
}

/// `POST /v1/allocations/import?strict=&reason=`
pub async fn import(request: HttpRequest, app: web::Data<App>, payload: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &["strict", "reason"])?;
    let strict = flag(&request, "strict")?;
    let reason = reason::parameter(&request)?;
    let parse =
        |body: &[u8]| history_file::parse(body).map_err(|fault| Problem::bad_request("malformed", fault.to_string()));
    // Before so much is read and parsed; the other writes tell what is malformed first.
    let permit = match app.authorize(&request, Call::Import) {
        Ok(permit) => permit,
        Err(problem) => {
            discard(payload, app.max_import_bytes).await;
            return Err(problem);
        }
    };
    let lines = read_json(payload, app.max_import_bytes, parse).await?.into_inner()?;
    let done = app
        .engine
        .submit(permit.command(Command::Import { lines, strict, author: permit.author.clone(), reason }))
        .await?;

    let generations: Vec<_> = made(&done.events).collect();
    let broken = generations
        .iter()
        .enumerate()
        .flat_map(|(at, made)| made.broken.iter().map(move |fault| Broken { line: at + 1, time: made.time, fault }));
    let last = generations.last().map_or(app.views.current().generation(), |made| made.generation);
    let report = Imported {
        first: generations.first().map(|made| made.generation),
        last,
        imported: generations.len(),
        broken: broken.collect(),
    };
    Ok(HttpResponse::Ok().insert_header((GENERATION_HEADER, last.0)).json(report))
}
