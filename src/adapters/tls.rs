//! TLS by rustls: the server's certificate, and whom a client trusts.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::ports::Fault;

/// What all connections are encrypted with.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// A server's end of TLS 1.2 and 1.3, from PEM files of the certificate with its chain and of the key.
pub fn server(certificate: &Path, key: &Path) -> Result<ServerConfig, Fault> {
    let chain = certificates(certificate)?;
    let shown = key.display();
    let key = PrivateKeyDer::from_pem_file(key).with_context(|| format!("cannot read the key in {shown}"))?;
    ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(|| format!("the key in {shown} does not fit the certificate in {}", certificate.display()))
}

/// All certificates of a PEM file, at least one.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let shown = path.display();
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.with_context(|| format!("cannot read certificates in {shown}"))?;
    if certificates.is_empty() {
        bail!("there is no certificate in {shown}");
    }
    Ok(certificates)
}
