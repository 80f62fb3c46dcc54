//! What a request is about: a path below the server's address, with its query, every name encoded.

use std::fmt::{self, Write};

/// A path below the server's address, with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target(String);

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Target {
    /// `path` as it stands.
    pub(super) fn path(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// One more component; a slash in it is a part of it.
    pub(super) fn component(mut self, name: &str) -> Self {
        self.0.push('/');
        self.push_encoded(name);
        self
    }

    /// A parameter that is left out where there is nothing to say.
    pub(super) fn optional(self, key: &str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.query(key, value),
            None => self,
        }
    }

    pub(super) fn query(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.0.push(if self.0.contains('?') { '&' } else { '?' });
        self.0 += key;
        self.0.push('=');
        self.push_encoded(&value.to_string());
        self
    }

    /// Percent-encodes everything but RFC 3986's unreserved characters.
    fn push_encoded(&mut self, text: &str) {
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                self.0.push(char::from(byte));
            } else {
                write!(self.0, "%{byte:02X}").expect("a String takes everything");
            }
        }
    }
}
