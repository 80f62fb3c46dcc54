//! The server's settings. `config/jacuzzi.toml` is both their documentation and their defaults.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::fault::Faults;
use super::layers::Layers;
use super::node::{Node, Value};
use super::reader::{self, Table};
use super::toml_file;
use super::values::{Read, choice, parsed, seconds, text, whole_in};

const DEFAULTS: &str = include_str!("../../config/jacuzzi.toml");

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;

const DAY_SECONDS: f64 = 86_400.0;

/// All settings, each checked and in its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub server: Server,
    pub data: Data,
    pub runs: Runs,
    pub limits: Limits,
    pub log: Log,
    /// As merged, with the origin of every value.
    effective: Node,
}

/// How requests come in.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub listen: SocketAddr,
    /// Names, besides `localhost` and addresses, under which the server may be called.
    pub hosts: Vec<String>,
    /// PEM files of certificate and key, to speak TLS.
    pub tls: Option<Tls>,
    /// HTTP threads; 0 is as many as there are cores.
    pub workers: usize,
    pub max_connections: usize,
    /// Of any request but an import.
    pub max_body_bytes: u64,
    pub max_import_bytes: u64,
    /// To receive the head of a request.
    pub request_timeout: Duration,
    /// How long an idle connection stays open; zero closes it after each answer.
    pub keep_alive: Duration,
    /// For requests under way, once the server is told to stop.
    pub stop_timeout: Duration,
}

/// What is needed to speak TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Where the truth is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    pub dir: PathBuf,
    /// In journal records.
    pub snapshot_every: u64,
    pub keep_snapshots: u64,
}

/// The run history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    /// How long a run is kept after its end.
    pub keep: Duration,
}

/// What one client may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// By token or address; of deltas, lists and streams. Plain reads are never limited.
    pub reads_per_second: u32,
    /// By token or address.
    pub writes_per_second: u32,
    /// By token; of what masters do all the time.
    pub job_calls_per_second: u32,
    /// Long polls and event streams open at once, of all clients.
    pub streams: usize,
}

/// What is said about it all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub format: LogFormat,
    /// Directives of a `tracing_subscriber::EnvFilter`, known to be valid.
    pub level: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

