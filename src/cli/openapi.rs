//! `jacuzzi openapi`: the description of the HTTP API, for those who generate clients or look for changes.

use std::io::Write;

use clap::Args;

use crate::http::openapi;

/// Print the OpenAPI document of the HTTP API
#[derive(Debug, Args)]
pub(super) struct OpenApi {}

impl OpenApi {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        Ok(out.write_all(openapi::pretty().as_bytes())?)
    }
}
