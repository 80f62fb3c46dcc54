//! From durable events to the view that readers see, and to those who wait for one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc as thread_channel;
use std::thread;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::body::{Body, Encoding};
use super::view::{Big, BigBodies, Listed, Step, View};
use super::wire::{self, DeltaBody};
use crate::domain::allocator::{self, Allocations, Generation, GenerationMade};
use crate::domain::{Event, Farm, WorkerName};
use crate::engine::MAX_BATCH;
use crate::engine::machine::Publish;
use crate::ports::Fault;

/// A view holds so many of the generations that are new in it, which is more than an
/// ordinary batch has; after a long import the rest are the replica's to tell.
const MAX_STEPS: usize = MAX_BATCH;

/// The views in force. Clones share them.
#[derive(Debug, Clone)]
pub struct Views {
    current: Arc<ArcSwap<View>>,
    generations: watch::Receiver<Generation>,
}

/// Makes the views; the writer holds it.
pub struct Publisher {
    current: Arc<ArcSwap<View>>,
    generations: watch::Sender<Generation>,
    encoder: thread_channel::SyncSender<()>,
}

impl Views {
    /// The newest view: of every generation acknowledged before the call, or a later one.
    pub fn current(&self) -> arc_swap::Guard<Arc<View>> {
        self.current.load()
    }

    /// The same, to hold across waits.
    pub fn current_owned(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// Wakes when there is a newer generation; [`current`](Self::current) has it by then.
    pub fn generations(&self) -> watch::Receiver<Generation> {
        self.generations.clone()
    }
}

impl Publisher {
    /// Publishes the state as it was recovered, and starts the encoder thread.
    pub fn start(epoch: &str, farm: &Farm) -> Result<(Self, Views), Fault> {
        let mut view = recovered_view(epoch, &farm.allocations);
        view.access = Arc::new(farm.access.clone());
        let (generations, receiver) = watch::channel(view.generation);
        let current = Arc::new(ArcSwap::from_pointee(view));
        // One signal can wait: the encoder takes the newest view, whatever it was woken for.
        let (encoder, signals) = thread_channel::sync_channel(1);
        let newest = current.clone();
        thread::Builder::new().name("encoder".into()).spawn(move || encode_big_bodies(&newest, &signals))?;
        let publisher = Self { current: current.clone(), generations, encoder };
        publisher.wake_encoder();
        Ok((publisher, Views { current, generations: receiver }))
    }

    fn wake_encoder(&self) {
        // A full channel means that it will look again anyway.
        self.encoder.try_send(()).ok();
    }
}

impl Publish<Farm> for Publisher {
    fn publish(&mut self, farm: &Farm, events: &[&Event]) {
        let (mut made, mut access_changed) = (Vec::new(), false);
        for event in events {
            match event {
                Event::Allocator(allocator::Event::GenerationMade(generation)) => made.push(generation),
                Event::Access(_) => access_changed = true,
                Event::Fleet(_) | Event::Dispatcher(_) => {}
            }
        }
        if made.is_empty() && !access_changed {
            return;
        }
        let mut next = View::clone(&self.current.load());
        if access_changed {
            next.access = Arc::new(farm.access.clone());
        }
        if made.is_empty() {
            self.current.store(Arc::new(next));
            return;
        }
        next.steps.clear();
        next.big = Arc::new(BigBodies::default());
        let mut touched = BTreeSet::new();
        for made in made {
            next.step(made, &mut touched);
        }
        next.refresh_workers(&farm.allocations, touched);
        let generation = next.generation;
        self.current.store(Arc::new(next));
        self.generations.send_replace(generation);
        self.wake_encoder();
    }
}

/// Runs until the publisher is gone. What is asked for by then was made by the asker.
fn encode_big_bodies(newest: &ArcSwap<View>, signals: &thread_channel::Receiver<()>) {
    while signals.recv().is_ok() {
        let view = newest.load_full();
        for which in [Big::Blob, Big::Builders, Big::Machines] {
            for encoding in [Encoding::Identity, Encoding::Zstd, Encoding::Gzip] {
                view.big(which, encoding);
            }
        }
    }
}

fn recovered_view(epoch: &str, allocations: &Allocations) -> View {
    let mut view = View::empty(epoch);
    view.generation = allocations.generation();
    for (builder, workers) in allocations.builders() {
        let body = Arc::new(Body::new(wire::machines_body(workers)));
        view.builders.insert(builder.clone(), Listed { list: workers.into(), body });
    }
    for (worker, builders) in allocations.workers() {
        view.workers.insert(worker.clone(), Arc::new(Body::new(wire::builders_body(builders))));
    }
    view
}

impl View {
    /// Takes in one generation, and notes the workers whose builders it changes.
    fn step(&mut self, made: &GenerationMade, touched: &mut BTreeSet<WorkerName>) {
        for builder in made.unset.iter().chain(made.set.keys()) {
            let before = self.builders.get(builder);
            touched.extend(before.iter().flat_map(|listed| listed.list.iter().cloned()));
        }
        for builder in &made.unset {
            self.builders.remove(builder);
        }
        for (builder, workers) in &made.set {
            touched.extend(workers.iter().cloned());
            let body = Arc::new(Body::new(wire::machines_body(workers)));
            self.builders.insert(builder.clone(), Listed { list: workers.as_slice().into(), body });
        }
        let delta = |epoch| DeltaBody {
            epoch,
            generation: made.generation,
            since: self.generation,
            set: &made.set,
            unset: &made.unset,
        };
        let step = Step {
            generation: made.generation,
            delta: Arc::new(Body::new(delta(None).encode())),
            event: Arc::new(Body::new(delta(Some(&self.epoch)).encode())),
        };
        if self.steps.len() == MAX_STEPS {
            self.steps.remove(0);
        }
        self.steps.push(step);
        self.generation = made.generation;
    }

    fn refresh_workers(&mut self, allocations: &Allocations, touched: BTreeSet<WorkerName>) {
        for worker in touched {
            match allocations.builders_of(&worker) {
                Some(builders) => {
                    let body = Arc::new(Body::new(wire::builders_body(builders)));
                    self.workers.insert(worker, body);
                }
                None => self.workers.remove(&worker),
            }
        }
    }
}