impl Settings {
    /// Merges the layers, the last one strongest: built-in defaults, a file,
    /// the environment (`std::env::vars_os()`), flags by key (`server.listen`).
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: &[(&'static str, String)],
    ) -> Result<Self, Faults> {
        let file = file.map(toml_file::read).transpose()?;
        Self::from_layers(file.as_ref(), environment, flags)
    }

    pub(super) fn from_layers(
        file: Option<&Node>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        flags: &[(&'static str, String)],
    ) -> Result<Self, Faults> {
        let defaults = toml_file::parse(DEFAULTS, "config/jacuzzi.toml").expect("the built-in settings are valid TOML");
        let mut faults = Faults::default();
        let mut layers = Layers::over(&defaults, &mut faults);
        if let Some(file) = file {
            layers.add_file(file);
        }
        layers.add_environment(environment);
        layers.add_flags(flags);
        let effective = layers.merge();
        let (server, data, runs, limits, log) = reader::read(&effective, String::new(), &mut faults, |root| {
            (
                root.table("server", server),
                root.table("data", data),
                root.table("runs", runs),
                root.table("limits", limits),
                root.table("log", log),
            )
        });
        faults.unless_any(Self { server, data, runs, limits, log, effective })
    }

    /// The settings in force as TOML, each value with its origin.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let Value::Table(sections) = &self.effective.value else { return text };
        for (at, (section, entry)) in sections.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n" };
            text += &format!("{gap}[{section}]\n");
            let Value::Table(keys) = &entry.node.value else { continue };
            for (key, entry) in keys {
                let value = match &entry.node.value {
                    Value::Text(text) => toml::Value::String(text.clone()).to_string(),
                    other => other.to_string(),
                };
                text += &format!("{key} = {value}  # {}\n", entry.node.place);
            }
        }
        text
    }
}

fn server(server: &mut Table) -> Server {
    let certificate = server.required("tls_certificate", text, str::to_owned);
    let key = server.required("tls_key", both_or_neither(&certificate), str::to_owned);
    let tls =
        (!certificate.is_empty() && !key.is_empty()).then(|| Tls { certificate: certificate.into(), key: key.into() });
    Server {
        tls,
        listen: server.required("listen", parsed(address), |_| (Ipv4Addr::LOCALHOST, 0).into()),
        hosts: server.required("hosts", parsed(host_names), |_| Vec::new()),
        workers: number(server, "workers", 0, 1_024),
        max_connections: number(server, "max_connections", 1, 1_000_000),
        max_body_bytes: number(server, "max_body_bytes", KIB, GIB),
        max_import_bytes: number(server, "max_import_bytes", KIB, 4 * GIB),
        request_timeout: span(server, "request_timeout", 0.1, 600.0),
        keep_alive: span(server, "keep_alive", 0.0, 3_600.0),
        stop_timeout: span(server, "stop_timeout", 0.0, 3_600.0),
    }
}

fn data(data: &mut Table) -> Data {
    Data {
        dir: data.required("dir", folder, |path| path.into()),
        snapshot_every: number(data, "snapshot_every", 1, 10_000_000),
        keep_snapshots: number(data, "keep_snapshots", 1, 100),
    }
}

/// Sizing looks at eight days.
fn runs(runs: &mut Table) -> Runs {
    Runs { keep: span(runs, "keep", 8.0 * DAY_SECONDS, 36_500.0 * DAY_SECONDS) }
}

fn limits(limits: &mut Table) -> Limits {
    Limits {
        reads_per_second: number(limits, "reads_per_second", 1, 1_000_000),
        writes_per_second: number(limits, "writes_per_second", 1, 1_000_000),
        job_calls_per_second: number(limits, "job_calls_per_second", 1, 1_000_000),
        streams: number(limits, "streams", 1, 1_000_000),
    }
}

fn log(log: &mut Table) -> Log {
    let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
    Log {
        format: log.required("format", choice("log format", &formats), |_| LogFormat::Text),
        level: log.required("level", parsed(directives), str::to_owned),
    }
}

/// A key goes with a certificate, and a certificate with a key.
fn both_or_neither(certificate: &str) -> impl Fn(&Node) -> Read<String> {
    let has_certificate = !certificate.is_empty();
    move |node| {
        let key = text(node)?;
        match (has_certificate, key.is_empty()) {
            (true, true) => Err("tls_certificate needs its key".to_owned()),
            (false, false) => Err("a key needs its tls_certificate".to_owned()),
            _ => Ok(key),
        }
    }
}

/// Names separated by commas.
fn host_names(text: &str) -> Result<Vec<String>, &'static str> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<_> = names.map(str::to_owned).collect();
    if names.iter().any(|name| name.contains(['/', ':', ' '])) {
        return Err("host names separated by commas, without scheme and port");
    }
    Ok(names)
}

/// `max` must fit the type asked for.
fn number<T: TryFrom<u64> + Default>(table: &mut Table, key: &'static str, min: u64, max: u64) -> T {
    let read = |node: &Node| {
        let number = whole_in(min..=max)(node)?;
        T::try_from(number).map_err(|_| format!("{number} is too big for this machine"))
    };
    table.required(key, read, |_| T::default())
}

fn span(table: &mut Table, key: &'static str, min: f64, max: f64) -> Duration {
    let read = |node: &Node| {
        let seconds = seconds(node)?;
        let within = (min..=max).contains(&seconds);
        if within {
            Ok(Duration::from_secs_f64(seconds))
        } else {
            Err(format!("{min} to {max} seconds, not {seconds}"))
        }
    };
    table.required(key, read, |_| Duration::ZERO)
}

fn address(given: &str) -> Result<SocketAddr, &'static str> {
    given.parse().map_err(|_| "give an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080")
}

fn folder(node: &Node) -> Read<PathBuf> {
    let path = text(node)?;
    if path.is_empty() { Err("the path of a folder, not an empty text".into()) } else { Ok(path.into()) }
}

