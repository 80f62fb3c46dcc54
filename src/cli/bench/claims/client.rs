//! One connection with a session and workers of its own, which claims for them and finishes what it got.

use std::time::Instant;

use anyhow::ensure;
use serde::Deserialize;
use serde_json::json;

use super::connection::{Connection, post};
use crate::cli::bench::server::Server;

pub(super) struct Client<'a> {
    server: &'a Server,
    connection: Connection,
    calls: Vec<Call>,
}

/// A claim call for some of the workers, made again and again.
struct Call {
    request: Vec<u8>,
    workers: usize,
    /// One request for each claim that it got.
    finishes: Vec<u8>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    claims: Vec<Claim<'a>>,
}

#[derive(Deserialize)]
struct Claim<'a> {
    id: &'a str,
    token: &'a str,
}

impl<'a> Client<'a> {
    /// So many workers a call; `wait` is the long poll, in seconds.
    pub(super) fn new(server: &'a Server, workers: &[String], a_call: usize, wait: u32) -> anyhow::Result<Self> {
        let session = workers.first();
        let call = |workers: &[String]| {
            let body = json!({"workers": workers, "wait": wait, "session": session}).to_string();
            anyhow::Ok(Call {
                request: post(server, "/v1/claims", &body)?,
                workers: workers.len(),
                finishes: Vec::new(),
            })
        };
        let calls = workers.chunks(a_call).map(call).collect::<Result<_, _>>()?;
        Ok(Self { server, connection: Connection::open(server)?, calls })
    }

    /// How many calls it takes to claim for every worker once.
    pub(super) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Claims for the workers of one call, all of which get a job; gives the
    /// moment when the answer was there.
    pub(super) fn claim(&mut self, call: usize) -> anyhow::Result<Instant> {
        let call = &mut self.calls[call];
        self.connection.send(&call.request)?;
        let body = self.connection.answer(200)?;
        let answered = Instant::now();
        let Answer { claims } = serde_json::from_slice(body)?;
        ensure!(claims.len() == call.workers, "{} workers got {} jobs", call.workers, claims.len());
        call.finishes.clear();
        for Claim { id, token } in claims {
            let body = format!(r#"{{"token":"{token}","result":"success"}}"#);
            call.finishes.extend(post(self.server, &format!("/v1/claims/{id}/finish"), &body)?);
        }
        Ok(answered)
    }

    /// Ends the runs of one call: all of them are sent before an answer is read.
    pub(super) fn finish(&mut self, call: usize) -> anyhow::Result<()> {
        let call = &self.calls[call];
        self.connection.send(&call.finishes)?;
        for _ in 0..call.workers {
            self.connection.answer(200)?;
        }
        Ok(())
    }
}
