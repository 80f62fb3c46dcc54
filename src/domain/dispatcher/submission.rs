//! New jobs: what is left out is filled in from the farm file, what cannot be right is refused with all else that is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::board::Board;
use super::job::{
    JobId, JobSpec, MAX_INPUT_SETS, MAX_JOBS_PER_CALL, MAX_PAYLOAD_BYTES, MAX_PENDING_JOBS, MAX_PRIORITY,
    MAX_TEXT_BYTES, NewJob,
};
use super::refusal::BadJob;
use super::state::Jobs;
use super::{Accepted, Event, Refusal, Reply, Submitted};
use crate::domain::author::Author;
use crate::domain::fleet::Fleet;
use crate::domain::table::Table;
use crate::domain::time::Timestamp;

pub(super) fn submit(
    fleet: &Fleet,
    jobs: &Jobs,
    board: &mut Board,
    now: Timestamp,
    new: Vec<NewJob>,
    author: Author,
) -> Result<(Vec<Event>, Reply), Refusal> {
    if new.len() > MAX_JOBS_PER_CALL {
        return Err(Refusal::TooManyJobs { given: new.len() });
    }
    let mut bad = Vec::new();
    let builders: Vec<_> =
        new.iter().enumerate().map(|(index, job)| check(fleet, board, index, job, &mut bad)).collect();
    if !bad.is_empty() {
        return Err(Refusal::BadJobs(bad));
    }
    if jobs.pending() + new.len() > MAX_PENDING_JOBS {
        return Err(Refusal::QueueFull);
    }
    let mut intake = Intake::of(jobs, new.len());
    for (job, builder) in new.into_iter().zip(builders) {
        match job.idempotency_key.as_ref().and_then(|key| intake.known(key)) {
            Some(known) => intake.accepted.push(known),
            None => intake.take(fleet, board, now, job, builder.expect("a builder without a rule is refused before")),
        }
    }
    let Intake { submitted, accepted, .. } = intake;
    let events =
        if submitted.is_empty() { Vec::new() } else { vec![Event::Submitted { jobs: submitted, author, time: now }] };
    Ok((events, Reply::Jobs(accepted)))
}

/// The jobs of one call as they are accepted, one after the other.
struct Intake<'a> {
    jobs: &'a Jobs,
    last: JobId,
    accepted: Vec<Accepted>,
    submitted: Vec<Submitted>,
    /// The places in `submitted` of those that have an idempotency key.
    by_key: BTreeMap<Arc<str>, usize>,
}

impl<'a> Intake<'a> {
    fn of(jobs: &'a Jobs, length: usize) -> Self {
        let (accepted, submitted) = (Vec::with_capacity(length), Vec::with_capacity(length));
        Self { jobs, last: jobs.last_job(), accepted, submitted, by_key: BTreeMap::new() }
    }

    /// The job that was submitted under this key before, be it in this call.
    fn known(&self, key: &Arc<str>) -> Option<Accepted> {
        let before = |id| (id, self.jobs.job(id).map(|job| job.spec.clone()));
        let here = |at: &usize| (self.submitted[*at].id, Some(self.submitted[*at].job.clone()));
        let known = self.jobs.submitted_under(key).map(before).or_else(|| self.by_key.get(key).map(here));
        known.map(|(id, spec)| Accepted { id, spec, known: true, clamped: false })
    }

    fn take(&mut self, fleet: &Fleet, board: &mut Board, now: Timestamp, job: NewJob, builder: usize) {
        if let Some(key) = &job.idempotency_key {
            self.by_key.insert(key.clone(), self.submitted.len());
        }
        self.last = self.last.next();
        let clamped = job.submitted_at.is_some_and(|at| at > now);
        let job = resolved(fleet, board, now, self.last, job, builder);
        self.accepted.push(Accepted { id: job.id, spec: Some(job.job.clone()), known: false, clamped });
        self.submitted.push(job);
    }
}

/// Texts that came lately, so that jobs which say the same share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts(Table<Arc<str>, ()>);

/// With so many different ones on the books all are forgotten.
const TEXTS: usize = 10_000;

impl Texts {
    fn shared(&mut self, text: Arc<str>) -> Arc<str> {
        if self.0.len() >= TEXTS {
            self.0.clear();
        }
        match self.0.get_key_value(&text) {
            Some((known, ())) => known.clone(),
            None => {
                self.0.insert(text.clone(), ());
                text
            }
        }
    }
}

/// A job with all that was left out filled in; `builder` is its index on the board.
pub(super) fn resolved(
    fleet: &Fleet,
    board: &mut Board,
    now: Timestamp,
    id: JobId,
    new: NewJob,
    builder: usize,
) -> Submitted {
    let (builder, rule) = board.builder(builder);
    let definition = fleet.definition();
    let class = new.class.unwrap_or(definition.builders[rule].class);
    let priority = new.priority.unwrap_or_else(|| definition.priority_of(new.branch.as_deref(), &new.builder));
    let builder = builder.clone();
    let mut shared = |text: Option<Arc<str>>| text.map(|text| board.texts.shared(text));
    let spec = JobSpec {
        builder,
        class,
        priority,
        submitted_at: new.submitted_at.map_or(now, |at| at.min(now)),
        branch: shared(new.branch),
        project: shared(new.project),
        push: shared(new.push),
        idempotency_key: new.idempotency_key,
        inputs: new.inputs.into(),
        has_payload: new.payload.is_some(),
    };
    Submitted { id, job: Arc::new(spec), payload: new.payload }
}

/// Reports all that is wrong with a job; answers with the index of its builder.
fn check(fleet: &Fleet, board: &mut Board, index: usize, job: &NewJob, bad: &mut Vec<BadJob>) -> Option<usize> {
    let mut report = |key, message| bad.push(BadJob { index, builder: job.builder.clone(), key, message });
    let builder = board.find(fleet, &job.builder);
    if builder.is_none() {
        report("builder", fleet.definition().unmatched(&job.builder));
    }
    if let Some(priority) = job.priority
        && !(-MAX_PRIORITY..=MAX_PRIORITY).contains(&priority)
    {
        report("priority", format!("{priority} is not between -{MAX_PRIORITY} and {MAX_PRIORITY}"));
    }
    let texts = [
        ("branch", &job.branch),
        ("project", &job.project),
        ("push", &job.push),
        ("idempotency_key", &job.idempotency_key),
    ];
    for (key, text) in texts {
        if let Some(text) = text
            && !(1..=MAX_TEXT_BYTES).contains(&text.len())
        {
            report(key, format!("{} bytes; a text has 1 to {MAX_TEXT_BYTES}", text.len()));
        }
    }
    if job.inputs.len() > MAX_INPUT_SETS {
        report("inputs", format!("{} input sets; a job names at most {MAX_INPUT_SETS}", job.inputs.len()));
    }
    if let Some(long) = job.inputs.iter().find(|set| !(1..=MAX_TEXT_BYTES).contains(&set.len())) {
        report("inputs", format!("a set's id has 1 to {MAX_TEXT_BYTES} bytes, not {}", long.len()));
    }
    if let Some(payload) = &job.payload
        && payload.len() > MAX_PAYLOAD_BYTES
    {
        report("payload", format!("{} bytes; a payload has at most {MAX_PAYLOAD_BYTES}", payload.len()));
    }
    builder
}
