//! The machine's own clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::Timestamp;
use crate::ports::Clock;

/// The system's time of day, in UTC.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the adapter that everybody else gets the time from")]
        let now = SystemTime::now();
        // A clock before 1970 is a machine without a clock; 0 is as good as any time then.
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}
