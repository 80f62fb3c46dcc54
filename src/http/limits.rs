//! Bounds on what each client may ask for; plain reads have none.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use governor::{DefaultKeyedRateLimiter, Quota};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::App;
use super::auth::caller;
use super::problem::Problem;
use crate::config;
use crate::domain::TokenName;

/// The longest long poll.
pub const MAX_WAIT: Duration = Duration::from_secs(60);

/// With so many clients on the books, those that have been quiet are forgotten.
const SWEEP_EVERY: usize = 4096;

/// Who is counted: the holder of a token, wherever it calls from, else an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Client {
    Token(TokenName),
    Address(IpAddr),
}

pub struct Limits {
    reads: DefaultKeyedRateLimiter<Client>,
    writes: DefaultKeyedRateLimiter<Client>,
    job_calls: DefaultKeyedRateLimiter<Client>,
    streams: Arc<Semaphore>,
}

impl Limits {
    pub fn new(limits: &config::Limits) -> Self {
        let by_client = |per_second| {
            let rate = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
            DefaultKeyedRateLimiter::keyed(Quota::per_second(rate))
        };
        Self {
            reads: by_client(limits.reads_per_second),
            writes: by_client(limits.writes_per_second),
            job_calls: by_client(limits.job_calls_per_second),
            streams: Arc::new(Semaphore::new(limits.streams.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// A place for a long poll or an event stream, given back when it is dropped.
    pub fn stream(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            let detail = "as many long polls and event streams are open as limits.streams allows; try again later";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_streams", detail)
        })
    }
}

impl App {
    /// For a read that does work: deltas, history, streams, lists.
    pub fn admit_read(&self, request: &HttpRequest) -> Result<(), Problem> {
        self.admit(&self.limits.reads, request, "limits.reads_per_second")
    }

    pub fn admit_write(&self, request: &HttpRequest) -> Result<(), Problem> {
        self.admit(&self.limits.writes, request, "limits.writes_per_second")
    }

    /// For what masters do all the time: submissions, claims and what follows from
    /// them. Who has no token is no master, and is held to what all writes are.
    pub fn admit_job_call(&self, request: &HttpRequest) -> Result<(), Problem> {
        match caller(request, self.views.current().access()) {
            Ok(_) => self.admit(&self.limits.job_calls, request, "limits.job_calls_per_second"),
            Err(_) => self.admit_write(request),
        }
    }

    fn admit(
        &self,
        limiter: &DefaultKeyedRateLimiter<Client>,
        request: &HttpRequest,
        limit: &str,
    ) -> Result<(), Problem> {
        let client = match caller(request, self.views.current().access()) {
            Ok(caller) => Client::Token(caller.name),
            // Also a wrong token's: guessing is what the limit slows down.
            Err(_) => Client::Address(request.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip())),
        };
        if limiter.len() > SWEEP_EVERY {
            limiter.retain_recent();
        }
        limiter.check_key(&client).map_err(|_| {
            let detail = format!("more requests than {limit} allows one client; slow down");
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", detail)
        })
    }
}
