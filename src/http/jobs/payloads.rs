//! The payloads of jobs, which are kept beside the journal and read only where they are shown.

use std::collections::HashMap;

use actix_web::web;
use serde_json::value::RawValue;

use crate::domain::dispatcher::JobId;
use crate::http::App;
use crate::ports::Fault;

impl App {
    /// Those of these jobs that have one, as JSON; a job that has ended has none any more.
    pub async fn payloads_of(&self, jobs: Vec<JobId>) -> Result<HashMap<JobId, Box<RawValue>>, Fault> {
        if jobs.is_empty() {
            return Ok(HashMap::new());
        }
        let payloads = self.payloads.clone();
        let keys: Vec<u64> = jobs.iter().map(|job| job.0).collect();
        let found = web::block(move || payloads.payloads(&keys)).await??;
        let json = |(key, text)| Ok((JobId(key), RawValue::from_string(text)?));
        found.into_iter().map(json).collect()
    }
}
