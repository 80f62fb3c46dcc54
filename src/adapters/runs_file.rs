//! Files of run histories: CSV by the rules of RFC 4180, or JSON lines, both of the same columns.

use std::io::{self, Write};

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::domain::dispatcher::{ClaimId, JobId, RunResult};
use crate::domain::{BuilderName, Timestamp, WorkerName};
use crate::ports::PastRun;

/// The columns, in their order.
pub const COLUMNS: [&str; 13] = [
    "job",
    "claim",
    "builder",
    "worker",
    "branch",
    "project",
    "push",
    "attempt",
    "submitted_at",
    "started_at",
    "finished_at",
    "result",
    "warm",
];

/// One run, or one job that was cancelled while it waited. The fields are the
/// columns: times in Unix seconds, ids as text, and what there is not is null
/// in JSON and nothing in CSV.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    #[serde(serialize_with = "as_text")]
    pub job: JobId,
    #[serde(serialize_with = "as_text_if_any")]
    pub claim: Option<ClaimId>,
    pub builder: &'a BuilderName,
    pub worker: Option<&'a WorkerName>,
    pub branch: Option<&'a str>,
    pub project: Option<&'a str>,
    pub push: Option<&'a str>,
    /// From 1; 0 for a job that waited.
    pub attempt: u32,
    pub submitted_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Timestamp,
    pub result: RunResult,
    pub warm: bool,
}

impl<'a> From<&'a PastRun> for Line<'a> {
    fn from(run: &'a PastRun) -> Self {
        Self {
            job: run.job,
            claim: run.claim,
            builder: &run.builder,
            worker: run.worker.as_ref(),
            branch: run.branch.as_deref(),
            project: run.project.as_deref(),
            push: run.push.as_deref(),
            attempt: run.attempt,
            submitted_at: run.submitted_at,
            started_at: run.started_at,
            finished_at: run.ended_at,
            result: run.result,
            warm: run.warm,
        }
    }
}

/// The forms of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Csv,
    JsonLines,
}

impl Form {
    /// What stands above the lines.
    pub fn heading(self) -> String {
        match self {
            Self::Csv => COLUMNS.join(",") + "\r\n",
            Self::JsonLines => String::new(),
        }
    }

    /// Writes a line with its end.
    pub fn write(self, to: &mut impl Write, line: &Line<'_>) -> io::Result<()> {
        let json = serde_json::to_string(line)?;
        match self {
            Self::JsonLines => writeln!(to, "{json}"),
            Self::Csv => {
                let fields: IndexMap<String, Value> = serde_json::from_str(&json)?;
                let fields: Vec<_> = fields.values().map(field).collect();
                write!(to, "{}\r\n", fields.join(","))
            }
        }
    }
}

/// In quotes, with those in it doubled, only where a comma, a quote or a line's end would mislead.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains([',', '"', '\r', '\n']) => format!("\"{}\"", text.replace('"', "\"\"")),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// So that no reader rounds it.
fn as_text<S: Serializer>(job: &JobId, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(job)
}

fn as_text_if_any<S: Serializer>(claim: &Option<ClaimId>, to: S) -> Result<S::Ok, S::Error> {
    match claim {
        Some(claim) => to.collect_str(claim),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_csv_field_can_hold_everything_that_a_name_or_a_text_can() {
        let builder = BuilderName::parse("build \"x\", y").unwrap();
        let line = Line {
            job: JobId(u64::MAX),
            claim: None,
            builder: &builder,
            worker: None,
            branch: Some("a\r\nb"),
            project: Some(" é "),
            push: Some("=1+1"),
            attempt: 0,
            submitted_at: Timestamp::from_unix_micros(1_400_000_000_500_000),
            started_at: None,
            finished_at: Timestamp::from_unix_seconds(1_400_000_001),
            result: RunResult::Cancelled,
            warm: false,
        };
        let written = |form: Form| {
            let mut to = form.heading().into_bytes();
            form.write(&mut to, &line).unwrap();
            String::from_utf8(to).unwrap()
        };
        assert_eq!(
            written(Form::Csv),
            "job,claim,builder,worker,branch,project,push,attempt,submitted_at,started_at,finished_at,result,warm\r\n\
             18446744073709551615,,\"build \"\"x\"\", y\",,\"a\r\nb\", é ,=1+1,0,1400000000.5,,1400000001,cancelled,false\r\n"
        );
        let json: IndexMap<String, Value> = serde_json::from_str(&written(Form::JsonLines)).unwrap();
        assert!(json.keys().eq(COLUMNS), "{json:?}");
        assert_eq!((&json["job"], &json["worker"]), (&"18446744073709551615".into(), &Value::Null));
    }
}
