//! Flags that every command takes.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;
use clap::{Args, ValueEnum};
use thiserror::Error;
use ureq::http::Uri;

use super::trust::Authorities;

/// The data folder of a server that is told no other.
pub const DEFAULT_DATA_DIR: &str = "jacuzzi-data";

#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// The server to ask
    #[arg(long, global = true, value_name = "URL", env = "JACUZZI_SERVER", default_value = "http://127.0.0.1:8080")]
    pub server: ServerUrl,

    /// A PEM file of the authorities that vouch for an https server [default: the system's]
    #[arg(long, global = true, value_name = "FILE", env = "JACUZZI_CA")]
    pub ca: Option<Authorities>,

    /// The server's data folder; writes find operator.token there [default: jacuzzi-data]
    ///
    /// The token in JACUZZI_TOKEN goes before it. The default folder's token is
    /// sent to a server on this machine only.
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// How to print data: for people, or as the server's JSON
    #[arg(long, global = true, value_name = "FORM", value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

impl Globals {
    /// `--data-dir` as a setting.
    pub(super) fn data_dir_flag(&self) -> anyhow::Result<Option<(&'static str, String)>> {
        let Some(dir) = &self.data_dir else { return Ok(None) };
        let text = dir.to_str().with_context(|| format!("--data-dir {} is not UTF-8", dir.display()))?;
        Ok(Some(("data.dir", text.to_owned())))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    Table,
    Json,
}

/// Where a server is: `http[s]://host[:port][/prefix]`, kept without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUrl {
    text: String,
    host: String,
}

/// Why a text is no server's address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadServerUrl {
    #[error("give a server as http://host:port")]
    NoUrl,
    #[error("{0}:// is not spoken here: give a server as http://host:port or https://host:port")]
    Scheme(String),
    #[error("a server's address has no ?query")]
    Query,
}

impl ServerUrl {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn is_https(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// The server is on this machine.
    pub fn is_loopback(&self) -> bool {
        let address = self.host.trim_start_matches('[').trim_end_matches(']');
        self.host == "localhost" || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }
}

impl FromStr for ServerUrl {
    type Err = BadServerUrl;

    fn from_str(text: &str) -> Result<Self, BadServerUrl> {
        let uri: Uri = text.parse().map_err(|_| BadServerUrl::NoUrl)?;
        match uri.scheme_str() {
            Some("http" | "https") => {}
            Some(other) => return Err(BadServerUrl::Scheme(other.to_owned())),
            None => return Err(BadServerUrl::NoUrl),
        }
        if uri.query().is_some() {
            return Err(BadServerUrl::Query);
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or(BadServerUrl::NoUrl)?;
        Ok(Self { text: text.trim_end_matches('/').to_owned(), host: host.to_owned() })
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_an_http_address() {
        let url = |text: &str| text.parse::<ServerUrl>();
        assert_eq!(url("http://farm:8080/").unwrap().as_str(), "http://farm:8080");
        assert_eq!(url("http://proxy/jacuzzi").unwrap().as_str(), "http://proxy/jacuzzi");
        for (text, loopback) in
            [("http://127.0.0.1:1", true), ("http://[::1]:1", true), ("http://localhost", true), ("http://farm", false)]
        {
            assert_eq!(url(text).unwrap().is_loopback(), loopback, "{text}");
        }
        assert_eq!(url("https://farm:8443/").unwrap().as_str(), "https://farm:8443");
        assert_eq!(url("ftp://farm"), Err(BadServerUrl::Scheme("ftp".into())));
        assert_eq!(url("http://farm?x=1"), Err(BadServerUrl::Query));
        for text in ["", "farm", "farm:8080", "/v1", "http://"] {
            assert_eq!(url(text), Err(BadServerUrl::NoUrl), "{text}");
        }
    }
}
