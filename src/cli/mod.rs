//! The command line: what can be asked of jacuzzi, data to stdout and everything else to stderr.

mod allocations;
mod answers;
mod apply;
mod audit;
mod backup;
mod batching;
mod bench;
mod change;
mod client;
mod completions;
mod config;
mod credentials;
mod diff;
mod difference;
mod exit;
mod explain;
mod export;
mod follower;
mod generations;
mod get;
mod globals;
mod import;
mod job;
mod journal;
mod offer;
mod openapi;
mod pause;
mod print;
mod queue;
mod rollback;
mod runs;
mod serve;
mod set;
mod simulate;
mod target;
mod token;
mod trouble;
mod trust;
mod until_stopped;
mod worker;

use std::io::Write;

use clap::{Parser, Subcommand};

pub use exit::Exit;
pub use globals::{DEFAULT_DATA_DIR, Globals, Output, ServerUrl};
pub use print::say_error;

/// The control plane of a CI farm: which worker may run what, what runs next, and how many machines are up
#[derive(Debug, Parser)]
#[command(name = "jacuzzi", version, after_help = exit::help(), disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Get(get::Get),
    Allocations(allocations::Allocations),
    Diff(diff::Diff),
    Generations(generations::Generations),
    Set(set::Set),
    Apply(apply::Apply),
    Rollback(rollback::Rollback),
    Import(import::Import),
    Export(export::Export),
    Worker(worker::Worker),
    Pause(pause::Pause),
    Resume(pause::Resume),
    Queue(queue::Queue),
    Explain(explain::Explain),
    Job(job::Job),
    Token(token::Token),
    Audit(audit::Audit),
    Runs(runs::Runs),
    Config(config::Config),
    Journal(journal::Journal),
    Backup(backup::Backup),
    Restore(backup::Restore),
    Simulate(simulate::Simulate),
    Batching(batching::Batching),
    Bench(bench::Bench),
    Openapi(openapi::OpenApi),
    Completions(completions::Completions),
}

impl Cli {
    /// Carries out the command; `out` gets the data that it gives. Gives the
    /// code to end with where that is a part of the answer.
    ///
    /// # Errors
    /// Anything that keeps the command from being done. [`Exit::of`] says
    /// which code the process should end with.
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        let globals = &self.globals;
        match self.command {
            Command::Serve(serve) => serve.run(globals, out),
            Command::Get(get) => get.run(globals, out),
            Command::Allocations(allocations) => allocations.run(globals, out),
            Command::Diff(diff) => diff.run(globals, out),
            Command::Generations(generations) => generations.run(globals, out),
            Command::Set(set) => set.run(globals, out),
            Command::Apply(apply) => apply.run(globals, out),
            Command::Rollback(rollback) => rollback.run(globals, out),
            Command::Import(import) => import.run(globals, out),
            Command::Export(export) => export.run(globals, out),
            Command::Worker(worker) => worker.run(globals, out),
            Command::Pause(pause) => pause.run(globals, out),
            Command::Resume(resume) => resume.run(globals, out),
            Command::Queue(queue) => queue.run(globals, out),
            Command::Explain(explain) => explain.run(globals, out),
            Command::Job(job) => job.run(globals, out),
            Command::Token(token) => token.run(globals, out),
            Command::Audit(audit) => audit.run(globals, out),
            Command::Runs(runs) => runs.run(globals, out),
            Command::Config(config) => config.run(globals, out),
            Command::Journal(journal) => journal.run(globals, out),
            Command::Backup(backup) => backup.run(globals),
            Command::Restore(restore) => restore.run(globals),
            Command::Simulate(simulate) => simulate.run(globals, out),
            Command::Batching(batching) => {
                let exit = batching.run(globals, out)?;
                out.flush()?;
                return Ok(exit);
            }
            Command::Bench(bench) => bench.run(out),
            Command::Openapi(openapi) => openapi.run(out),
            Command::Completions(completions) => completions.run(out),
        }?;
        out.flush()?;
        Ok(Exit::Ok)
    }
}

#[cfg(test)]
mod fake_server;
#[cfg(test)]
mod tests;
