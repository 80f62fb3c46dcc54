//! Deltas and pages that were made for somebody since the newest generation: whoever asks the same gets the same bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::allocator::Generation;
use crate::engine::views::Body;

/// So many bodies are kept; a generation in which more is asked starts over.
const KEPT: usize = 1_000;

/// What is answered by one body for as long as no generation is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    Delta { since: Generation, until: Generation },
    History { limit: usize, before: Option<Generation> },
}

/// The bodies of the newest generation that anybody asked in.
#[derive(Debug, Default)]
pub struct Made(Mutex<(Generation, BTreeMap<Question, Arc<Body>>)>);

impl Made {
    pub fn get(&self, newest: Generation, question: Question) -> Option<Arc<Body>> {
        let made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.1.get(&question).filter(|_| made.0 == newest).cloned()
    }

    /// Keeps a body that is good while this generation is the newest.
    pub fn keep(&self, newest: Generation, question: Question, body: Body) -> Arc<Body> {
        let body = Arc::new(body);
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if newest > made.0 || made.1.len() >= KEPT {
            *made = (newest.max(made.0), BTreeMap::new());
        }
        if newest == made.0 {
            made.1.insert(question, body.clone());
        }
        body
    }
}
