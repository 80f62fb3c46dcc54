//! Whom a client believes that a server is what it says: the system's authorities, or those of a file.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::globals::Globals;
use crate::adapters::tls;

/// The system's authorities, where Debian, and most others, keep them.
const SYSTEM: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Authorities out of a PEM file.
#[derive(Debug, Clone)]
pub struct Authorities(Arc<Vec<Certificate<'static>>>);

impl FromStr for Authorities {
    type Err = String;

    fn from_str(path: &str) -> Result<Self, String> {
        let certificates = tls::certificates(Path::new(path)).map_err(|fault| format!("{fault:#}"))?;
        Ok(Self(Arc::new(certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect())))
    }
}

/// A system without authorities trusts nobody, which a connection then says.
pub(super) fn config(globals: &Globals) -> TlsConfig {
    let trusted = match &globals.ca {
        Some(given) => given.0.clone(),
        None if globals.server.is_https() => SYSTEM.parse::<Authorities>().map(|system| system.0).unwrap_or_default(),
        None => Arc::default(),
    };
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(trusted))
        .unversioned_rustls_crypto_provider(tls::provider())
        .build()
}
