//! The embedded journal: one SQLite file in WAL mode, where every commit is synced before it counts.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::domain::Timestamp;
use crate::ports::{Beside, Fault, Journal, Payloads, Record, Records};

/// "JCZI", so that `file` and we can tell our journals from other databases.
const APPLICATION_ID: i32 = 0x4A43_5A49;

/// The format of the tables that is written, and the newest that is read.
const FORMAT: i32 = 1;

/// Beyond so many pages in the write-ahead log an append copies them itself;
/// the tidier normally does it before, on another thread.
const LOG_PAGES_AT_MOST: u32 = 16_000;

/// So many bytes of records are handed to a reader at once, but for the last one of them:
/// the submission of ten thousand jobs is a record of some megabytes.
const MAX_BYTES_READ: usize = 16 << 20;

/// How long to wait for another process that holds the file, such as a backup.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A journal file, open for appending.
pub struct SqliteJournal {
    path: PathBuf,
    connection: Connection,
    /// There is a table of payloads: it is made when the first one comes.
    has_payloads: bool,
}

impl SqliteJournal {
    /// Opens the file, or makes a new one with a new epoch.
    ///
    /// Until its records have been [replayed](Journal::replay) nothing that is
    /// there already is changed, so that a damaged journal stays as it was found.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let connection = Connection::open(path).map_err(|error| explain(path, error))?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        let is_new = check_format(path, &connection)?;
        let epoch = new_epoch()?;
        let setup = || -> rusqlite::Result<()> {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_AT_MOST)?;
            if is_new { create_tables(&connection, &epoch) } else { Ok(()) }
        };
        setup().map_err(|error| explain(path, error))?;
        let has_payloads = has_payloads(&connection).map_err(|error| explain(path, error))?;
        Ok(Self { path: path.to_owned(), connection, has_payloads })
    }

    /// Opens an existing file for reading; another process may be writing it.
    pub fn open_to_read(path: &Path) -> Result<Self, Fault> {
        if !path.is_file() {
            bail!("there is no journal {}", path.display());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| explain(path, error))?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        check_format(path, &connection)?;
        if pragma(&connection, "application_id").map_err(|error| explain(path, error))? != APPLICATION_ID {
            bail!("{} is empty, or not a jacuzzi journal", path.display());
        }
        let has_payloads = has_payloads(&connection).map_err(|error| explain(path, error))?;
        Ok(Self { path: path.to_owned(), connection, has_payloads })
    }

    /// The random id of this data folder's life; deltas never cross two of them.
    pub fn epoch(&self) -> Result<String, Fault> {
        let epoch = self.connection.query_row("SELECT value FROM meta WHERE key = 'epoch'", [], |row| row.get(0));
        epoch.map_err(|error| match error {
            rusqlite::Error::QueryReturnedNoRows => anyhow!(damaged(&self.path, "it has no epoch")),
            error => explain(&self.path, error),
        })
    }

    /// Writes a whole, compact copy to a file that must not exist yet.
    pub fn copy_to(&self, to: &Path) -> Result<(), Fault> {
        let text = to.to_str().ok_or_else(|| anyhow!("{} is not UTF-8", to.display()))?;
        self.connection.execute("VACUUM INTO ?1", [text]).map_err(|error| explain(&self.path, error))?;
        Ok(std::fs::File::open(to)?.sync_all()?)
    }

    /// Makes the journal in `to` a life of its own: deltas of the original do not apply to it.
    pub fn restore(&self, to: &Path) -> Result<(), Fault> {
        self.copy_to(to)?;
        // The copy has no write-ahead log yet: this is in the file itself, and synced, when it is done.
        let renewed =
            Connection::open(to)?.execute("UPDATE meta SET value = ?1 WHERE key = 'epoch'", [new_epoch()?])?;
        if renewed == 1 { Ok(()) } else { Err(anyhow!(damaged(&self.path, "it has no epoch"))) }
    }

    /// Lets SQLite check the file's own structure; answers what it found wrong.
    pub fn damage(&self) -> Result<Vec<String>, Fault> {
        let mut statement = self.connection.prepare("PRAGMA integrity_check(20)")?;
        let rows =
            statement.query_map([], |row| row.get::<_, String>(0)).map_err(|error| explain(&self.path, error))?;
        let found = rows.collect::<Result<Vec<_>, _>>().map_err(|error| explain(&self.path, error))?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }
}

