//! `jacuzzi serve`: the composition root, which alone chooses adapters and puts all parts together.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use actix_web::dev::ServerHandle;
use actix_web::rt;
use actix_web::web::Data;
use anyhow::{Context, anyhow};
use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::globals::Globals;
use super::print::say;
use super::target::Target;
use crate::adapters::clock::SystemClock;
use crate::adapters::data_folder::{DataFolder, TOKEN_FILE, journal_path, runs_path};
use crate::adapters::history_file;
use crate::adapters::runs::SqliteRuns;
use crate::adapters::sqlite::SqliteRecords;
use crate::adapters::tls;
use crate::config::{FarmFile, Settings};
use crate::daemons::{FarmFileDaemon, RunRecorder, RunRecorderThread, Ticker};
use crate::domain::access::{self, Role};
use crate::domain::allocator::{self, Generation};
use crate::domain::{Author, Farm, TokenName, fleet};
use crate::engine::views::{Publisher, Views};
use crate::engine::{Engine, Parts, Threads, recover};
use crate::http::{self, Activity, App, Waiters};
use crate::ports::{Clock, Fault};
use crate::telemetry;

/// Run the server
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The farm file: pools, workers, builder rules
    #[arg(long, value_name = "FILE")]
    farm: PathBuf,

    /// The server's settings (see config/jacuzzi.toml)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Where to listen [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// A history, blob or static tree's blob to import once, into an empty data folder
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
}

/// The engine with all that was recovered, and what answers for it.
struct Running {
    engine: Engine<Farm>,
    threads: Threads<Farm>,
    views: Views,
    waiters: Waiters,
    activity: Activity,
    runs: Arc<SqliteRuns>,
    recorder: RunRecorderThread,
    data: DataFolder,
}

impl Serve {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let begun = Instant::now();
        let settings = self.settings(globals)?;
        telemetry::start(&settings.log);
        let farm_file = FarmFile::read(&self.farm).map_err(|faults| anyhow!("{faults}"))?;
        // Bound first: a taken port is found before anything is touched.
        let listener = TcpListener::bind(settings.server.listen)
            .with_context(|| format!("cannot listen on {} (is another server running?)", settings.server.listen))?;
        let tls = settings.server.tls.as_ref().map(|tls| tls::server(&tls.certificate, &tls.key)).transpose()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr()?);
        let running = start_engine(&settings)?;
        let import = self.import.clone().or_else(|| farm_file.import.clone());

        rt::System::new().block_on(async move {
            prepare(&running, farm_file, import.as_deref()).await?;
            let (stop, stopping) = watch::channel(false);
            let ticker =
                Ticker { engine: running.engine.clone(), clock: Arc::new(SystemClock), stopping: stopping.clone() };
            let app = Data::new(self.app(&settings, &running, stopping)?);
            let server = http::server(listener, &settings.server, tls, app.clone())?;
            // Before anybody is told that the server is there: a signal may follow at once.
            let signals = Signals::catch()?;
            writeln!(out, "listening on {url}")?;
            out.flush()?;
            say(hints(&running, &url, begun));
            let handle = server.handle();
            let ticker = rt::spawn(ticker.run());
            rt::spawn(signals.obey(app, stop, handle));
            server.await?;
            ticker.await?;
            let Running { engine, threads, views: _, waiters: _, activity: _, runs: _, recorder, data } = running;
            drop(engine);
            tracing::info!("no requests are left; taking a last snapshot");
            threads.stop()?;
            recorder.stop();
            drop(data);
            Ok(())
        })
    }

    fn settings(&self, globals: &Globals) -> anyhow::Result<Settings> {
        let listen = self.listen.clone().map(|listen| ("server.listen", listen));
        let flags: Vec<_> = listen.into_iter().chain(globals.data_dir_flag()?).collect();
        let environment = std::env::vars_os();
        Settings::load(self.config.as_deref(), environment, &flags).map_err(|faults| anyhow!("{faults}"))
    }

    fn app(&self, settings: &Settings, running: &Running, stopping: watch::Receiver<bool>) -> anyhow::Result<App> {
        let farm = self.farm.clone();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let records = Arc::new(SqliteRecords::new(journal_path(running.data.path())));
        Ok(App {
            engine: running.engine.clone(),
            views: running.views.clone(),
            made: http::allocations::Made::default(),
            clock: clock.clone(),
            records: records.clone(),
            payloads: records,
            waiters: running.waiters.clone(),
            activity: running.activity.clone(),
            runs: running.runs.clone(),
            farm_file: FarmFileDaemon {
                engine: running.engine.clone(),
                clock,
                read: Arc::new(move || Ok(FarmFile::read(&farm)?.definition)),
            },
            limits: http::Limits::new(&settings.limits),
            metrics: http::Metrics::new(
                running.engine.stats().clone(),
                running.views.clone(),
                running.activity.clone(),
            ),
            hosts: settings.server.hosts.clone(),
            max_body_bytes: settings.server.max_body_bytes,
            max_import_bytes: settings.server.max_import_bytes,
            stopping,
        })
    }
}

