//! Journals that tell of runs, made of events, so that a test says what ran when.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jacuzzi::adapters::clock::SystemClock;
use jacuzzi::adapters::data_folder::DataFolder;
use jacuzzi::domain::dispatcher::{ClaimId, Event, JobId, JobSpec, Next, Run, RunResult, Submitted};
use jacuzzi::domain::fleet::JobClass;
use jacuzzi::domain::{Author, BuilderName, Event as FarmEvent, Timestamp, WorkerName};
use jacuzzi::ports::{Clock, Journal, Record};
use serde_json::Value;

use crate::suite::server::{Home, Server};

/// How long a history may take to be as far as its journal.
const PATIENCE: Duration = Duration::from_secs(60);

pub const FARM: &str = r#"
[farm]
name = "boxes"

[[pools]]
name = "boxes"
workers = ["box{0..9}"]

[[pools]]
name = "crates"
workers = ["crate{0..9}"]

[[builders]]
match = '^crate'
pool = "crates"

[[builders]]
match = ''
pool = "boxes"
"#;

/// Now, in whole Unix seconds.
pub fn now() -> i64 {
    SystemClock.now().unix_micros() / 1_000_000
}

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_seconds(seconds)
}

/// The run number `number`: a job of its own that ended as a success at this second, ten after its start.
pub fn run(number: u64, ended_at: i64) -> Run {
    Run {
        claim: ClaimId(number),
        job: JobId(number),
        builder: BuilderName::parse("build").unwrap(),
        worker: WorkerName::parse("box1").unwrap(),
        attempt: 1,
        submitted_at: at(ended_at - 15),
        started_at: at(ended_at - 10),
        ended_at: at(ended_at),
        result: RunResult::Success,
        warm: false,
        branch: None,
        project: None,
        push: None,
        next: Next::Ended,
        author: Author::new("master-1"),
        reason: None,
    }
}

/// Runs 1, 2, 3, …, one a second, of which the last ends at `last`.
pub fn runs(count: u64, last: i64) -> Vec<Event> {
    (1..=count).map(|number| Event::RunEnded(run(number, last - (count - number) as i64))).collect()
}

/// These jobs, submitted at once.
pub fn submission(jobs: &[(u64, &str)], submitted_at: i64) -> Event {
    let job = |(id, builder): &(u64, &str)| Submitted {
        id: JobId(*id),
        payload: None,
        job: Arc::new(JobSpec {
            builder: BuilderName::parse(builder).unwrap(),
            class: JobClass::Normal,
            priority: 5,
            submitted_at: at(submitted_at),
            branch: Some("trunk".into()),
            project: None,
            push: Some("abc".into()),
            idempotency_key: None,
            inputs: Default::default(),
            has_payload: false,
        }),
    };
    Event::Submitted { jobs: jobs.iter().map(job).collect(), author: Author::new("master-1"), time: at(submitted_at) }
}

pub fn cancellation(job: u64, time: i64) -> Event {
    let reason = Some("not wanted".to_owned());
    Event::Cancelled { job: JobId(job), author: Author::new("operator"), reason, time: at(time) }
}

/// Adds these events to the journal of a home whose server does not run.
pub fn journal(home: &Home, events: Vec<Event>) {
    let folder = DataFolder::open(home.data_dir()).unwrap();
    append(&mut folder.journal().unwrap(), events);
}

/// Adds them to a journal.
pub fn append(journal: &mut impl Journal, events: Vec<Event>) {
    let first = journal.last_seq().unwrap() + 1;
    let record = |(event, seq)| {
        let event = FarmEvent::Dispatcher(event);
        let body = format!(r#"{{"v":1,"event":{}}}"#, serde_json::to_string(&event).unwrap());
        Record { seq, time: at(now()), body, beside: Vec::new() }
    };
    let records: Vec<_> = events.into_iter().zip(first..).map(record).collect();
    records.chunks(10_000).for_each(|records| journal.append(records).unwrap());
}

/// Waits until the history is as far as the journal.
#[track_caller]
pub fn recorded(server: &Server) {
    let begun = Instant::now();
    loop {
        let answer = server.get("/metrics");
        let number = |name| metric(answer.text(), name);
        let (history, journal) = (number("jacuzzi_runs_recorded_seq"), number("jacuzzi_journal_last_record"));
        if history == journal {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "the history is at {history} of {journal}");
    }
}

pub fn metric(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().parse().unwrap()
}

/// All rows, newest first, page by page.
pub fn listed(server: &Server) -> Vec<Value> {
    let (mut all, mut next) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/runs?limit=1000{next}")).json();
        all.extend(page["runs"].as_array().unwrap().iter().cloned());
        match page["next_before"].as_u64() {
            Some(before) => next = format!("&before={before}"),
            None => return all,
        }
    }
}

/// The jobs of rows.
pub fn jobs(rows: &[Value]) -> Vec<u64> {
    rows.iter().map(|row| row["job"].as_str().unwrap().parse().unwrap()).collect()
}
