//! Errors as RFC 9457 problem documents, each with a code that clients may rely on.

use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;

use crate::domain::allocator::{self, Fault as BrokenRule};
use crate::domain::{Refusal, access, dispatcher, fleet};
use crate::engine::SubmitError;
use crate::ports::Fault;

/// After how many seconds to try again when we cannot say better.
const RETRY_AFTER: &str = "30";

/// A refused or failed request; boxed, since most requests are neither.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Problem(Box<Document>);

#[derive(Debug, Serialize)]
struct Document {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    /// Stable, unlike the texts.
    code: &'static str,
    /// What is wrong, and what to do.
    detail: String,
    /// Every broken rule of a write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<BrokenRule>,
    /// Every fault of a farm file.
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<serde_json::Value>,
    /// The methods that would have been possible, for the header `Allow`.
    #[serde(skip)]
    allow: Option<String>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self(Box::new(Document {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail: detail.into(),
            faults: Vec::new(),
            problems: None,
            allow: None,
        }))
    }

    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub fn not_found(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// `allowed`: the methods that are possible (`GET, HEAD`).
    pub fn method_not_allowed(allowed: &str, detail: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail);
        problem.0.allow = Some(allowed.to_owned());
        problem
    }

    pub fn gone(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, code, detail)
    }

    pub fn with_problems(mut self, problems: serde_json::Value) -> Self {
        self.0.problems = Some(problems);
        self
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).expect("made from a status")
    }

    pub fn to_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status());
        response.content_type("application/problem+json");
        match self.status() {
            StatusCode::SERVICE_UNAVAILABLE => drop(response.insert_header((header::RETRY_AFTER, RETRY_AFTER))),
            // The quotas are by the second.
            StatusCode::TOO_MANY_REQUESTS => drop(response.insert_header((header::RETRY_AFTER, "1"))),
            StatusCode::UNAUTHORIZED => {
                response.insert_header((header::WWW_AUTHENTICATE, "Bearer realm=\"jacuzzi\""));
            }
            _ => {}
        }
        if let Some(allowed) = &self.0.allow {
            response.insert_header((header::ALLOW, allowed.as_str()));
        }
        response.body(serde_json::to_vec(self).expect("a problem is plain data"))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.0.status, self.0.code, self.0.detail)
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.status()
    }

    fn error_response(&self) -> HttpResponse {
        self.to_response()
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (code, detail) = (refusal.code(), refusal.to_string());
        match refusal {
            Refusal::Fleet(refusal) => match refusal {
                fleet::Refusal::BadDefinition(problems) => {
                    let problems = serde_json::to_value(problems).expect("plain data");
                    Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail).with_problems(problems)
                }
                fleet::Refusal::NoSuchPool { .. } | fleet::Refusal::TooManyWorkers | fleet::Refusal::TooManyPaused => {
                    Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
                }
                fleet::Refusal::NoSuchWorker { .. } | fleet::Refusal::NothingToPause { .. } => {
                    Self::not_found(code, detail)
                }
                fleet::Refusal::InFarmFile { .. } => Self::new(StatusCode::CONFLICT, code, detail),
            },
            Refusal::Access(refusal) => match refusal {
                access::Refusal::TokenRevoked => Self::new(StatusCode::UNAUTHORIZED, code, detail),
                access::Refusal::NoSuchToken { .. } => Self::not_found(code, detail),
                access::Refusal::TokenExists { .. } | access::Refusal::LastOperator { .. } => {
                    Self::new(StatusCode::CONFLICT, code, detail)
                }
            },
            Refusal::Dispatcher(refusal) => match refusal {
                dispatcher::Refusal::BadJobs(jobs) => {
                    let problems = serde_json::to_value(jobs).expect("plain data");
                    Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail).with_problems(problems)
                }
                dispatcher::Refusal::UnknownWorkers(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail),
                dispatcher::Refusal::NoWorkers
                | dispatcher::Refusal::NothingWanted
                | dispatcher::Refusal::OfferedTwice(_) => Self::bad_request(code, detail),
                dispatcher::Refusal::TooManyJobs { .. } | dispatcher::Refusal::TooManyWorkers { .. } => {
                    Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, detail)
                }
                dispatcher::Refusal::QueueFull => Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail),
                dispatcher::Refusal::NoSuchJob(_) | dispatcher::Refusal::NoSuchClaim(_) => {
                    Self::not_found(code, detail)
                }
                dispatcher::Refusal::JobEnded(_)
                | dispatcher::Refusal::OfferedElsewhere(_)
                | dispatcher::Refusal::StaleToken(_) => Self::new(StatusCode::CONFLICT, code, detail),
            },
            Refusal::Allocator(refusal) => match refusal {
                allocator::Refusal::Stale { .. } => Self::new(StatusCode::PRECONDITION_FAILED, code, detail),
                allocator::Refusal::NotAllocated { .. } => Self::not_found(code, detail),
                allocator::Refusal::NotKept(_) => Self::gone(code, detail),
                allocator::Refusal::TooManyLines { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, code, detail),
                allocator::Refusal::Faults(faults) | allocator::Refusal::Strict { faults, .. } => {
                    let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail);
                    problem.0.faults = faults;
                    problem
                }
            },
        }
    }
}

impl From<SubmitError<Refusal>> for Problem {
    fn from(error: SubmitError<Refusal>) -> Self {
        match error {
            SubmitError::Refused(refusal) => refusal.into(),
            SubmitError::ReadOnly { why } => {
                // The causes name paths and the like, which are for the operators alone.
                tracing::warn!("turned a write away: {why}");
                let detail = "nothing is written until this server is restarted, reads go on; its log says why";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "read_only", detail)
            }
        }
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        // The causes name paths and the like, which are for the operators alone.
        tracing::error!("{fault:#}");
        let detail = "something broke in the server; its log says more, under the id of this request";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", detail)
    }
}
