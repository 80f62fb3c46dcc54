//! Idle workers in long polls: how soon a job is with one of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use hdrhistogram::Histogram;

use super::client::Client;
use super::connection::{Connection, post};
use super::fleet::{self, Fleet};
use crate::cli::bench::cost::Cost;
use crate::cli::bench::server::Server;

/// Seconds of each long poll.
const WAIT: u32 = 30;

/// Posts jobs for so long, each when the one before has arrived, to one pool
/// after the other; in each a worker waits. Gives the microseconds from the
/// start of a post to the claim at the worker.
pub(super) fn measure(server: &Server, fleet: Fleet, span: Duration) -> anyhow::Result<(Histogram<u64>, Cost)> {
    let is_over = &AtomicBool::new(false);
    let (arrivals, arrived) = mpsc::channel();
    thread::scope(|scope| {
        let wait = |pool| {
            let arrivals = arrivals.clone();
            scope.spawn(move || work(server, &fleet.workers(pool)[..1], &arrivals, is_over))
        };
        let workers: Vec<_> = (0..fleet.pools).map(wait).collect();
        drop(arrivals);
        let mut master = Master::new(server, fleet, arrived)?;
        // The first of each may come before its worker waits.
        (0..fleet.pools).try_for_each(|_| master.post().map(drop))?;
        let mut times = Histogram::new(3)?;
        let ((), cost) = Cost::of(server.process_id(), || {
            let end = Instant::now() + span;
            while Instant::now() < end {
                times.record(u64::try_from(master.post()?.as_micros())?)?;
            }
            Ok(())
        })?;
        is_over.store(true, Ordering::Relaxed);
        // One more for each, after which it waits no more.
        (0..fleet.pools).try_for_each(|_| master.post().map(drop))?;
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))?;
        Ok((times, cost))
    })
}

/// Waits for a job, says when it was there, ends it, and waits again.
fn work(server: &Server, worker: &[String], arrivals: &Sender<Instant>, is_over: &AtomicBool) -> anyhow::Result<()> {
    let mut client = Client::new(server, worker, 1, WAIT)?;
    loop {
        let arrived = client.claim(0)?;
        let is_last = is_over.load(Ordering::Relaxed);
        arrivals.send(arrived)?;
        client.finish(0)?;
        if is_last {
            return Ok(());
        }
    }
}

/// Who posts the jobs.
struct Master {
    connection: Connection,
    /// One job for each pool.
    posts: Vec<Vec<u8>>,
    posted: usize,
    arrived: Receiver<Instant>,
}

impl Master {
    fn new(server: &Server, fleet: Fleet, arrived: Receiver<Instant>) -> anyhow::Result<Self> {
        let posts = (0..fleet.pools).map(|pool| post(server, "/v1/jobs", &fleet::job(pool, 0)));
        Ok(Self { connection: Connection::open(server)?, posts: posts.collect::<Result<_, _>>()?, posted: 0, arrived })
    }

    /// Posts a job to the next pool; gives the time until it was at its worker.
    fn post(&mut self) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.connection.send(&self.posts[self.posted % self.posts.len()])?;
        self.connection.answer(201)?;
        self.posted += 1;
        let arrived = self.arrived.recv().context("no worker waits any more")?;
        Ok(arrived.duration_since(begun))
    }
}
