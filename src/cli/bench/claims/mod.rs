//! Claims over HTTP, durable before they are answered: how many a second, how soon, and what beanstalkd does on the same disk.

mod beanstalkd;
mod client;
mod connection;
mod fleet;
mod idle;
mod load;

use std::io::Write;
use std::time::Duration;

use clap::Args;
use hdrhistogram::Histogram;

use self::beanstalkd::Beanstalkd;
use self::fleet::Fleet;
use self::load::Load;
use super::cost::Cost;
use super::server::Server;

/// Nothing is allocated: a pool's jobs go to any of its workers.
const NO_ALLOCATIONS: &[u8] = br#"{"builders":{}}"#;

/// With one worker a call only so many of the workers are claimed for, as it takes so many calls more.
const ONE_IN: usize = 10;

/// Durable claims per second over HTTP, their latency, and long polls, beside beanstalkd (needs beanstalkd)
#[derive(Debug, Args)]
pub(super) struct Claims {
    /// Connections of the load generator, each with a session and a pool of workers of its own
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    connections: u16,

    /// Workers of a call; all of it is measured with one worker a call, too, for a tenth of the workers
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    workers: u16,

    /// Workers of the farm; in a round each of them is claimed for once. Fewer on a slow disk: a lease of 60 s outlasts a round
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    fleet: usize,

    /// Rounds; the best of each rate counts, and all of the times
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// Claims a second at which the latency is measured, besides half of the most; at most that half
    #[arg(long, default_value_t = 15_000.0, value_name = "N")]
    pace: f64,

    /// Seconds of long polls, and of beanstalkd's puts in each round
    #[arg(long, default_value_t = 5, value_name = "N")]
    seconds: u64,
}

/// The best of all rounds: how many a second, and what that took.
#[derive(Default)]
struct Best {
    rate: f64,
    cost: Cost,
}

impl Best {
    fn or(&mut self, count: usize, cost: Cost) {
        let rate = count as f64 / cost.wall.as_secs_f64();
        if rate > self.rate {
            *self = Self { rate, cost };
        }
    }
}

impl Claims {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let pools = usize::from(self.connections);
        let fleet = Fleet { pools, workers: (self.fleet / pools).max(1) };
        // First of all: without it nothing is measured.
        let peer = Beanstalkd::start()?;
        let server = Server::start(&fleet.farm_file()?, NO_ALLOCATIONS)?;
        writeln!(
            out,
            "{} workers, {pools} connections, best of {} rounds; one HTTP thread; jobs, claims and finishes are durable before they are answered",
            fleet.size(),
            self.rounds
        )?;
        out.flush()?;
        let cycle = self.rates(&server, fleet, usize::from(self.workers), out)?;
        let few = Fleet { workers: fleet.workers.div_ceil(ONE_IN), ..fleet };
        self.rates(&server, few, 1, out)?;
        let (times, cost) = idle::measure(&server, fleet, Duration::from_secs(self.seconds))?;
        writeln!(out, "idle worker in a long poll, post to claim: {}; {cost}", quantiles(&times))?;
        out.flush()?;
        // What our own server does in the background must not slow the peer.
        drop(server);
        self.beside(&peer, cycle, out)
    }

    /// The rates with so many workers a call, and the latency at half of that;
    /// gives the rate of claims that are finished, too.
    fn rates(&self, server: &Server, fleet: Fleet, a_call: usize, out: &mut dyn Write) -> anyhow::Result<f64> {
        let mut load = Load::new(server, fleet, a_call)?;
        // Not counted: workers that have run nothing yet are easier to choose from.
        load.submit()?;
        load.claim_and_finish()?;
        let (mut submit, mut claim, mut both) = (Best::default(), Best::default(), Best::default());
        for _ in 0..self.rounds {
            submit.or(fleet.size(), load.submit()?);
            claim.or(fleet.size(), load.claim()?);
            load.finish()?;
            load.submit()?;
            both.or(fleet.size(), load.claim_and_finish()?);
        }
        writeln!(out, "{a_call} a call: submit {:.0} jobs/s; {}", submit.rate, submit.cost)?;
        writeln!(out, "{a_call} a call: claim {:.0} claims/s; {}", claim.rate, claim.cost)?;
        writeln!(out, "{a_call} a call: claim and finish {:.0} claims/s; {}", both.rate, both.cost)?;
        let half = claim.rate / 2.0;
        for pace in [half, self.pace.min(half)] {
            let (mut times, mut cost) = (Histogram::new(3)?, Cost::default());
            for _ in 0..self.rounds {
                load.submit()?;
                cost += load.claim_paced(pace / a_call as f64, &mut times)?;
                load.finish()?;
            }
            writeln!(
                out,
                "{a_call} a call: at {pace:.0} claims/s, a call since it was due: {}; {cost}",
                quantiles(&times)
            )?;
            out.flush()?;
        }
        Ok(both.rate)
    }

    fn beside(&self, peer: &Beanstalkd, ours: f64, out: &mut dyn Write) -> anyhow::Result<()> {
        let (connections, at_once) = (usize::from(self.connections), usize::from(self.workers));
        let (mut put, mut taken) = (Best::default(), Best::default());
        for _ in 0..self.rounds {
            let figures = peer.measure(connections, at_once, Duration::from_secs(self.seconds))?;
            put.or(figures.jobs, figures.put);
            taken.or(figures.jobs, figures.reserve_and_delete);
        }
        writeln!(out, "beanstalkd -f 0, {at_once} pipelined: put {:.0} jobs/s (durable); {}", put.rate, put.cost)?;
        writeln!(
            out,
            "beanstalkd -f 0, {at_once} pipelined: reserve and delete {:.0} jobs/s (durable is the delete, not the reserve); {}",
            taken.rate, taken.cost
        )?;
        writeln!(
            out,
            "our claim and finish (both durable, {at_once} workers a call, finishes pipelined) to its reserve and delete: ratio {:.2}",
            ours / taken.rate
        )?;
        Ok(())
    }
}

/// Of times in microseconds.
fn quantiles(times: &Histogram<u64>) -> String {
    let ms = |micros| micros as f64 / 1e3;
    format!(
        "p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms ({} times)",
        ms(times.value_at_quantile(0.5)),
        ms(times.value_at_quantile(0.99)),
        ms(times.max()),
        times.len()
    )
}
