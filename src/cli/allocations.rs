//! `jacuzzi allocations`: every builder's machines, or what changed since a generation.

use std::io::Write;
use std::time::Duration;

use clap::{Args, value_parser};

use super::answers::{Blob, Delta};
use super::client::{Client, decode};
use super::difference::Difference;
use super::globals::{Globals, Output};
use super::print::{join, print_json, print_table, say};
use super::target::Target;

/// The longest that a server lets a reader wait, in seconds.
const MAX_WAIT_SECONDS: u64 = 60;

/// Show which machines every builder has
#[derive(Debug, Args)]
pub(super) struct Allocations {
    /// Only the builders whose list changed since this generation
    #[arg(long, value_name = "GENERATION")]
    since: Option<u64>,

    /// Wait so many seconds for a change, 1 to 60
    #[arg(long, value_name = "SECONDS", requires = "since", value_parser = value_parser!(u64).range(1..=MAX_WAIT_SECONDS))]
    wait: Option<u64>,
}

impl Allocations {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        let all = Target::path("/v1/allocations");
        let Some(since) = self.since else {
            return print_all(&client.read(&all)?, globals.output, out);
        };
        let mut target = all.query("since", since);
        if let Some(seconds) = self.wait {
            target = target.query("wait", seconds);
        }
        match client.get(&target, Duration::from_secs(self.wait.unwrap_or(0)))? {
            Some(answer) => print_changed(&answer, globals.output, out),
            None => {
                say(format_args!("nothing changed after generation {since}"));
                Ok(())
            }
        }
    }
}

fn print_all(answer: &[u8], output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    if output == Output::Json {
        return Ok(print_json(out, answer)?);
    }
    let blob: Blob = decode(answer)?;
    let rows = blob.builders.iter();
    let rows = rows.map(|(builder, machines)| [builder.to_string(), machines.len().to_string(), join(machines)]);
    print_table(out, ["BUILDER", "MACHINES", "NAMES"], rows)?;
    say(format_args!("generation {}, {} builder(s)", blob.generation, blob.builders.len()));
    Ok(())
}

fn print_changed(answer: &[u8], output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    if output == Output::Json {
        return Ok(print_json(out, answer)?);
    }
    let Delta { generation, difference: Difference { set, unset } } = decode(answer)?;
    let count = set.len() + unset.len();
    let set = set.iter();
    let set = set.map(|(builder, machines)| [builder.to_string(), machines.len().to_string(), join(machines)]);
    let unset = unset.iter().map(|builder| [builder.to_string(), "0".into(), "no allocation any more".into()]);
    print_table(out, ["BUILDER", "MACHINES", "NAMES"], set.chain(unset))?;
    say(format_args!("generation {generation}, {count} builder(s) changed"));
    Ok(())
}
