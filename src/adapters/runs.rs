//! The run history: a database beside the journal, whose rows say with them how far of the journal they tell.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::bail;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, ToSql, Transaction, TransactionBehavior, params};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as Unknown, StrDeserializer};

use crate::domain::dispatcher::{ClaimId, JobId, RunResult};
use crate::domain::{Author, BuilderName, Timestamp, WorkerName};
use crate::ports::{Fault, PastRun, RunFilter, RunPage, Runs, Window};

/// The format of the tables; a file that has another one is made anew.
const FORMAT: i32 = 1;

/// How long to wait for a reader that has to mend something first.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Rows that are looked at for one page: a rare result must not keep the disk busy for minutes.
const ROWS_LOOKED_AT: usize = 100_000;

/// In the order in which [`read`] takes them.
const COLUMNS: &str = "seq, job, claim, builder, worker, branch, project, push, attempt, submitted_at, started_at, \
                       ended_at, result, warm, author, reason";

/// `seq` is a run's place in the journal, so a run cannot be there twice; each index ends with it.
/// Times are in microseconds.
const TABLES: &str = "
    CREATE TABLE meta (epoch TEXT NOT NULL, recorded INTEGER NOT NULL) STRICT;
    CREATE TABLE runs (
        seq INTEGER PRIMARY KEY, job INTEGER NOT NULL, claim INTEGER, builder TEXT NOT NULL, worker TEXT,
        branch TEXT, project TEXT, push TEXT, attempt INTEGER NOT NULL, submitted_at INTEGER NOT NULL,
        started_at INTEGER, ended_at INTEGER NOT NULL, result TEXT NOT NULL, warm INTEGER NOT NULL,
        author TEXT NOT NULL, reason TEXT) STRICT;
    CREATE INDEX runs_by_end ON runs (ended_at);
    CREATE INDEX runs_by_builder ON runs (builder, ended_at);
    CREATE INDEX runs_by_worker ON runs (worker, ended_at);
    CREATE INDEX runs_by_job ON runs (job, ended_at);";

/// The history of one journal. A file that is damaged, or is another journal's,
/// is made anew: all of it can be read in the journal.
pub struct SqliteRuns {
    path: PathBuf,
    /// Of the journal.
    epoch: String,
    /// Kept open for writing. Without it, each opening would read the write-ahead log anew.
    writing: Mutex<Option<Connection>>,
}

impl SqliteRuns {
    /// Touches nothing yet: that the file cannot be used shows when it is.
    pub fn new(path: PathBuf, epoch: String) -> Self {
        Self { path, epoch, writing: Mutex::new(None) }
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // What a power cut takes is taken whole transactions at a time, and is in the journal.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if self.is_ours(&connection)? {
            return Ok(connection);
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Somebody else may have been faster.
        if !self.is_ours(&transaction)? {
            if transaction.execute_batch("DROP TABLE meta; DROP TABLE runs;").is_ok() {
                tracing::warn!("the run history was that of another journal; it is made anew");
            }
            transaction.execute_batch(TABLES)?;
            transaction.execute("INSERT INTO meta (epoch, recorded) VALUES (?1, 0)", [&self.epoch])?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
        }
        transaction.commit()?;
        Ok(connection)
    }

    fn is_ours(&self, connection: &Connection) -> rusqlite::Result<bool> {
        if connection.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0))? != FORMAT {
            return Ok(false);
        }
        let epoch: Option<String> = connection.query_row("SELECT epoch FROM meta", [], |row| row.get(0)).optional()?;
        Ok(epoch.as_ref() == Some(&self.epoch))
    }

    fn write<T>(&self, change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = write(&mut writing, || self.open(), change);
        if written.is_err() {
            *writing = None;
        }
        drop(writing);
        written.map_err(|error| self.explain(error))
    }

    fn read<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Fault> {
        self.open().and_then(|connection| question(&connection)).map_err(|error| self.explain(error))
    }

    /// A damaged file is given up, for the next call to make a new one.
    fn explain(&self, error: rusqlite::Error) -> Fault {
        let shown = self.path.display();
        let damaged = matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt));
        if !damaged {
            return Fault::new(error).context(format!("the run history {shown} cannot be used"));
        }
        match self.discard() {
            Ok(()) => Fault::new(error)
                .context(format!("the run history {shown} was damaged; it is made anew of the journal")),
            Err(fault) => fault.context(format!("the run history {shown} is damaged, and cannot be removed")),
        }
    }

    fn discard(&self) -> Result<(), Fault> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        *writing = None;
        for suffix in ["", "-wal", "-shm"] {
            let mut file = self.path.clone().into_os_string();
            file.push(suffix);
            if let Err(error) = fs::remove_file(&file)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(error.into());
            }
        }
        Ok(())
    }
}

