//! The system's random source, for what nobody may guess and what must never repeat.

use anyhow::Context;

use crate::ports::Fault;

/// `BYTES` bytes from the system's random source, in hexadecimal.
pub fn random_hex<const BYTES: usize>() -> Result<String, Fault> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).context("the system's random source failed")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
