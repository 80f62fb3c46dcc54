//! A response body that is encoded once and then handed out as it is, plain or compressed.

use std::io::Write;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Small enough to keep up with frequent generations, and within 5 % of the best size for lists of names.
const ZSTD_LEVEL: i32 = 3;

/// How a body travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Identity,
    Gzip,
    Zstd,
}

/// Bytes with their compressed forms, each made when it is first asked for.
#[derive(Debug)]
pub struct Body {
    identity: Bytes,
    gzip: OnceLock<Bytes>,
    zstd: OnceLock<Bytes>,
}

impl Body {
    pub fn new(identity: impl Into<Bytes>) -> Self {
        Self { identity: identity.into(), gzip: OnceLock::new(), zstd: OnceLock::new() }
    }

    pub fn plain(&self) -> &Bytes {
        &self.identity
    }

    /// The bytes, if they are ready in this encoding.
    pub fn ready(&self, encoding: Encoding) -> Option<Bytes> {
        match encoding {
            Encoding::Identity => Some(self.identity.clone()),
            Encoding::Gzip => self.gzip.get().cloned(),
            Encoding::Zstd => self.zstd.get().cloned(),
        }
    }

    /// The bytes in this encoding, compressed now if nobody asked before.
    pub fn encoded(&self, encoding: Encoding) -> Bytes {
        match encoding {
            Encoding::Identity => self.identity.clone(),
            Encoding::Gzip => self.gzip.get_or_init(|| gzip(&self.identity)).clone(),
            Encoding::Zstd => self.zstd.get_or_init(|| zstd(&self.identity)).clone(),
        }
    }
}

fn gzip(plain: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::default());
    encoder.write_all(plain).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte").into()
}

fn zstd(plain: &[u8]) -> Bytes {
    zstd::bulk::compress(plain, ZSTD_LEVEL).expect("memory is there for the compressed copy").into()
}
