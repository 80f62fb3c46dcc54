//! What came of a scenario, as tests compare it: exact, and in few words.

use std::fmt;

use serde_json::Value;

/// A moment or a span, in microseconds.
pub type Micros = i64;

/// What a scenario's JSON calls a time: seconds.
pub fn micros(seconds: &Value) -> Micros {
    let seconds = seconds.as_f64().unwrap_or_else(|| panic!("a number of seconds, not {seconds}"));
    (seconds * 1e6).round() as Micros
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// By time, then by the job's id: which start of one moment is told first means nothing.
    pub assignments: Vec<Assignment>,
    /// In the order of the jobs.
    pub pending: Vec<String>,
    pub decisions: u64,
}

/// Reads as `A→W1 @10`; a later attempt as `A→W1 @10, attempt 2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub at: Micros,
    pub job: String,
    pub worker: String,
    pub attempt: u64,
}

impl Outcome {
    pub fn new(mut assignments: Vec<Assignment>, pending: Vec<String>, decisions: u64) -> Self {
        assignments.sort_by(|a, b| (a.at, &a.job).cmp(&(b.at, &b.job)));
        Self { assignments, pending, decisions }
    }

    pub fn read(outcome: &Value) -> Self {
        let list = |key: &str| outcome[key].as_array().unwrap_or_else(|| panic!("no list of {key} in {outcome}"));
        Self::new(
            list("assignments").iter().map(Assignment::read).collect(),
            list("pending").iter().map(text).collect(),
            outcome["decisions"].as_u64().unwrap(),
        )
    }

    pub fn starts(&self) -> Vec<String> {
        self.assignments.iter().map(Assignment::to_string).collect()
    }
}

impl Assignment {
    fn read(assignment: &Value) -> Self {
        Self {
            at: micros(&assignment["at"]),
            job: text(&assignment["job"]),
            worker: text(&assignment["worker"]),
            attempt: assignment["attempt"].as_u64().unwrap(),
        }
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}")).to_owned()
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}→{} @{}", self.job, self.worker, self.at as f64 / 1e6)?;
        if self.attempt > 1 {
            write!(f, ", attempt {}", self.attempt)?;
        }
        Ok(())
    }
}
