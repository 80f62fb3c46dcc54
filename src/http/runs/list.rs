//! The newest runs, of all or of those that are meant.

use std::collections::BTreeSet;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::window;
use crate::adapters::runs_file::Line;
use crate::domain::dispatcher::{JobId, RunResult};
use crate::domain::{Author, BadName, BuilderName, Farm, WorkerName};
use crate::http::App;
use crate::http::paging::{limit, number};
use crate::http::problem::Problem;
use crate::http::target;
use crate::ports::{PastRun, RunFilter};

#[derive(Serialize)]
struct Page<'a> {
    runs: Vec<Shown<'a>>,
    /// `before` of the next page; null on the last.
    next_before: Option<u64>,
}

#[derive(Serialize)]
struct Shown<'a> {
    /// Of the journal's record of its end.
    seq: u64,
    #[serde(flatten)]
    line: Line<'a>,
    author: &'a Author,
    reason: Option<&'a str>,
}

/// `GET /v1/runs?builder=&worker=&pool=&result=&job=&since=&until=&limit=&before=`
pub async fn list(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    let (limit, before) = (limit(&request)?, number(&request, "before")?);
    let mut filter = RunFilter {
        job: number(&request, "job")?.map(JobId),
        builder: name(&request, "builder", BuilderName::parse_bytes)?,
        worker: name(&request, "worker", WorkerName::parse_bytes)?,
        workers: None,
        result: target::text_parameter(&request, "result").map(|text| result(&text)).transpose()?,
        ended: window(&request)?,
    };
    if let Some(pool) = target::text_parameter(&request, "pool") {
        filter.workers = Some(app.engine.ask(move |farm| workers_of(farm, &pool)).await?);
    }
    let runs = app.runs.clone();
    let page = web::block(move || runs.newest(&filter, before, limit)).await.map_err(anyhow::Error::from)??;
    let shown = page.runs.iter().map(Shown::from).collect();
    Ok(HttpResponse::Ok().json(Page { runs: shown, next_before: page.next_before }))
}

fn name<T>(
    request: &HttpRequest,
    key: &str,
    parse: impl FnOnce(&[u8]) -> Result<T, BadName>,
) -> Result<Option<T>, Problem> {
    let bad = |error| Problem::bad_request("bad_parameter", format!("`{key}`: {error}"));
    target::parameter(request, key).map(|bytes| parse(&bytes)).transpose().map_err(bad)
}

fn result(text: &str) -> Result<RunResult, Problem> {
    serde_json::from_value(text.into()).map_err(|_| {
        let detail =
            format!("`result` is success, failure, exception, retry, cancelled, lost or requeued, not {text:?}");
        Problem::bad_request("bad_parameter", detail)
    })
}

/// The pool as it is now: the history knows workers only.
fn workers_of(farm: &Farm, pool: &str) -> BTreeSet<WorkerName> {
    let of_pool = farm.fleet.workers().filter(|(_, worker)| worker.pool.as_str() == pool);
    of_pool.map(|(name, _)| name.clone()).collect()
}

impl<'a> From<&'a PastRun> for Shown<'a> {
    fn from(run: &'a PastRun) -> Self {
        Self { seq: run.seq, line: run.into(), author: &run.author, reason: run.reason.as_deref() }
    }
}