impl Journal for SqliteJournal {
    fn append(&mut self, records: &[Record]) -> Result<(), Fault> {
        let mut append = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut insert = transaction
                .prepare_cached("INSERT INTO journal (seq, time, body, checksum) VALUES (?1, ?2, ?3, ?4)")?;
            for record in records {
                insert.execute(params![record.seq, record.time.unix_micros(), record.body, checksum(record)])?;
                for beside in &record.beside {
                    self.has_payloads |= put_beside(&transaction, beside, self.has_payloads)?;
                }
            }
            drop(insert);
            transaction.commit()
        };
        append().map_err(|error| explain(&self.path, error))
    }

    fn replay(&mut self, after: u64, each: &mut dyn FnMut(Record) -> Result<(), Fault>) -> Result<(), Fault> {
        let path = &self.path;
        let sql = "SELECT seq, time, body, checksum FROM journal WHERE seq > ?1 ORDER BY seq";
        let mut statement = self.connection.prepare(sql).map_err(|error| explain(path, error))?;
        let mut rows = statement.query([after]).map_err(|error| explain(path, error))?;
        let mut expected = after + 1;
        while let Some(row) = rows.next().map_err(|error| explain(path, error))? {
            let read = || -> rusqlite::Result<(Record, u32)> {
                let time = Timestamp::from_unix_micros(row.get(1)?);
                Ok((Record { seq: row.get(0)?, time, body: row.get(2)?, beside: Vec::new() }, row.get(3)?))
            };
            let (record, sum) = read()
                .map_err(|error| anyhow!(error))
                .with_context(|| damaged(path, &format!("record {expected} cannot be read")))?;
            if record.seq != expected {
                bail!(damaged(path, &format!("record {expected} is missing (the next is {})", record.seq)));
            }
            if checksum(&record) != sum {
                bail!(damaged(path, &format!("record {expected} does not fit its checksum")));
            }
            each(record).with_context(|| format!("stopped reading the journal {}", path.display()))?;
            expected += 1;
        }
        // All of it is sound, so the write-ahead log may go into the file when this is closed.
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        Ok(())
    }

    fn last_seq(&mut self) -> Result<u64, Fault> {
        let last: Option<u64> = self
            .connection
            .query_row("SELECT max(seq) FROM journal", [], |row| row.get(0))
            .map_err(|error| explain(&self.path, error))?;
        Ok(last.unwrap_or(0))
    }

    fn tidier(&self) -> Result<Box<dyn FnMut() -> Result<(), Fault> + Send>, Fault> {
        let connection = Connection::open(&self.path).map_err(|error| explain(&self.path, error))?;
        Ok(Box::new(move || {
            // Passive: copies what it can of the log into the file, and never makes the writer wait.
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
            Ok(())
        }))
    }
}

/// The journal for readers beside the writer; each question opens the file anew.
pub struct SqliteRecords {
    path: PathBuf,
}

impl SqliteRecords {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Records for SqliteRecords {
    fn newest(&self, before: Option<u64>, limit: usize) -> Result<Vec<Record>, Fault> {
        let journal = SqliteJournal::open_to_read(&self.path)?;
        let sql = "SELECT seq, time, body FROM journal WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";
        let before = before.and_then(|seq| i64::try_from(seq).ok()).unwrap_or(i64::MAX);
        let read = || -> rusqlite::Result<Vec<Record>> {
            let mut statement = journal.connection.prepare(sql)?;
            let mut rows = statement.query(params![before, limit])?;
            let (mut records, mut bytes) = (Vec::new(), 0);
            while bytes < MAX_BYTES_READ
                && let Some(row) = rows.next()?
            {
                let (time, body) = (Timestamp::from_unix_micros(row.get(1)?), row.get::<_, String>(2)?);
                bytes += body.len();
                records.push(Record { seq: row.get(0)?, time, body, beside: Vec::new() });
            }
            Ok(records)
        };
        read().map_err(|error| explain(&self.path, error))
    }