fn start_engine(settings: &Settings) -> Result<Running, Fault> {
    let data = DataFolder::open(&settings.data.dir)?;
    let mut journal = data.journal()?;
    let snapshots = data.snapshots(usize::try_from(settings.data.keep_snapshots)?)?;
    let recovered = recover::<Farm>(&mut journal, &snapshots)
        .with_context(|| format!("cannot start from the data folder {}", data.path().display()))?;
    let epoch = journal.epoch()?;
    let (publisher, views) = Publisher::start(&epoch, &recovered.state)?;
    let (waiters, activity) = (Waiters::default(), Activity::of(&recovered.state));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (engine, threads) = Engine::start(Parts {
        recovered,
        journal: Box::new(journal),
        snapshots: Box::new(snapshots),
        clock: clock.clone(),
        publisher: (waiters.clone(), publisher, activity.clone()),
        snapshot_every: settings.data.snapshot_every,
    })?;
    let runs = Arc::new(SqliteRuns::new(runs_path(data.path()), epoch));
    let recorder = RunRecorder {
        records: Arc::new(SqliteRecords::new(journal_path(data.path()))),
        runs: runs.clone(),
        stats: engine.stats().clone(),
        clock,
        keep: settings.runs.keep,
    };
    let recorder = recorder.spawn()?;
    Ok(Running { engine, threads, views, waiters, activity, runs, recorder, data })
}

/// Puts the farm file in force, and imports a history into an empty folder.
async fn prepare(running: &Running, farm_file: FarmFile, import: Option<&Path>) -> anyhow::Result<()> {
    let definition = Box::new(farm_file.definition);
    let command = fleet::Command::Define { definition, author: Author::new("farm file") };
    let done = running.engine.submit(command.into()).await?;
    if !done.events.is_empty() {
        tracing::info!("the farm file is new or has changed since the last start; it is in force now");
    }
    admit_operator(running).await?;
    let Some(path) = import else { return Ok(()) };
    if running.views.current().generation() > Generation(0) {
        let generation = running.views.current().generation();
        say(format_args!("not importing {}: generation {generation} is in force already", path.display()));
        return Ok(());
    }
    let shown = path.display();
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}, which is to be imported"))?;
    let lines = history_file::parse(&bytes).with_context(|| format!("cannot import {shown}"))?;
    let reason = Some(format!("first import of {}", path.file_name().unwrap_or_default().display()));
    let author = Author::new("import");
    let done =
        running.engine.submit(allocator::Command::Import { lines, strict: false, author, reason }.into()).await?;
    let broken = http::allocations::writes::made(&done.events).map(|made| made.broken.len()).sum::<usize>();
    say(format_args!(
        "imported {} generations of {shown}; they break {broken} rule(s), as `jacuzzi journal export` shows",
        done.events.len()
    ));
    Ok(())
}

/// Makes a new operator token where the data folder has none, as at the first
/// start: whoever may write to that folder may do everything anyway. A token
/// that was revoked stays so, though the file still has it.
async fn admit_operator(running: &Running) -> anyhow::Result<()> {
    let view = running.views.current_owned();
    let left = running.data.operator_token()?;
    if let Some(token) = left.as_deref().filter(|_| view.access().tokens().len() > 0) {
        let hash = http::hash(token);
        if !view.access().tokens().any(|(_, token)| token.hash == hash) {
            let file = running.data.path().join(TOKEN_FILE);
            tracing::warn!(
                "the token in {} is not good any more; remove the file and start again for a new one",
                file.display()
            );
        }
        return Ok(());
    }
    let token = match left {
        Some(token) => token,
        None => http::new_token()?,
    };
    let (name, author) = (TokenName::parse("operator")?, Author::new("start"));
    let renew = access::Command::Renew { name, role: Role::Operator, hash: http::hash(&token), author };
    // The record first: after a crash in between there is no file, and the next start makes another token.
    running.engine.submit(renew.into()).await?;
    running.data.leave_operator_token(&token)
}

/// For the person at the terminal: what to try first.
fn hints(running: &Running, url: &str, begun: Instant) -> String {
    let view = running.views.current();
    let mut text = format!(
        "generation {} with {} builders on {} machines, ready after {:.0} ms; try:\n  {url}/v1/allocations",
        view.generation(),
        view.builder_count(),
        view.worker_count(),
        begun.elapsed().as_secs_f64() * 1e3,
    );
    if let Some(builder) = view.first_builder() {
        text += &format!("\n  {url}{}", Target::path("/v1/builders").component(builder.as_str()));
    }
    text += &format!("\n  {url}/v1/allocations/history?limit=5");
    text += &format!("\nthe operator token is in {}", running.data.path().join(TOKEN_FILE).display());
    text
}

/// What a running server is told by signals.
struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on they do not end the process by themselves.
    fn catch() -> Result<Self, Fault> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// SIGHUP reloads the farm file; SIGTERM and SIGINT end streams first, then requests, then the process.
    async fn obey(mut self, app: Data<App>, stop: watch::Sender<bool>, server: ServerHandle) {
        loop {
            tokio::select! {
                _ = self.hangup.recv() => app.farm_file.reload_on_signal().await,
                _ = self.terminate.recv() => break,
                _ = self.interrupt.recv() => break,
            }
        }
        tracing::info!("stopping: streams end, requests under way are answered");
        stop.send_replace(true);
        drop(app);
        server.stop(true).await;
    }
}
