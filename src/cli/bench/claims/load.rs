//! All clients at once: the timed parts of a round, each of which takes every worker through the same.

use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::client::Client;
use super::connection::{Connection, post};
use super::fleet::Fleet;
use crate::cli::bench::cost::Cost;
use crate::cli::bench::server::Server;
use crate::domain::dispatcher::MAX_JOBS_PER_CALL;

pub(super) struct Load<'a> {
    server: &'a Server,
    master: Connection,
    /// One job for each worker.
    submissions: Vec<Vec<u8>>,
    clients: Vec<Client<'a>>,
}

impl<'a> Load<'a> {
    /// A client for each pool, with so many workers a call.
    pub(super) fn new(server: &'a Server, fleet: Fleet, a_call: usize) -> anyhow::Result<Self> {
        let call = |jobs: &[String]| post(server, "/v1/jobs", &format!("[{}]", jobs.join(",")));
        Ok(Self {
            server,
            master: Connection::open(server)?,
            submissions: fleet.jobs().chunks(MAX_JOBS_PER_CALL).map(call).collect::<Result<_, _>>()?,
            clients: (0..fleet.pools)
                .map(|pool| Client::new(server, &fleet.workers(pool), a_call, 0))
                .collect::<Result<_, _>>()?,
        })
    }

    /// A job for each worker, one call after the other.
    pub(super) fn submit(&mut self) -> anyhow::Result<Cost> {
        let (master, submissions) = (&mut self.master, &self.submissions);
        let submit = || {
            submissions.iter().try_for_each(|request| {
                master.send(request)?;
                master.answer(201).map(drop)
            })
        };
        Ok(Cost::of(self.server.process_id(), submit)?.1)
    }

    pub(super) fn claim(&mut self) -> anyhow::Result<Cost> {
        let claim = |_, client: &mut Client<'_>| (0..client.calls()).try_for_each(|call| client.claim(call).map(drop));
        Ok(self.at_once(claim)?.1)
    }

    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        let finish = |_, client: &mut Client<'_>| (0..client.calls()).try_for_each(|call| client.finish(call));
        self.at_once(finish).map(drop)
    }

    /// Each call finishes what it got before the next is made.
    pub(super) fn claim_and_finish(&mut self) -> anyhow::Result<Cost> {
        let both = |_, client: &mut Client<'_>| {
            (0..client.calls()).try_for_each(|call| {
                client.claim(call)?;
                client.finish(call)
            })
        };
        Ok(self.at_once(both)?.1)
    }

    /// Claims with so many calls a second of all clients together, and how long
    /// each took from when it was due, in microseconds: a call that has to wait
    /// for a slow one before it counts that wait.
    pub(super) fn claim_paced(&mut self, calls_per_second: f64, times: &mut Histogram<u64>) -> anyhow::Result<Cost> {
        let clients = self.clients.len();
        let begin = Instant::now();
        let paced = |index, client: &mut Client<'_>| {
            let mut times = Vec::new();
            for call in 0..client.calls() {
                let due = begin + Duration::from_secs_f64((call * clients + index) as f64 / calls_per_second);
                #[expect(clippy::disallowed_methods, reason = "the pace is what is asked for")]
                thread::sleep(due.saturating_duration_since(Instant::now()));
                let took = client.claim(call)?.duration_since(due);
                times.push(u64::try_from(took.as_micros())?);
            }
            Ok(times)
        };
        let (all, cost) = self.at_once(paced)?;
        all.into_iter().flatten().try_for_each(|micros| times.record(micros))?;
        Ok(cost)
    }

    /// Each client does it, with its number, on a thread of its own.
    fn at_once<T: Send>(
        &mut self,
        act: impl Fn(usize, &mut Client<'a>) -> anyhow::Result<T> + Sync,
    ) -> anyhow::Result<(Vec<T>, Cost)> {
        let (act, clients) = (&act, &mut self.clients);
        Cost::of(self.server.process_id(), || {
            thread::scope(|scope| {
                let start = |(index, client)| scope.spawn(move || act(index, client));
                let threads: Vec<_> = clients.iter_mut().enumerate().map(start).collect();
                threads.into_iter().map(|thread| thread.join().expect("a client does not panic")).collect()
            })
        })
    }
}
