//! `jacuzzi apply`: put a whole state of the allocations in force, after showing what that changes.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::change::{ShownChange, in_force};
use super::client::Client;
use super::difference::Difference;
use super::globals::Globals;
use super::offer;
use super::target::Target;
use crate::domain::allocator::Builders;

/// Replace all allocations, as one generation, after showing what that changes
///
/// Builders that FILE does not name lose their allocation. The write is refused if somebody
/// else made one after the difference was shown.
#[derive(Debug, Args)]
pub(super) struct Apply {
    /// A blob, as `jacuzzi export` writes it, or the folder of a static tree, or - for stdin
    #[arg(value_name = "FILE|DIR|-")]
    file: PathBuf,

    #[command(flatten)]
    shown: ShownChange,
}

/// `PUT /v1/allocations`
#[derive(Serialize)]
struct Body<'a> {
    builders: &'a Builders,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl Apply {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let builders = offer::read(&self.file)?;
        let client = Client::new(globals);
        let before = in_force(&client)?;
        let difference = Difference::between(&before.builders, &builders);
        let change = &self.shown.change;
        let target = change.of(Target::path("/v1/allocations"));
        let body = Body { builders: &builders, reason: change.reason.as_deref() };
        self.shown.make(&before, &difference, globals, out, |tag| client.put_json(&target, &body, Some(tag)))
    }
}
