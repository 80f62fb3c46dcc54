//! Tables of commits with their predicted risks and what became of them: `commit,regressed,risk`.

use thiserror::Error;

use crate::domain::batching::calibration::Labelled;

const HEADING: &str = "commit,regressed,risk";

/// Where and why a file is no such table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct RiskTableFault {
    /// From 1.
    pub line: usize,
    pub problem: String,
}

/// A commit of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub commit: String,
    pub labelled: Labelled,
}

/// Reads a whole table.
///
/// # Errors
/// The first fault, with its line.
pub fn parse(text: &str) -> Result<Vec<Row>, RiskTableFault> {
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, heading)| heading.trim() != HEADING) {
        return Err(RiskTableFault { line: 1, problem: format!("the table begins with {HEADING}") });
    }
    let rows = lines.filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(at, line)| row(line.trim()).map_err(|problem| RiskTableFault { line: at + 1, problem })).collect()
}

fn row(line: &str) -> Result<Row, String> {
    let fields: Vec<_> = line.split(',').collect();
    let [commit, regressed, risk] = fields[..] else {
        return Err(format!("a row has three fields ({HEADING}), not {}", fields.len()));
    };
    let regressed = match regressed {
        "0" => false,
        "1" => true,
        other => return Err(format!("regressed is 0 or 1, not {other:?}")),
    };
    let within = risk.parse().ok().filter(|risk| (0.0..=1.0).contains(risk));
    let risk = within.ok_or_else(|| format!("a risk is a number from 0 to 1, not {risk:?}"))?;
    Ok(Row { commit: commit.to_owned(), labelled: Labelled { risk, regressed } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_or_its_fault_named() {
        let rows = parse("commit,regressed,risk\nabc,1,0.25\n\ndef,0,0\n").unwrap();
        assert_eq!((rows.len(), rows[0].labelled), (2, Labelled { risk: 0.25, regressed: true }));
        for (row, problem) in [
            ("abc,1", "line 2: a row has three fields"),
            ("abc,2,0.5", "line 2: regressed is 0 or 1, not \"2\""),
            ("abc,1,NaN", "line 2: a risk is a number from 0 to 1, not \"NaN\""),
            ("abc,1,1.01", "line 2: a risk is"),
        ] {
            let fault = parse(&format!("commit,regressed,risk\n{row}\n")).unwrap_err().to_string();
            assert!(fault.starts_with(problem), "{fault}");
        }
        assert!(parse("").is_err());
    }
}
