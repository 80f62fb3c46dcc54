//! How a test reaches the real dispatcher: a scenario in, what came of it out.

use std::io::Write;
use std::process::{Command, Stdio};

use jacuzzi::config;
use jacuzzi::sim::scenario::{self, Outcome};
use serde_json::{Value, json};

/// Plays the scenario on the real decision code, and leaves out the events that
/// were made of it; the error is what a user would read.
pub fn play(scenario: &Value) -> Result<Value, String> {
    let scenario = config::read_scenario(&scenario.to_string()).map_err(|faults| faults.to_string())?;
    let Outcome { assignments, decisions, pending, explain, events: _ } = scenario::play(&scenario);
    Ok(json!({"assignments": assignments, "decisions": decisions, "pending": pending, "explain": explain}))
}

/// The same by `jacuzzi simulate scenario`.
pub fn play_by_command(scenario: &Value) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jacuzzi"));
    command.args(["simulate", "scenario", "-"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = piped.spawn().unwrap();
    running.stdin.take().unwrap().write_all(scenario.to_string().as_bytes()).unwrap();
    let done = running.wait_with_output().unwrap();
    if done.status.success() {
        Ok(serde_json::from_slice(&done.stdout).unwrap())
    } else {
        Err(String::from_utf8(done.stderr).unwrap())
    }
}