fn write<T>(
    writing: &mut Option<Connection>,
    open: impl FnOnce() -> rusqlite::Result<Connection>,
    change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let connection = match writing {
        Some(connection) => connection,
        None => writing.insert(open()?),
    };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = change(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

impl Runs for SqliteRuns {
    fn recorded(&self) -> Result<u64, Fault> {
        self.read(recorded)
    }

    fn append(&self, runs: &[PastRun], after: u64, to: u64) -> Result<(), Fault> {
        let sql = format!(
            "INSERT INTO runs ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
        );
        let reached = self.write(|transaction| {
            let reached = recorded(transaction)?;
            if reached == after {
                transaction.execute("UPDATE meta SET recorded = ?1", [to])?;
                let mut insert = transaction.prepare_cached(&sql)?;
                runs.iter().try_for_each(|run| insert.execute(values(run)).map(drop))?;
            }
            Ok(reached)
        })?;
        if reached != after {
            bail!("the run history reaches to record {reached}, so what comes behind record {after} does not fit");
        }
        Ok(())
    }

    fn clear(&self) -> Result<(), Fault> {
        self.discard()
    }

    fn newest(&self, filter: &RunFilter, before: Option<u64>, limit: usize) -> Result<RunPage, Fault> {
        self.read(|connection| newest(connection, filter, before, limit))
    }

    fn oldest(&self, ended: Window, after: Option<&PastRun>, limit: usize) -> Result<Vec<PastRun>, Fault> {
        let from = match after {
            Some(run) => (micros(run.ended_at), run.seq),
            None => (ended.since.map_or(i64::MIN, micros), 0),
        };
        let until = ended.until.map_or(i64::MAX, micros);
        self.read(|connection| {
            connection.prepare(&oldest_sql())?.query_map(params![from.0, from.1, until, limit], read)?.collect()
        })
    }

    fn prune(&self, before: Timestamp, limit: usize) -> Result<usize, Fault> {
        let sql = "DELETE FROM runs WHERE seq IN (SELECT seq FROM runs WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";
        self.write(|transaction| transaction.prepare_cached(sql)?.execute(params![micros(before), limit]))
    }
}

fn recorded(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("SELECT recorded FROM meta", [], |row| row.get(0))
}

fn newest(connection: &Connection, filter: &RunFilter, before: Option<u64>, limit: usize) -> rusqlite::Result<RunPage> {
    // There is no job whose number does not fit.
    let job = filter.job.map(|job| i64::try_from(job.0).unwrap_or(i64::MAX));
    // One index leads to the rows; what else is asked of them is looked at in each.
    let (which, value): (_, &dyn ToSql) = match (&job, &filter.worker, &filter.builder) {
        (Some(job), _, _) => ("job = ?1", job),
        (None, Some(worker), _) => ("worker = ?1", &worker.as_str()),
        (None, None, Some(builder)) => ("builder = ?1", &builder.as_str()),
        (None, None, None) => ("?1 IS NULL", &None::<i64>),
    };
    let Some(end) = end(connection, filter.ended.until, before)? else {
        return Ok(RunPage { runs: Vec::new(), next_before: None });
    };
    let since = filter.ended.since.map_or(i64::MIN, micros);
    let mut statement = connection.prepare(&newest_sql(which))?;
    let mut rows = statement.query(params![value, since, end.0, end.1])?;
    let (mut runs, mut looked_at): (Vec<PastRun>, _) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let run = read(row)?;
        looked_at += 1;
        let seq = run.seq;
        if fits(filter, &run) {
            if runs.len() == limit {
                let next_before = runs.last().map(|run| run.seq);
                return Ok(RunPage { runs, next_before });
            }
            runs.push(run);
        }
        if looked_at == ROWS_LOOKED_AT {
            return Ok(RunPage { runs, next_before: Some(seq) });
        }
    }
    Ok(RunPage { runs, next_before: None })
}

/// `which`: a condition on ?1. The end of all that comes is the place (?3, ?4).
fn newest_sql(which: &str) -> String {
    format!(
        "SELECT {COLUMNS} FROM runs WHERE {which} AND ended_at >= ?2 AND (ended_at, seq) < (?3, ?4) \
         ORDER BY ended_at DESC, seq DESC"
    )
}

/// What comes behind the place (?1, ?2).
fn oldest_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM runs WHERE (ended_at, seq) > (?1, ?2) AND ended_at < ?3 \
         ORDER BY ended_at, seq LIMIT ?4"
    )
}

