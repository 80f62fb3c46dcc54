//! What the server says about itself while it runs: the log, on stderr.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::config::{Log, LogFormat};

/// Starts logging for the whole process; a second call changes nothing.
pub fn start(log: &Log) {
    let filter = EnvFilter::try_new(&log.level).expect("the settings check the directives");
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_span_events(FmtSpan::NONE);
    let started = match log.format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.ok();
}
