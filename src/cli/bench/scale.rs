//! A farm of full scale over HTTP: how soon a change reaches those who wait for it, and what all of it weighs.

use std::io::Write;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use hdrhistogram::Histogram;
use serde_json::Value;
use ureq::Agent;

use super::farm::Farm;
use super::server::Server;
use crate::cli::target::Target;

/// One changed builder on its way to long pollers, the blob's size and time, and memory at full scale
#[derive(Debug, Args)]
pub(super) struct Scale {
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    builders: usize,

    #[arg(long, default_value_t = 100_000, value_name = "N")]
    workers: usize,

    /// Changes made, one after the other
    #[arg(long, default_value_t = 200, value_name = "N")]
    changes: usize,

    /// Long polls that wait for each change
    #[arg(long, default_value_t = 8, value_name = "N")]
    pollers: usize,
}

impl Scale {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let farm = Farm::of_scale(self.builders, self.workers)?;
        let begun = Instant::now();
        let server = Server::start(&farm.toml, &farm.blob())?;
        writeln!(
            out,
            "{} builders, {} workers: first start with import {:.2} s, resident {:.0} MiB",
            self.builders,
            self.workers,
            begun.elapsed().as_secs_f64(),
            server.resident_mib()?
        )?;
        let delivery = self.deliver(&server, &farm)?;
        writeln!(
            out,
            "a change, durable, at {} long pollers after: p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms ({} changes)",
            self.pollers,
            delivery.value_at_quantile(0.5) as f64 / 1e3,
            delivery.value_at_quantile(0.99) as f64 / 1e3,
            delivery.max() as f64 / 1e3,
            self.changes
        )?;
        for encoding in ["identity", "gzip", "zstd"] {
            let (bytes, right_after, ready) = self.blob(&server, &farm, encoding)?;
            writeln!(
                out,
                "blob, {encoding:>8}: {:.2} MB; right after a change {right_after:.1} ms, ready-made {ready:.1} ms",
                bytes as f64 / 1e6
            )?;
        }
        writeln!(out, "resident afterwards: {:.0} MiB", server.resident_mib()?)?;
        Ok(())
    }

    /// From the moment that the change is sent to the moment that each poller has it, in microseconds.
    fn deliver(&self, server: &Server, farm: &Farm) -> anyhow::Result<Histogram<u64>> {
        let start = Barrier::new(self.pollers + 1);
        let arrivals: Vec<Vec<Instant>> = thread::scope(|scope| {
            let pollers: Vec<_> =
                (0..self.pollers).map(|_| scope.spawn(|| poll(server, self.changes, &start))).collect();
            let sent = self.send(server, farm, &start)?;
            let mut all = vec![sent];
            for poller in pollers {
                all.push(poller.join().map_err(|_| anyhow::anyhow!("a poller panicked"))??);
            }
            anyhow::Ok(all)
        })?;
        let (sent, received) = arrivals.split_first().context("the writer is the first")?;
        let mut histogram = Histogram::new(3)?;
        for arrived in received {
            for (sent, arrived) in sent.iter().zip(arrived) {
                histogram.record(u64::try_from(arrived.duration_since(*sent).as_micros())?)?;
            }
        }
        Ok(histogram)
    }

    fn send(&self, server: &Server, farm: &Farm, start: &Barrier) -> anyhow::Result<Vec<Instant>> {
        let agent = Agent::new_with_defaults();
        let mut sent = Vec::new();
        for at in 0..self.changes {
            start.wait();
            // The polls are on their way; give them the time to arrive and wait.
            #[expect(clippy::disallowed_methods, reason = "the server does not tell who waits")]
            thread::sleep(Duration::from_millis(5));
            sent.push(Instant::now());
            change(&agent, server, farm, at)?;
        }
        Ok(sent)
    }

    fn blob(&self, server: &Server, farm: &Farm, encoding: &str) -> anyhow::Result<(usize, f64, f64)> {
        let agent = Agent::new_with_defaults();
        change(&agent, server, farm, self.changes + encoding.len())?;
        let url = format!("{}/v1/allocations", server.url);
        let timed = || -> anyhow::Result<(usize, f64)> {
            let begun = Instant::now();
            let mut response = agent.get(&url).header("accept-encoding", encoding).call()?;
            let body = response.body_mut().with_config().limit(1 << 30).read_to_vec()?;
            Ok((body.len(), begun.elapsed().as_secs_f64() * 1e3))
        };
        let (bytes, right_after) = timed()?;
        let (_, ready) = timed()?;
        Ok((bytes, right_after, ready))
    }
}

/// Takes one worker from one builder.
fn change(agent: &Agent, server: &Server, farm: &Farm, at: usize) -> anyhow::Result<()> {
    let (builder, workers) = farm.builders.iter().nth(at % farm.builders.len()).context("the farm has builders")?;
    let target = Target::path("/v1/builders").component(builder.as_str());
    let body = serde_json::json!({ "machines": workers[..workers.len() - 1] }).to_string();
    let authorization = format!("Bearer {}", server.token);
    agent.put(format!("{}{target}", server.url)).header("authorization", authorization).send(body)?;
    Ok(())
}

fn poll(server: &Server, changes: usize, start: &Barrier) -> anyhow::Result<Vec<Instant>> {
    let agent = Agent::new_with_defaults();
    let read = |query: &str| -> anyhow::Result<Value> {
        let mut response = agent.get(format!("{}/v1/allocations?{query}", server.url)).call()?;
        ensure!(response.status() == 200, "a long poll was answered {}", response.status());
        Ok(serde_json::from_str(&response.body_mut().read_to_string()?)?)
    };
    // The import was generation 1.
    let mut since = 1;
    let mut arrived = Vec::new();
    for _ in 0..changes {
        start.wait();
        let delta = read(&format!("since={since}&wait=30"))?;
        arrived.push(Instant::now());
        since = delta["generation"].as_u64().context("a delta has a generation")?;
    }
    Ok(arrived)
}