/// The place, as an end and a record, that all rows have to come before; `None` if none does.
fn end(connection: &Connection, until: Option<Timestamp>, before: Option<u64>) -> rusqlite::Result<Option<(i64, i64)>> {
    let until = until.map_or((i64::MAX, i64::MAX), |until| (micros(until), 0));
    let Some(before) = before.and_then(|seq| i64::try_from(seq).ok()) else { return Ok(Some(until)) };
    // The row itself may be forgotten by now.
    let sql = "SELECT ended_at FROM runs WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1";
    let ended_at: Option<i64> = connection.query_row(sql, [before], |row| row.get(0)).optional()?;
    Ok(ended_at.map(|ended_at| until.min((ended_at, before))))
}

fn fits(filter: &RunFilter, run: &PastRun) -> bool {
    filter.job.is_none_or(|job| run.job == job)
        && filter.builder.as_ref().is_none_or(|builder| run.builder == *builder)
        && filter.worker.as_ref().is_none_or(|worker| run.worker.as_ref() == Some(worker))
        && filter.workers.as_ref().is_none_or(|any| run.worker.as_ref().is_some_and(|worker| any.contains(worker)))
        && filter.result.is_none_or(|result| run.result == result)
}

fn micros(time: Timestamp) -> i64 {
    time.unix_micros()
}

fn values(run: &PastRun) -> [Box<dyn ToSql + '_>; 16] {
    [
        Box::new(run.seq),
        Box::new(run.job.0),
        Box::new(run.claim.map(|claim| claim.0)),
        Box::new(run.builder.as_str()),
        Box::new(run.worker.as_ref().map(WorkerName::as_str)),
        Box::new(run.branch.as_deref()),
        Box::new(run.project.as_deref()),
        Box::new(run.push.as_deref()),
        Box::new(run.attempt),
        Box::new(micros(run.submitted_at)),
        Box::new(run.started_at.map(micros)),
        Box::new(micros(run.ended_at)),
        Box::new(run.result.as_str()),
        Box::new(run.warm),
        Box::new(run.author.as_str()),
        Box::new(run.reason.as_deref()),
    ]
}

fn read(row: &Row<'_>) -> rusqlite::Result<PastRun> {
    let time = |column| row.get(column).map(Timestamp::from_unix_micros);
    let text = |column| row.get(column).map(|text: Option<String>| text.map(Arc::from));
    Ok(PastRun {
        seq: row.get(0)?,
        job: JobId(row.get(1)?),
        claim: row.get::<_, Option<u64>>(2)?.map(ClaimId),
        builder: parsed(row, 3, BuilderName::parse)?,
        worker: if row.get_ref(4)? == ValueRef::Null { None } else { Some(parsed(row, 4, WorkerName::parse)?) },
        branch: text(5)?,
        project: text(6)?,
        push: text(7)?,
        attempt: row.get(8)?,
        submitted_at: time(9)?,
        started_at: row.get::<_, Option<i64>>(10)?.map(Timestamp::from_unix_micros),
        ended_at: time(11)?,
        result: parsed(row, 12, |text| {
            let text: StrDeserializer<'_, Unknown> = text.into_deserializer();
            RunResult::deserialize(text)
        })?,
        warm: row.get(13)?,
        author: Author::new(row.get::<_, String>(14)?),
        reason: row.get(15)?,
    })
}

fn parsed<T, E: Error + Send + Sync + 'static>(
    row: &Row<'_>,
    column: usize,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> rusqlite::Result<T> {
    parse(row.get_ref(column)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_follows_an_index_and_sorts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let connection = SqliteRuns::new(folder.path().join("runs.sqlite"), "epoch".to_owned()).open().unwrap();
        let plan = |sql: String| -> String {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            statement.query_row([None::<i64>; 4], |row| row.get(3)).unwrap()
        };
        for (which, index) in [
            ("job = ?1", "runs_by_job (job=? AND ended_at>"),
            ("worker = ?1", "runs_by_worker (worker=? AND ended_at>"),
            ("builder = ?1", "runs_by_builder (builder=? AND ended_at>"),
            ("?1 IS NULL", "runs_by_end (ended_at>"),
        ] {
            let plan = plan(newest_sql(which));
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{which}: {plan}");
        }
        let oldest = plan(oldest_sql());
        assert!(oldest.contains("runs_by_end (") && !oldest.contains("TEMP B-TREE"), "{oldest}");
    }
}
