//! The audit log: every write there was, by whom and why, out of the journal itself.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::App;
use super::auth::Call;
use super::paging::{limit, number};
use super::problem::Problem;
use crate::domain::{AuditEntry, Event, Timestamp};
use crate::engine::decode;
use crate::ports::{Fault, Records};

#[derive(Serialize)]
struct Page {
    entries: Vec<Line>,
    /// `before` of the next page; null on the last.
    next_before: Option<u64>,
}

#[derive(Serialize)]
struct Line {
    seq: u64,
    time: Timestamp,
    #[serde(flatten)]
    entry: AuditEntry,
}

/// `GET /v1/audit?limit=&before=`
pub async fn audit(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    app.authorize(&request, Call::ReadAudit)?;
    let (limit, before) = (limit(&request)?, number(&request, "before")?);
    let records = app.records.clone();
    let page = web::block(move || page(&records, before, limit)).await.map_err(anyhow::Error::from)??;
    Ok(HttpResponse::Ok().json(page))
}

fn page(records: &Arc<dyn Records>, before: Option<u64>, limit: usize) -> Result<Page, Fault> {
    let found = records.newest(before, limit)?;
    // Records have no gaps: there is a page behind any but the first record.
    let next_before = found.last().map(|record| record.seq).filter(|seq| *seq > 1);
    let line = |record| {
        let entry = decode::<Event>(&record)?.audit();
        Ok(Line { seq: record.seq, time: record.time, entry })
    };
    Ok(Page { entries: found.into_iter().map(line).collect::<Result<_, Fault>>()?, next_before })
}
