//! Generations as server-sent events: one each, in order, none left out.

use std::collections::VecDeque;
use std::time::Duration;

use actix_web::http::{Method, header};
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::delta::{check_epoch, generation, not_kept};
use crate::domain::Farm;
use crate::domain::allocator::{Generation, NotKept};
use crate::engine::views::DeltaBody;
use crate::http::App;
use crate::http::negotiate::GENERATION_HEADER;
use crate::http::problem::Problem;
use crate::http::target;
use crate::ports::Fault;

/// A line now and then, so that proxies and clients know that the stream lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Generations that are fetched at once for a client that is behind.
const CATCH_UP: u64 = 100;

/// `GET /v1/allocations/events`: what comes, or with `Last-Event-ID` (or `?since=`, with `?epoch=` to be sure) what came after that too.
pub async fn events(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    let last = last_event_id(&request)?;
    check_epoch(&request, app.views.current().epoch())?;
    app.admit_read(&request)?;
    let place = app.limits.stream()?;
    let mut generations = app.views.generations();
    generations.mark_unchanged();
    let current = app.views.current().generation();
    let last = last.unwrap_or(current);
    app.engine.ask(move |farm| farm.allocations.difference(last, last)).await?.map_err(not_kept)?;

    let mut response = HttpResponse::Ok();
    response.content_type("text/event-stream");
    response.insert_header((GENERATION_HEADER, current.0));
    response.insert_header((header::CACHE_CONTROL, "no-store"));
    // Some proxies collect a response before they pass it on.
    response.insert_header(("x-accel-buffering", "no"));
    if request.method() == Method::HEAD {
        return Ok(response.finish());
    }
    let stopping = app.stopping.clone();
    let subscriber = Subscriber { app, last, generations, stopping, frames: VecDeque::new(), _place: place };
    Ok(response.streaming(stream::unfold(subscriber, Subscriber::next)))
}

fn last_event_id(request: &HttpRequest) -> Result<Option<Generation>, Problem> {
    let Some(id) = request.headers().get("last-event-id") else { return generation(request, "since") };
    let number = id.to_str().ok().and_then(target::whole_number);
    let bad =
        || Problem::bad_request("bad_parameter", format!("Last-Event-ID is the number of a generation, not {id:?}"));
    number.map(|number| Some(Generation(number))).ok_or_else(bad)
}

struct Subscriber {
    app: web::Data<App>,
    /// The generation of the last frame that was queued.
    last: Generation,
    generations: watch::Receiver<Generation>,
    stopping: watch::Receiver<bool>,
    frames: VecDeque<Bytes>,
    _place: OwnedSemaphorePermit,
}

impl Subscriber {
    /// The next frame; `None` ends the stream, after which the client comes back with its last id.
    async fn next(mut self) -> Option<(Result<Bytes, Fault>, Self)> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Some((Ok(frame), self));
            }
            if *self.stopping.borrow() {
                return None;
            }
            if self.app.views.current().generation() > self.last {
                if let Err(fault) = self.fetch().await {
                    return Some((Err(fault), self));
                }
                continue;
            }
            tokio::select! {
                changed = self.generations.changed() => changed.ok()?,
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
                () = tokio::time::sleep(KEEP_ALIVE) => self.frames.push_back(Bytes::from_static(b":\n\n")),
            }
        }
    }

    /// Queues what came after the last frame: out of the view if it is all
    /// there, from the replica otherwise.
    async fn fetch(&mut self) -> Result<(), Fault> {
        let view = self.app.views.current_owned();
        if view.steps().first().is_some_and(|step| step.since() <= self.last) {
            for step in view.steps().iter().filter(|step| step.generation > self.last) {
                self.frames.push_back(frame(step.generation, step.event.plain()));
            }
            self.last = view.generation();
            return Ok(());
        }
        let (last, epoch) = (self.last, view.epoch().to_owned());
        let (last, frames) = self.app.engine.ask(move |farm| catch_up(farm, last, &epoch)).await??;
        self.frames.extend(frames);
        self.last = last;
        Ok(())
    }
}

fn catch_up(farm: &Farm, last: Generation, epoch: &str) -> Result<(Generation, Vec<Bytes>), NotKept> {
    let to = farm.allocations.generation().0.min(last.0 + CATCH_UP);
    let mut frames = Vec::new();
    for generation in (last.0 + 1..=to).map(Generation) {
        let since = Generation(generation.0 - 1);
        let delta = farm.allocations.difference(since, generation)?;
        let body = DeltaBody { epoch: Some(epoch), generation, since, set: &delta.set, unset: &delta.unset };
        frames.push(frame(generation, &body.encode()));
    }
    Ok((Generation(to), frames))
}

fn frame(generation: Generation, data: &[u8]) -> Bytes {
    let mut frame = format!("id: {generation}\ndata: ").into_bytes();
    frame.extend_from_slice(data);
    frame.extend_from_slice(b"\n\n");
    frame.into()
}