fn directives(given: &str) -> Result<String, &'static str> {
    let valid = EnvFilter::builder().parse(given).is_ok();
    let wanted = "give a level (error, warn, info, debug, trace, off), or several by module: info,jacuzzi=debug";
    if valid { Ok(given.to_owned()) } else { Err(wanted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(file: &str, environment: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Result<Settings, Vec<String>> {
        let file = toml_file::parse(file, "jacuzzi.toml").unwrap();
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into()));
        let flags: Vec<_> = flags.iter().map(|(path, value)| (*path, (*value).to_owned())).collect();
        let settings = Settings::from_layers(Some(&file), environment, &flags);
        settings.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_defaults_are_safe_and_valid() {
        let settings = load("", &[], &[]).unwrap();
        assert!(settings.server.listen.ip().is_loopback());
        assert_eq!(settings.server.max_import_bytes, 64 << 20);
        assert_eq!(settings.data.dir, Path::new("jacuzzi-data"));
        assert_eq!((settings.data.snapshot_every, settings.data.keep_snapshots), (10_000, 2));
        assert_eq!(settings.limits.streams, 10_000);
        assert_eq!((settings.log.format, settings.log.level.as_str()), (LogFormat::Text, "info"));
    }

    #[test]
    fn a_later_layer_wins_and_every_value_knows_its_origin() {
        let file = "[server]\nlisten = '127.0.0.1:1'\nworkers = 1\nkeep_alive = '1m'\n[data]\ndir = '1'\n";
        let environment =
            [("JACUZZI__SERVER__WORKERS", "2"), ("JACUZZI__DATA__DIR", "2"), ("JACUZZI_TOKEN", "x"), ("HOME", "y")];
        let settings = load(file, &environment, &[("data.dir", "3"), ("log.level", "debug")]).unwrap();
        assert_eq!(settings.server.listen.port(), 1);
        assert_eq!(settings.server.workers, 2);
        assert_eq!(settings.server.keep_alive, Duration::from_secs(60));
        assert_eq!(settings.data.dir, Path::new("3"));
        let text = settings.to_toml();
        for line in [
            "listen = \"127.0.0.1:1\"  # jacuzzi.toml:2:10",
            "workers = 2  # $JACUZZI__SERVER__WORKERS",
            "dir = \"3\"  # --data-dir",
            "level = \"debug\"  # --log-level",
            "format = \"text\"  # default",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
        }
        assert!(load(&text, &[], &[]).is_ok(), "what is shown can be read again");
    }

    #[test]
    fn all_faults_of_all_layers_are_found_at_once() {
        let file = "log = 1\n[servr]\nx = 1\n[server]\nlisten = 'localhost'\nmax_body = 1\nkeep_alive = []\n\
                    request_timeout = '1d'\nworkers = -1\n\"listen.x\" = 1\n";
        let environment = [("JACUZZI__DATA__SNAPSHOT_EVERY", "many"), ("JACUZZI__DATA", "x")];
        assert_eq!(
            load(file, &environment, &[("server.stop_timeout", "soon"), ("log.level", "jacuzzi=loud")]).unwrap_err(),
            [
                "jacuzzi.toml:1:7: log: a table, not 1",
                "jacuzzi.toml:2:2: servr: there is no such key; did you mean server?",
                "jacuzzi.toml:6:1: server.max_body: there is no such key; did you mean max_body_bytes?",
                "jacuzzi.toml:7:14: server.keep_alive: a single value, not a list",
                "jacuzzi.toml:10:1: server.\"listen.x\": there is no such key; did you mean listen?",
                "$JACUZZI__DATA: data: a setting has a section and a key: JACUZZI__SECTION__KEY",
                "jacuzzi.toml:5:10: server.listen: \"localhost\": give an IP address and a port, such as \
                 127.0.0.1:8080 or [::1]:8080",
                "jacuzzi.toml:9:11: server.workers: a whole number from 0 to 1024, not -1",
                "jacuzzi.toml:8:19: server.request_timeout: 0.1 to 600 seconds, not 86400",
                "--stop-timeout: server.stop_timeout: \"soon\" is not a span of time: give seconds, or text such as \
                 \"30s\", \"10m\" or \"1h30m\"",
                "$JACUZZI__DATA__SNAPSHOT_EVERY: data.snapshot_every: a whole number, not the text \"many\"",
                "--log-level: log.level: \"jacuzzi=loud\": give a level (error, warn, info, debug, trace, off), or several by \
                 module: info,jacuzzi=debug",
            ]
        );
    }
}
