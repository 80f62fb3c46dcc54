//! `jacuzzi rollback`: everything as it was in an earlier generation, after showing what that changes.

use std::io::Write;

use clap::Args;
use serde::Serialize;

use super::answers::Delta;
use super::change::{ShownChange, in_force};
use super::client::{Client, decode};
use super::globals::Globals;
use super::target::Target;

/// Make a new generation that is like an earlier one, after showing what that changes
///
/// Today's rules apply to what it changes. The write is refused if somebody else made one after
/// the difference was shown.
#[derive(Debug, Args)]
pub(super) struct Rollback {
    /// As `jacuzzi generations` lists them
    generation: u64,

    #[command(flatten)]
    shown: ShownChange,
}

/// `POST /v1/allocations/rollback`
#[derive(Serialize)]
struct Body<'a> {
    generation: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl Rollback {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        let before = in_force(&client)?;
        let back = Target::path("/v1/allocations").query("since", before.generation).query("until", self.generation);
        let Delta { difference, .. } = decode(&client.read(&back.query("epoch", &before.epoch))?)?;
        let change = &self.shown.change;
        let target = change.of(Target::path("/v1/allocations/rollback"));
        let body = Body { generation: self.generation, reason: change.reason.as_deref() };
        self.shown.make(&before, &difference, globals, out, |tag| client.post_json(&target, &body, Some(tag)))
    }
}
