//! Request ids, and a line in the log for each request that writes or breaks, under the same id.
//!
//! The plain reads of allocations have neither: there are too many of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use tracing::Instrument;

use crate::ports::Fault;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id of a client that is taken over, in characters.
const MAX_ID_CHARS: usize = 128;

/// Makes ids that no other run of the server has made.
pub struct RequestIds {
    run: u32,
    made: AtomicU64,
}

impl RequestIds {
    /// # Errors
    /// When the system has no random numbers.
    pub fn new() -> Result<Self, Fault> {
        Ok(Self { run: getrandom::u32()?, made: AtomicU64::new(0) })
    }

    fn next(&self) -> HeaderValue {
        let id = format!("{:08x}-{}", self.run, self.made.fetch_add(1, Ordering::Relaxed));
        HeaderValue::from_str(&id).expect("digits and a dash")
    }
}

/// Gives the request an id, which the answer and all that is logged meanwhile carry.
pub async fn logged<B: MessageBody>(request: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<B>, Error> {
    answer(request, next, false).await
}

/// The same for requests that come by the thousand.
pub async fn logged_quietly<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    answer(request, next, true).await
}

async fn answer<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
    quietly: bool,
) -> Result<ServiceResponse<B>, Error> {
    let begun = Instant::now();
    let id = id(&request);
    let writes = !request.method().is_safe();
    let (method, path) = (request.method(), request.path());
    // Of the highest level, so that it is there whatever level is logged.
    let span = tracing::error_span!("request", id = id.to_str().unwrap_or(""), %method, path);
    let mut response = next.call(request).instrument(span.clone()).await?;
    response.headers_mut().insert(REQUEST_ID, id);

    let _in_span = span.enter();
    let (status, milliseconds) = (response.status(), begun.elapsed().as_secs_f64() * 1e3);
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        let error = response.response().error().map(ToString::to_string);
        tracing::error!(status = status.as_u16(), milliseconds, error, "broke");
    } else if quietly {
        tracing::debug!(status = status.as_u16(), milliseconds, "answered");
    } else if writes {
        tracing::info!(status = status.as_u16(), milliseconds, "answered");
    }
    Ok(response)
}

/// The client's own id if it is one that can be logged, else a new one.
fn id(request: &ServiceRequest) -> HeaderValue {
    let theirs = request
        .headers()
        .get(REQUEST_ID)
        .filter(|id| (1..=MAX_ID_CHARS).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic));
    let ids = || request.app_data::<web::Data<RequestIds>>().expect("every server has them").next();
    theirs.cloned().unwrap_or_else(ids)
}
