//! Files of pushes, one a line, with the risk of each commit.

use serde::{Deserialize, Deserializer, Serialize};

use super::name_lists::problem;
use crate::domain::Timestamp;
use crate::domain::batching::{Batch, Found, Log, Push, PushId, Score, may_batch};

const MICROS_A_SECOND: i64 = 1_000_000;

/// Where and why a file is no log of pushes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {problem}", column.map(|column| format!(", column {column}")).unwrap_or_default())]
pub struct PushLogFault {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1; `None` if it is the line as a whole.
    pub column: Option<usize>,
    pub problem: String,
}

/// A log, and what of its file no decision depends on.
#[derive(Debug, Clone, Default)]
pub struct PushLog {
    pub log: Log,
    /// Of each push of the log.
    pub lines: Vec<Line>,
}

/// A push as it is written. Further keys are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub pushlog_id: PushId,
    /// Whole Unix seconds; read also from RFC 3339 text.
    #[serde(deserialize_with = "whole_seconds")]
    pub pushdate: i64,
    #[serde(default)]
    pub head_rev: String,
    /// Of the head commit.
    #[serde(default)]
    pub message: String,
    pub commits: Vec<Commit>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    #[serde(default)]
    pub rev: String,
    /// `None`: missing, not there yet. `Some(None)`, null in the file: not scored by design.
    #[serde(default, deserialize_with = "null_or_number", skip_serializing_if = "Option::is_none")]
    pub risk: Option<Option<f64>>,
    /// Whether it turned out to hold a regression, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regressed: Option<bool>,
}

/// Reads a whole file of JSON lines; blank ones are skipped.
///
/// # Errors
/// The first fault, with its line. A risk that is none is no fault here: only
/// who reads risks fails, and says which push it is.
pub fn parse(bytes: &[u8]) -> Result<PushLog, PushLogFault> {
    let mut file = PushLog::default();
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    for (at, text) in lines.filter(|(_, text)| !text.trim_ascii().is_empty()) {
        let line: Line = serde_json::from_slice(text).map_err(|error| PushLogFault {
            line: at + 1,
            column: Some(error.column()),
            problem: problem(&error),
        })?;
        file.add(line).map_err(|problem| PushLogFault { line: at + 1, column: None, problem })?;
    }
    Ok(file)
}

impl PushLog {
    /// # Errors
    /// An id that does not rise, in words.
    pub fn add(&mut self, line: Line) -> Result<(), String> {
        self.log.add(&line.push()).map_err(|error| error.to_string())?;
        self.lines.push(line);
        Ok(())
    }

    /// A batch on this log, as it is recorded.
    pub fn batch(&self, found: &Found) -> Batch {
        let line = &self.lines[found.place];
        Batch { id: line.pushlog_id, at: found.at, head_rev: line.head_rev.clone() }
    }

    /// The places of pushes with a commit that is known to hold a regression; `None` where nothing is known at all.
    pub fn regressions(&self) -> Option<Vec<usize>> {
        let labels = || self.lines.iter().map(|line| line.commits.iter().filter_map(|commit| commit.regressed));
        let is_labelled = labels().any(|mut of_push| of_push.next().is_some());
        let regressed = labels().enumerate().filter(|(_, of_push)| of_push.clone().any(|regressed| regressed));
        is_labelled.then(|| regressed.map(|(place, _)| place).collect())
    }
}

impl Line {
    fn push(&self) -> Push {
        Push {
            id: self.pushlog_id,
            at: self.pushdate,
            may_batch: may_batch(&self.message),
            scores: self.commits.iter().filter_map(Commit::score).collect(),
        }
    }
}

impl Commit {
    /// `None` for one that is not scored by design.
    fn score(&self) -> Option<Score> {
        match self.risk {
            None => Some(Score::Missing),
            Some(None) => None,
            Some(Some(risk)) => Some(Score::Risk(risk)),
        }
    }
}

fn whole_seconds<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let micros = Timestamp::deserialize(from)?.unix_micros();
    if micros % MICROS_A_SECOND == 0 {
        Ok(micros / MICROS_A_SECOND)
    } else {
        Err(serde::de::Error::custom("a pushdate has whole seconds"))
    }
}

fn null_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_scored_is_not_what_is_missing() {
        let text =
            r#"{"pushlog_id":1,"pushdate":60,"commits":[{"risk":0.5},{"risk":null,"rev":"merge"},{"rev":"new"}]}"#;
        let line = parse(text.as_bytes()).unwrap().lines.remove(0);
        assert_eq!(line.push().scores, [Score::Risk(0.5), Score::Missing]);
        assert_eq!(
            line.commits.iter().map(|commit| commit.risk).collect::<Vec<_>>(),
            [Some(Some(0.5)), Some(None), None]
        );
    }

    #[test]
    fn a_fault_has_its_line() {
        let push = |id: &str, date: &str| format!("{{\"pushlog_id\":{id},\"pushdate\":{date},\"commits\":[]}}\n");
        let fault = |lines: &[String]| parse(lines.concat().as_bytes()).unwrap_err().to_string();
        assert_eq!(fault(&[push("3", "1"), "\n".into(), push("3", "1")]), "line 3: push 3 is there twice");
        let unsorted = fault(&[push("3", "1"), push("2", "1")]);
        assert_eq!(unsorted, "line 2: push 2 comes after push 3: a log is in the order of its ids");
        assert!(fault(&[push("-1", "1")]).starts_with("line 1, column 16: invalid value: integer `-1`"));
        assert!(fault(&[push("1", "1.5")]).ends_with("a pushdate has whole seconds"));
        assert_eq!(parse(push("1", "\"1970-01-01T00:01:00Z\"").as_bytes()).unwrap().lines[0].pushdate, 60);
    }
}
