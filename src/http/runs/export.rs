//! The history as a file, oldest first, read a piece at a time while the client takes it.

use std::sync::Arc;

use actix_web::http::{Method, header};
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::OwnedSemaphorePermit;

use super::window;
use crate::adapters::runs_file::{Form, Line};
use crate::http::App;
use crate::http::problem::Problem;
use crate::http::target;
use crate::ports::{Fault, PastRun, Runs, Window};

/// Rows in memory for one client.
const ROWS_AT_ONCE: usize = 1000;

/// `GET /v1/runs/export?format=&since=&until=`
pub async fn export(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    let form = form(&request)?;
    let ended = window(&request)?;
    let place = app.limits.stream()?;
    let mut response = HttpResponse::Ok();
    response.content_type(match form {
        Form::Csv => "text/csv; charset=utf-8",
        Form::JsonLines => "application/x-ndjson",
    });
    response.insert_header((header::CACHE_CONTROL, "no-store"));
    if request.method() == Method::HEAD {
        return Ok(response.finish());
    }
    let runs = app.runs.clone();
    let export = Export { runs, form, ended, next: Next::Heading, _place: place };
    // A history that cannot be read at all is a problem document, not a file that breaks off.
    let first = export.piece().await?;
    let pieces = stream::unfold(first, |piece| async {
        let (bytes, export) = piece?;
        match export.piece().await {
            Ok(next) => Some((Ok(bytes), next)),
            Err(fault) => Some((Err(fault), None)),
        }
    });
    Ok(response.streaming(pieces))
}

fn form(request: &HttpRequest) -> Result<Form, Problem> {
    match target::text_parameter(request, "format").as_deref() {
        None | Some("csv") => Ok(Form::Csv),
        Some("jsonl") => Ok(Form::JsonLines),
        Some(other) => Err(Problem::bad_request("bad_parameter", format!("`format` is csv or jsonl, not {other:?}"))),
    }
}

struct Export {
    runs: Arc<dyn Runs>,
    form: Form,
    ended: Window,
    next: Next,
    _place: OwnedSemaphorePermit,
}

enum Next {
    Heading,
    Behind(Box<PastRun>),
    Nothing,
}

impl Export {
    /// The next rows as they stand in the file; `None` behind the last.
    async fn piece(self) -> Result<Option<(Bytes, Self)>, Fault> {
        web::block(move || self.read()).await?
    }

    fn read(mut self) -> Result<Option<(Bytes, Self)>, Fault> {
        let (mut text, after) = match &self.next {
            Next::Heading => (self.form.heading().into_bytes(), None),
            Next::Behind(run) => (Vec::new(), Some(run.as_ref())),
            Next::Nothing => return Ok(None),
        };
        let rows = self.runs.oldest(self.ended, after, ROWS_AT_ONCE)?;
        for row in &rows {
            self.form.write(&mut text, &Line::from(row))?;
        }
        let is_last = rows.len() < ROWS_AT_ONCE;
        self.next = match rows.into_iter().next_back().filter(|_| !is_last) {
            Some(run) => Next::Behind(Box::new(run)),
            None => Next::Nothing,
        };
        Ok(Some((text.into(), self)))
    }
}
