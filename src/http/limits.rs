//! Bounds on what clients may ask for at once; plain reads have none.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use governor::{DefaultKeyedRateLimiter, Quota};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;
use crate::config;

/// After so many calls the limiters forget addresses that have been quiet.
const SWEEP_EVERY: usize = 4096;

pub struct Limits {
    reads: DefaultKeyedRateLimiter<IpAddr>,
    writes: DefaultKeyedRateLimiter<IpAddr>,
    streams: Arc<Semaphore>,
}

impl Limits {
    pub fn new(limits: &config::Limits) -> Self {
        let by_address = |per_second| {
            let rate = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
            DefaultKeyedRateLimiter::keyed(Quota::per_second(rate))
        };
        Self {
            reads: by_address(limits.reads_per_second),
            writes: by_address(limits.writes_per_second),
            streams: Arc::new(Semaphore::new(limits.streams.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// For a read that does work: deltas, history, streams.
    pub fn read(&self, request: &HttpRequest) -> Result<(), Problem> {
        admit(&self.reads, request, "limits.reads_per_second")
    }

    pub fn write(&self, request: &HttpRequest) -> Result<(), Problem> {
        admit(&self.writes, request, "limits.writes_per_second")
    }

    /// A place for a long poll or an event stream, given back when it is dropped.
    pub fn stream(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            let detail = "as many long polls and event streams are open as limits.streams allows; try again later";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_streams", detail)
        })
    }
}

fn admit(limiter: &DefaultKeyedRateLimiter<IpAddr>, request: &HttpRequest, limit: &str) -> Result<(), Problem> {
    let address = request.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip());
    if limiter.len() > SWEEP_EVERY {
        limiter.retain_recent();
    }
    limiter.check_key(&address).map_err(|_| {
        let detail = format!("more requests than {limit} allows one address; slow down");
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", detail)
    })
}
