//! Ids of jobs and claims: texts in JSON, so that no client rounds them.

use std::borrow::Cow;
use std::fmt::Display;

use serde::{Deserialize, Deserializer, Serializer};

use super::target;
use crate::domain::dispatcher::{ClaimId, JobId};

/// For `serialize_with`.
pub fn as_text<S: Serializer>(id: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(id)
}

/// The job that bytes out of a path name, if they name one.
pub fn job(bytes: &[u8]) -> Option<JobId> {
    number(bytes).map(JobId)
}

/// The same for a claim.
pub fn claim(bytes: &[u8]) -> Option<ClaimId> {
    number(bytes).map(ClaimId)
}

fn number(bytes: &[u8]) -> Option<u64> {
    target::whole_number(std::str::from_utf8(bytes).ok()?)
}

/// The id of a job in a body.
pub struct JobText(pub JobId);

impl<'de> Deserialize<'de> for JobText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let bad = || serde::de::Error::custom(format_args!("{text:?} is not the id of a job, such as \"17\""));
        job(text.as_bytes()).map(Self).ok_or_else(bad)
    }
}
