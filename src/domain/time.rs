//! Moments in time as the domain sees them: given from outside, exact to the microsecond, never read from a clock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The latest moment that a timestamp may name, in Unix seconds (year 9999).
pub const MAX_UNIX_SECONDS: i64 = 253_402_207_200;

/// A moment: microseconds since the Unix epoch, UTC.
///
/// In JSON it is a number of Unix seconds, whole where it is whole; RFC 3339
/// text is read too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// Why a value is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadTime {
    #[error("a time is a number of Unix seconds up to {MAX_UNIX_SECONDS} or RFC 3339 text, not {0}")]
    OutOfRange(String),
    #[error("{0:?} is not a time: give Unix seconds or RFC 3339 text such as 2015-06-09T12:00:00Z")]
    NotATime(String),
}

impl Timestamp {
    /// From whole Unix seconds, bounded to ± `MAX_UNIX_SECONDS`.
    pub fn from_unix_seconds(seconds: i64) -> Self {
        Self(seconds.clamp(-MAX_UNIX_SECONDS, MAX_UNIX_SECONDS) * MICROS_PER_SECOND)
    }

    /// From Unix seconds with a fraction; refuses what is not finite or beyond the year 9999.
    pub fn from_unix_seconds_f64(seconds: f64) -> Result<Self, BadTime> {
        if seconds.is_finite() && seconds.abs() <= MAX_UNIX_SECONDS as f64 {
            Ok(Self((seconds * MICROS_PER_SECOND as f64).round() as i64))
        } else {
            Err(BadTime::OutOfRange(seconds.to_string()))
        }
    }

    /// From microseconds since the Unix epoch.
    pub fn from_unix_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub fn unix_micros(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339 text, or a number of Unix seconds written as text.
    pub fn parse(text: &str) -> Result<Self, BadTime> {
        if let Ok(seconds) = text.parse::<f64>() {
            return Self::from_unix_seconds_f64(seconds);
        }
        text.parse::<jiff::Timestamp>()
            .map(|moment| Self(moment.as_microsecond()))
            .map_err(|_| BadTime::NotATime(text.to_owned()))
    }

    /// The moment `span` after this one, at the latest the latest there is.
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.as_micros().try_into().unwrap_or(i64::MAX)))
    }

    /// The moment `span` before this one, at the earliest the earliest there is.
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.as_micros().try_into().unwrap_or(i64::MAX)))
    }
}

/// RFC 3339, UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => moment.fmt(f),
            Err(_) => write!(f, "{} s", self.0 / MICROS_PER_SECOND),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0 % MICROS_PER_SECOND == 0 {
            to.serialize_i64(self.0 / MICROS_PER_SECOND)
        } else {
            to.serialize_f64(self.0 as f64 / MICROS_PER_SECOND as f64)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a time: Unix seconds or RFC 3339 text")]
        enum Written {
            Seconds(f64),
            Text(String),
        }
        match Written::deserialize(from)? {
            Written::Seconds(seconds) => Self::from_unix_seconds_f64(seconds),
            Written::Text(text) => Self::parse(&text),
        }
        .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_unix_seconds_and_rfc_3339_is_read() {
        let whole = Timestamp::from_unix_seconds(1_401_877_937);
        assert_eq!(serde_json::to_string(&whole).unwrap(), "1401877937");
        let part: Timestamp = serde_json::from_str("1.5").unwrap();
        assert_eq!(serde_json::to_string(&part).unwrap(), "1.5");
        assert_eq!(serde_json::from_str::<Timestamp>("\"2014-06-04T10:32:17Z\"").unwrap(), whole);
        assert_eq!(whole.to_string(), "2014-06-04T10:32:17Z");
        assert!(serde_json::from_str::<Timestamp>("1e300").is_err());
        assert!(Timestamp::parse("yesterday").unwrap_err().to_string().contains("yesterday"));
    }

    #[test]
    fn a_microsecond_survives_json() {
        let moment = Timestamp::from_unix_micros(1_785_000_000_123_457);
        let text = serde_json::to_string(&moment).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), moment);
    }
}
