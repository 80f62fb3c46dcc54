//! Jobs as a snapshot holds them: a million of them are to be read in a second, so every text that many share stands there once.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexSet;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::health::Health;
use super::job::{JobId, JobSpec, is_default};
use super::pace::Paces;
use super::run::{Claim, ClaimId, Running};
use super::state::{Job, Jobs};
use super::warm::Warm;
use crate::domain::fleet::JobClass;
use crate::domain::names::BuilderName;
use crate::domain::time::Timestamp;

/// What is read; written is the same, piece by piece.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Saved {
    last_job: JobId,
    last_claim: ClaimId,
    builders: Vec<BuilderName>,
    texts: Vec<Arc<str>>,
    jobs: Vec<SavedJob>,
    claims: BTreeMap<ClaimId, Running>,
    warm: Warm,
    health: Health,
    paces: Paces,
    submissions: Vec<SavedSubmission>,
    claim_calls: Vec<SavedClaimCall>,
}

/// Time in microseconds, key, and the job that was submitted under it.
type SavedSubmission = (i64, Option<Arc<str>>, JobId);

/// Time, session and key of a claim call, and what it was given.
type SavedClaimCall = (Timestamp, Arc<str>, Arc<str>, Arc<[Claim]>);

/// A job; builders and texts are places in the lists of them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedJob {
    #[serde(rename = "i")]
    id: JobId,
    #[serde(rename = "b")]
    builder: usize,
    #[serde(rename = "c", default, skip_serializing_if = "is_default")]
    class: JobClass,
    #[serde(rename = "p")]
    priority: i64,
    /// Microseconds.
    #[serde(rename = "s")]
    submitted_at: i64,
    #[serde(rename = "br", default, skip_serializing_if = "Option::is_none")]
    branch: Option<usize>,
    #[serde(rename = "pr", default, skip_serializing_if = "Option::is_none")]
    project: Option<usize>,
    #[serde(rename = "pu", default, skip_serializing_if = "Option::is_none")]
    push: Option<usize>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<Arc<str>>,
    #[serde(rename = "in", default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<usize>,
    #[serde(rename = "pl", default, skip_serializing_if = "is_default")]
    has_payload: bool,
    #[serde(rename = "a", default, skip_serializing_if = "is_default")]
    attempts: u32,
    #[serde(rename = "cl", default, skip_serializing_if = "Option::is_none")]
    claim: Option<ClaimId>,
}

/// Every text of all jobs once, in the order in which they come.
#[derive(Default)]
struct Texts<'a> {
    builders: IndexSet<&'a BuilderName, foldhash::fast::FixedState>,
    texts: IndexSet<&'a Arc<str>, foldhash::fast::FixedState>,
}

impl<'a> Texts<'a> {
    fn of(jobs: &'a Jobs) -> Self {
        let mut all = Self::default();
        for (_, Job { spec, .. }) in jobs.all() {
            all.builders.insert(&spec.builder);
            all.texts.extend(spec.branch.iter().chain(&spec.project).chain(&spec.push).chain(spec.inputs.iter()));
        }
        all
    }

    fn place(&self, text: &Arc<str>) -> usize {
        self.texts.get_index_of(text).expect("all texts were gathered")
    }

    fn job(&self, id: JobId, job: &Job) -> SavedJob {
        let spec = &job.spec;
        let place = |text: &Option<Arc<str>>| text.as_ref().map(|text| self.place(text));
        SavedJob {
            id,
            builder: self.builders.get_index_of(&spec.builder).expect("all builders were gathered"),
            class: spec.class,
            priority: spec.priority,
            submitted_at: spec.submitted_at.unix_micros(),
            branch: place(&spec.branch),
            project: place(&spec.project),
            push: place(&spec.push),
            idempotency_key: spec.idempotency_key.clone(),
            inputs: spec.inputs.iter().map(|set| self.place(set)).collect(),
            has_payload: spec.has_payload,
            attempts: job.attempts,
            claim: job.claim,
        }
    }
}

/// A list that is made while it is written.
struct List<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

impl Serialize for Jobs {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let texts = Texts::of(self);
        let mut saved = to.serialize_struct("Jobs", 11)?;
        saved.serialize_field("last_job", &self.last_job)?;
        saved.serialize_field("last_claim", &self.last_claim)?;
        saved.serialize_field("builders", &List(|| texts.builders.iter()))?;
        saved.serialize_field("texts", &List(|| texts.texts.iter()))?;
        saved.serialize_field("jobs", &List(|| self.all().map(|(id, job)| texts.job(id, job))))?;
        saved.serialize_field("claims", &self.claims().collect::<BTreeMap<_, _>>())?;
        saved.serialize_field("warm", &self.warm)?;
        saved.serialize_field("health", &self.health)?;
        saved.serialize_field("paces", &self.paces)?;
        // The key of a job that is there stands with it.
        let key_of = |id: JobId, key| self.job(id).is_none().then_some(key);
        saved.serialize_field(
            "submissions",
            &List(|| self.submissions.iter().map(|(since, key, id)| (since.unix_micros(), key_of(*id, key), id))),
        )?;
        saved.serialize_field(
            "claim_calls",
            &List(|| self.claim_calls.iter().map(|(since, (session, key), claims)| (since, session, key, claims))),
        )?;
        saved.end()
    }
}

impl<'de> Deserialize<'de> for Jobs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Saved::deserialize(from)?.open().ok_or_else(|| serde::de::Error::custom("a job names what the snapshot lacks"))
    }
}

impl Saved {
    /// `None` if it is not whole.
    fn open(self) -> Option<Jobs> {
        let mut jobs = Jobs {
            last_job: self.last_job,
            last_claim: self.last_claim,
            warm: self.warm,
            health: self.health,
            paces: self.paces,
            ..Jobs::default()
        };
        for saved in self.jobs {
            let (id, job) = saved.open(&self.builders, &self.texts)?;
            jobs.jobs.insert(id.0, job);
        }
        for (id, running) in self.claims {
            jobs.busy.insert(running.worker.clone(), id);
            jobs.claims.insert(id.0, running);
        }
        for (since, key, id) in self.submissions {
            let key = key.or_else(|| jobs.job(id)?.spec.idempotency_key.clone())?;
            jobs.submissions.note(key, id, Timestamp::from_unix_micros(since));
        }
        for (since, session, key, claims) in self.claim_calls {
            jobs.claim_calls.note((session, key), claims, since);
        }
        Some(jobs)
    }
}

impl SavedJob {
    fn open(self, builders: &[BuilderName], texts: &[Arc<str>]) -> Option<(JobId, Job)> {
        let text = |place: Option<usize>| match place {
            Some(place) => texts.get(place).cloned().map(Some),
            None => Some(None),
        };
        let spec = JobSpec {
            builder: builders.get(self.builder)?.clone(),
            class: self.class,
            priority: self.priority,
            submitted_at: Timestamp::from_unix_micros(self.submitted_at),
            branch: text(self.branch)?,
            project: text(self.project)?,
            push: text(self.push)?,
            idempotency_key: self.idempotency_key,
            inputs: self.inputs.into_iter().map(|set| texts.get(set).cloned()).collect::<Option<_>>()?,
            has_payload: self.has_payload,
        };
        Some((self.id, Job { spec: Arc::new(spec), attempts: self.attempts, claim: self.claim }))
    }
}
