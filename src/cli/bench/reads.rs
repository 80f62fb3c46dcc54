//! Reads beside nginx, which serves the same bytes as static files: one worker process each, the same load.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use tempfile::TempDir;

use super::farm::Farm;
use super::server::Server;
use crate::adapters::{history_file, static_tree};
use crate::cli::target::Target;
use crate::domain::allocator::Generation;

/// Requests per second of a builder, of the blob and of a 304, beside nginx (needs nginx and wrk)
#[derive(Debug, Args)]
pub(super) struct Reads {
    /// Seconds of load for each figure and round
    #[arg(long, default_value_t = 5, value_name = "N")]
    seconds: u32,

    /// Rounds; the best of each figure counts
    #[arg(long, default_value_t = 3, value_name = "N")]
    rounds: u32,

    /// Connections of the load generator
    #[arg(long, default_value_t = 64, value_name = "N")]
    connections: u32,

    /// The history whose largest state is served
    #[arg(long, default_value = "tests/data/mozilla-jacuzzis-2014-2016.jsonl", value_name = "FILE")]
    history: PathBuf,
}

/// What wrk says.
#[derive(Clone, Copy)]
struct Figure {
    requests_per_second: f64,
    p99_ms: f64,
}

impl Reads {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let history = fs::read(&self.history).with_context(|| self.history.display().to_string())?;
        let farm = Farm::at_its_largest(history_file::parse(&history)?)?;
        let builder = farm.builders.keys().nth(farm.builders.len() / 2).context("the history allocates nothing")?;
        let builder = Target::path("/v1/builders").component(builder.as_str()).to_string();
        let ours = Server::start(&farm.toml, &farm.blob())?;
        let nginx = Nginx::start(&farm, &ours)?;
        writeln!(
            out,
            "{} builders; {} connections, {} s a figure, best of {} rounds; one worker each",
            farm.builders.len(),
            self.connections,
            self.seconds,
            self.rounds
        )?;
        for (name, path, conditional) in
            [("builder", builder.as_str(), false), ("blob", "/v1/allocations", false), ("304", builder.as_str(), true)]
        {
            let (mut best_ours, mut best_nginx) = (None, None);
            for _ in 0..self.rounds {
                best_of(&mut best_ours, self.load(&ours.url, path, conditional)?);
                best_of(&mut best_nginx, self.load(&nginx.url, path, conditional)?);
            }
            let (ours, nginx) = (best_ours.context("no rounds")?, best_nginx.context("no rounds")?);
            writeln!(
                out,
                "{name:>8}: {:>7.0} requests/s, p99 {:.2} ms; nginx {:>7.0}, p99 {:.2} ms; ratio {:.2}",
                ours.requests_per_second,
                ours.p99_ms,
                nginx.requests_per_second,
                nginx.p99_ms,
                ours.requests_per_second / nginx.requests_per_second
            )?;
            out.flush()?;
        }
        Ok(())
    }

    fn load(&self, url: &str, path: &str, conditional: bool) -> anyhow::Result<Figure> {
        let url = format!("{url}{path}");
        let mut wrk = Command::new("wrk");
        let (connections, seconds) = (self.connections.to_string(), format!("{}s", self.seconds));
        wrk.args(["-t1", "-c", &connections, "-d", &seconds, "--latency", &url]);
        if conditional {
            let response = ureq::head(&url).call()?;
            let tag = response.headers().get("etag").context("no ETag to ask with")?.to_str()?;
            wrk.arg("-H").arg(format!("If-None-Match: {tag}"));
        }
        let output = wrk.output().context("cannot run wrk (Debian: apt-get install wrk)")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if text.contains("Non-2xx or 3xx responses") || text.contains("Socket errors") {
            bail!("{url} was not answered as it should be:\n{text}");
        }
        let after = |label: &str| text.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
        let requests_per_second = after("Requests/sec:").context("wrk printed no rate")?.parse()?;
        let p99_ms = milliseconds(after("99%").context("wrk printed no 99th percentile")?)?;
        Ok(Figure { requests_per_second, p99_ms })
    }
}

fn best_of(best: &mut Option<Figure>, figure: Figure) {
    if best.is_none_or(|best| figure.requests_per_second > best.requests_per_second) {
        *best = Some(figure);
    }
}

/// wrk's "950.00us", "1.23ms", "1.02s".
fn milliseconds(text: &str) -> anyhow::Result<f64> {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
        .with_context(|| format!("{text:?} is no time"))?;
    Ok(number.parse::<f64>()? * factor)
}

/// One nginx worker over a static tree, the way it is set up to be fast.
struct Nginx {
    url: String,
    process: Child,
    _folder: TempDir,
}

impl Nginx {
    fn start(farm: &Farm, ours: &Server) -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("jacuzzi-nginx-")?;
        let blob = ureq::get(format!("{}/v1/allocations", ours.url)).call()?.body_mut().read_to_vec()?;
        static_tree::write(&folder.path().join("tree"), &farm.builders, Generation(1), Some(&blob))?;
        // Let go of at once; nothing else runs here that would take it.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let config = folder.path().join("nginx.conf");
        fs::write(&config, nginx_config(&folder, port))?;
        let process = Command::new("nginx")
            .arg("-c")
            .arg(&config)
            .args(["-g", "daemon off;"])
            .stderr(Stdio::null())
            .spawn()
            .context("cannot run nginx (Debian: apt-get install nginx-light)")?;
        let nginx = Self { url: format!("http://127.0.0.1:{port}"), process, _folder: folder };
        let patience = Instant::now() + Duration::from_secs(10);
        while ureq::get(format!("{}/v1/allocated/all", nginx.url)).call().is_err() {
            if Instant::now() > patience {
                bail!("nginx does not answer on {}", nginx.url);
            }
            #[expect(clippy::disallowed_methods, reason = "nginx does not say when it is ready")]
            thread::sleep(Duration::from_millis(20));
        }
        Ok(nginx)
    }
}

fn nginx_config(folder: &TempDir, port: u16) -> String {
    let folder = folder.path().display();
    format!(
        "worker_processes 1; pid {folder}/pid; error_log /dev/null; user root;
         events {{ worker_connections 4096; }}
         http {{
           access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
           keepalive_requests 100000000; default_type application/json;
           open_file_cache max=10000 inactive=1h; open_file_cache_valid 1h; open_file_cache_min_uses 1;
           server {{ listen 127.0.0.1:{port}; root {folder}/tree; }}
         }}"
    )
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM would leave the worker to die later; the master's pipe closing ends both.
        Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().ok();
        self.process.wait().ok();
    }
}
