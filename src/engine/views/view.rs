//! One generation as its readers see it: every answer of it is ready-made bytes.

use std::sync::{Arc, OnceLock};

use super::body::{Body, Encoding};
use super::ordered::OrderedMap;
use super::wire;
use crate::domain::access::Access;
use crate::domain::allocator::Generation;
use crate::domain::{BuilderName, WorkerName};

/// All reads of one generation. Immutable, save that big bodies are filled in once.
#[derive(Debug, Clone)]
pub struct View {
    pub(super) epoch: Arc<str>,
    pub(super) generation: Generation,
    pub(super) builders: OrderedMap<BuilderName, Listed<WorkerName>>,
    pub(super) workers: OrderedMap<WorkerName, Arc<Body>>,
    /// One for each generation since the view before this one, oldest first; only the last ones of very many.
    pub(super) steps: Vec<Step>,
    pub(super) big: Arc<BigBodies>,
    pub(super) access: Arc<Access>,
}

/// A list with its body.
#[derive(Debug, Clone)]
pub(super) struct Listed<T> {
    pub list: Arc<[T]>,
    pub body: Arc<Body>,
}

/// How one generation differs from the one before it.
#[derive(Debug, Clone)]
pub struct Step {
    pub generation: Generation,
    /// The delta, as answered to `since=<generation − 1>`.
    pub delta: Arc<Body>,
    /// The delta with its epoch, as an event carries it.
    pub event: Arc<Body>,
}

impl Step {
    /// The generation that it starts from.
    pub fn since(&self) -> Generation {
        Generation(self.generation.0 - 1)
    }
}

/// Bodies about all builders or machines: made when first asked for, or by the encoder thread before that.
#[derive(Debug, Default)]
pub(super) struct BigBodies {
    blob: OnceLock<Body>,
    builders: OnceLock<Body>,
    machines: OnceLock<Body>,
}

/// Which of the big bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Big {
    /// `/v1/allocations`
    Blob,
    /// `/v1/builders`
    Builders,
    /// `/v1/machines`, `/v1/allocated/all`
    Machines,
}

impl View {
    /// Generation 0 of an epoch: nothing is allocated.
    pub fn empty(epoch: &str) -> Self {
        Self {
            epoch: epoch.into(),
            generation: Generation(0),
            builders: OrderedMap::default(),
            workers: OrderedMap::default(),
            steps: Vec::new(),
            big: Arc::default(),
            access: Arc::default(),
        }
    }

    pub fn epoch(&self) -> &str {
        &self.epoch
    }

    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The tokens in force.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// How many builders have an allocation.
    pub fn builder_count(&self) -> usize {
        self.builders.len()
    }

    /// The first builder with an allocation.
    pub fn first_builder(&self) -> Option<&BuilderName> {
        self.builders.iter().next().map(|(name, _)| name)
    }

    /// How many workers are allocated.
    pub fn worker_count(&self) -> usize {
        self.workers.len()
    }

    /// `{"machines":[…]}` of a builder with an allocation.
    pub fn builder(&self, name: &str) -> Option<&Arc<Body>> {
        self.builders.get(name).map(|listed| &listed.body)
    }

    /// `{"builders":[…]}` of an allocated worker.
    pub fn worker(&self, name: &str) -> Option<&Arc<Body>> {
        self.workers.get(name)
    }

    /// The generations that are new in this view, oldest first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// A big body, if it is ready.
    pub fn ready(&self, which: Big, encoding: Encoding) -> Option<bytes::Bytes> {
        self.big.cell(which).get()?.ready(encoding)
    }

    /// A big body, made now if it must be; other callers wait for the first.
    pub fn big(&self, which: Big, encoding: Encoding) -> bytes::Bytes {
        self.big.cell(which).get_or_init(|| Body::new(self.encode(which))).encoded(encoding)
    }

    fn encode(&self, which: Big) -> Vec<u8> {
        match which {
            Big::Blob => self.encode_blob(),
            Big::Builders => wire::all_builders(self.builders.iter().map(|(name, _)| name)),
            Big::Machines => wire::all_machines(self.workers.iter().map(|(name, _)| name)),
        }
    }

    fn encode_blob(&self) -> Vec<u8> {
        let mut blob = b"{\"epoch\":".to_vec();
        wire::write_json(&mut blob, &*self.epoch);
        blob.extend_from_slice(b",\"generation\":");
        wire::write_json(&mut blob, &self.generation);
        blob.extend_from_slice(b",\"builders\":");
        let lists = self.builders.iter().map(|(name, listed)| (name.as_str(), wire::list_in(listed.body.plain())));
        wire::write_lists(&mut blob, lists);
        blob.extend_from_slice(b",\"machines\":");
        let lists = self.workers.iter().map(|(name, body)| (name.as_str(), wire::list_in(body.plain())));
        wire::write_lists(&mut blob, lists);
        blob.push(b'}');
        blob
    }
}

impl BigBodies {
    fn cell(&self, which: Big) -> &OnceLock<Body> {
        match which {
            Big::Blob => &self.blob,
            Big::Builders => &self.builders,
            Big::Machines => &self.machines,
        }
    }
}