    fn wanted(
        &self,
        range: RangeInclusive<u64>,
        limit: usize,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Record>, Fault> {
        let (path, journal) = (&self.path, SqliteJournal::open_to_read(&self.path)?);
        let sql = "SELECT body, seq, time, checksum FROM journal WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq";
        let mut statement = journal.connection.prepare(sql).map_err(|error| explain(path, error))?;
        let range = params![range.start(), range.end()];
        let mut rows = statement.query(range).map_err(|error| explain(path, error))?;
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(row) = rows.next().map_err(|error| explain(path, error))?
        {
            // Borrowed: most records are passed over.
            let Ok(body) = row.get_ref(0).map_err(|error| explain(path, error))?.as_str() else { continue };
            if !is_wanted(body) {
                continue;
            }
            let read = || -> rusqlite::Result<(Record, u32)> {
                let (seq, time) = (row.get(1)?, Timestamp::from_unix_micros(row.get(2)?));
                Ok((Record { seq, time, body: body.to_owned(), beside: Vec::new() }, row.get(3)?))
            };
            let (record, sum) = read().map_err(|error| explain(path, error))?;
            if checksum(&record) != sum {
                bail!(damaged(path, &format!("record {} does not fit its checksum", record.seq)));
            }
            found.push(record);
        }
        Ok(found)
    }
}

impl Payloads for SqliteRecords {
    fn payloads(&self, keys: &[u64]) -> Result<Vec<(u64, String)>, Fault> {
        let journal = SqliteJournal::open_to_read(&self.path)?;
        if !journal.has_payloads {
            return Ok(Vec::new());
        }
        let read = || -> rusqlite::Result<Vec<(u64, String)>> {
            let mut statement = journal.connection.prepare("SELECT body FROM payloads WHERE job = ?1")?;
            let mut found = Vec::new();
            for key in keys {
                found.extend(statement.query_row([key], |row| Ok((*key, row.get(0)?))).optional()?);
            }
            Ok(found)
        };
        read().map_err(|error| explain(&self.path, error))
    }
}

fn has_payloads(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'payloads'")?.exists([])
}

/// Says whether there is a table of payloads now.
fn put_beside(transaction: &Transaction<'_>, beside: &Beside, has_table: bool) -> rusqlite::Result<bool> {
    match beside {
        Beside::Keep { key, text } => {
            if !has_table {
                let sql = "CREATE TABLE IF NOT EXISTS payloads (job INTEGER PRIMARY KEY, body TEXT NOT NULL)";
                transaction.execute(sql, [])?;
            }
            let mut insert = transaction.prepare_cached("INSERT INTO payloads (job, body) VALUES (?1, ?2)")?;
            insert.execute(params![key, text.as_ref()])?;
            Ok(true)
        }
        Beside::Drop { key } if has_table => {
            transaction.prepare_cached("DELETE FROM payloads WHERE job = ?1")?.execute([key])?;
            Ok(true)
        }
        Beside::Drop { key: _ } => Ok(false),
    }
}

fn new_epoch() -> Result<String, Fault> {
    Ok(format!("{:08x}", getrandom::u32().context("the system's random source failed")?))
}

fn checksum(record: &Record) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&record.seq.to_le_bytes());
    sum.update(&record.time.unix_micros().to_le_bytes());
    sum.update(record.body.as_bytes());
    sum.finalize()
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// All of it or nothing, so that a start that is cut short leaves a new file or a whole journal.
fn create_tables(connection: &Connection, epoch: &str) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
         CREATE TABLE journal (
             seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL);
         INSERT INTO meta (key, value) VALUES ('epoch', '{epoch}');
         PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {FORMAT};
         COMMIT;"
    ))
}

/// Whether the file is new and empty; another program's database and a newer format are refused.
fn check_format(path: &Path, connection: &Connection) -> Result<bool, Fault> {
    let read = || {
        Ok((
            pragma(connection, "application_id")?,
            pragma(connection, "user_version")?,
            pragma(connection, "schema_version")?,
        ))
    };
    let (id, format, schema) = read().map_err(|error| explain(path, error))?;
    if id != APPLICATION_ID && (id, schema) != (0, 0) {
        bail!("{} is a database of another program, not a jacuzzi journal", path.display());
    }
    if format > FORMAT {
        bail!(
            "{} has journal format {format}, this program reads up to {FORMAT}: start the newer jacuzzi that wrote it",
            path.display()
        );
    }
    Ok(schema == 0)
}

fn damaged(path: &Path, what: &str) -> String {
    format!(
        "the journal {} is damaged: {what}. Nothing was changed; `jacuzzi journal verify` says more, `jacuzzi restore` makes a new data folder of a backup",
        path.display()
    )
}

/// SQLite's errors, in terms of what to do.
fn explain(path: &Path, error: rusqlite::Error) -> Fault {
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => damaged(path, "it is not an SQLite database"),
        Some(ErrorCode::DatabaseCorrupt) => damaged(path, "SQLite cannot read its pages"),
        Some(ErrorCode::DiskFull) => format!("the disk of {} is full", path.display()),
        _ => format!("the journal {} cannot be used", path.display()),
    };
    Fault::new(error).context(message)
}
