//! The exit codes, on which scripts may rely.

use std::io;
use std::process::ExitCode;

use clap::ValueEnum;

use super::client::ClientFault;
use crate::domain::batching::BadScore;

/// How the process ends. The sentences are those of `--help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[repr(u8)]
pub enum Exit {
    /// done
    Ok = 0,
    /// failed, or refused by the server
    Failed = 1,
    /// the command line is wrong
    Usage = 2,
    /// no server could be reached, or it gave no whole answer
    Unreachable = 3,
    /// what was asked for does not exist (`get`: there is no allocation)
    NotFound = 4,
    /// the push is no batch (`batching decide`)
    NoBatch = 10,
    /// not decided yet: the risk of a commit is missing (`batching`)
    Undecided = 75,
}

impl Exit {
    pub fn of(error: &anyhow::Error) -> Self {
        if let Some(BadScore::Missing(_)) = error.chain().find_map(|cause| cause.downcast_ref()) {
            return Self::Undecided;
        }
        match fault(error) {
            Some(ClientFault::Unreachable { .. } | ClientFault::Interrupted { .. }) => Self::Unreachable,
            Some(ClientFault::NotFound(_)) => Self::NotFound,
            Some(_) => Self::Failed,
            None if is_closed_pipe(error) => Self::Ok,
            None => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

fn fault(error: &anyhow::Error) -> Option<&ClientFault> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

/// Whoever read our output has seen enough (`| head`): no failure, and nothing to say.
/// A connection that breaks looks alike, but is inside of a [`ClientFault`].
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    fault(error).is_none() && error.chain().any(|cause| cause.downcast_ref().is_some_and(closed))
}

/// The list of exit codes for `--help`.
pub(super) fn help() -> String {
    let mut text = String::from("Exit codes:");
    for exit in Exit::value_variants() {
        let meaning = exit.to_possible_value().and_then(|value| value.get_help().map(ToString::to_string));
        text += &format!("\n  {:2}  {}", *exit as u8, meaning.unwrap_or_default());
    }
    text
}
