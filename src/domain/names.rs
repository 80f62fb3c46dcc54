//! The names of builders, workers, pools and tokens: parsed once at the edge, so that no other code has to doubt one.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// The longest name, in Unicode scalar values.
pub const MAX_NAME_CHARS: usize = 128;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadName {
    #[error("a name is never empty")]
    Empty,
    #[error("a name has at most {MAX_NAME_CHARS} characters, this one has {chars}")]
    TooLong { chars: usize },
    #[error("a name has no control characters, this one has U+{:04X} at character {at}", *.character as u32)]
    Control { character: char, at: usize },
    #[error("a name is UTF-8, this one is not (from byte {at})")]
    NotUtf8 { at: usize },
}

/// Checks a text against the one rule for all names: 1 to 128 Unicode scalar
/// values, none of them a C0, DEL or C1 control. Nothing is normalised.
fn check(text: &str) -> Result<(), BadName> {
    if text.is_empty() {
        return Err(BadName::Empty);
    }
    let mut chars = 0;
    for (at, character) in text.chars().enumerate() {
        if character.is_control() {
            return Err(BadName::Control { character, at });
        }
        chars = at + 1;
    }
    if chars > MAX_NAME_CHARS {
        return Err(BadName::TooLong { chars });
    }
    Ok(())
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Cheap to clone; ordered by code point.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes 1 to 128 Unicode scalar values without controls.
            pub fn parse(text: &str) -> Result<Self, BadName> {
                check(text)?;
                Ok(Self(text.into()))
            }

            /// The same for raw bytes, which may turn out not to be UTF-8.
            pub fn parse_bytes(bytes: &[u8]) -> Result<Self, BadName> {
                let text = std::str::from_utf8(bytes)
                    .map_err(|error| BadName::NotUtf8 { at: error.valid_up_to() })?;
                Self::parse(text)
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(from)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

name_type!(
    /// A job type (`Linux x86-64 mozilla-inbound build`).
    BuilderName
);
name_type!(
    /// A machine that runs one job at a time (`bld-linux64-spot-001`).
    WorkerName
);
name_type!(
    /// The workers of one kind (`bld-linux64`).
    PoolName
);
name_type!(
    /// What a token is called (`master-3`); its changes stand under this name.
    TokenName
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_kind_are_names() {
        for text in ["Android armv7 API 11+ b2g-inbound debug build", "a/b", "50%", "..", "é", "?", "#", " "] {
            assert_eq!(BuilderName::parse(text).unwrap().as_str(), text);
        }
        assert!(BuilderName::parse(&"é".repeat(128)).is_ok());
    }

    #[test]
    fn what_is_not_a_name_says_why() {
        assert_eq!(BuilderName::parse(""), Err(BadName::Empty));
        assert_eq!(BuilderName::parse(&"x".repeat(129)), Err(BadName::TooLong { chars: 129 }));
        assert_eq!(BuilderName::parse("a\u{85}"), Err(BadName::Control { character: '\u{85}', at: 1 }));
        assert_eq!(BuilderName::parse("a\u{7f}"), Err(BadName::Control { character: '\u{7f}', at: 1 }));
        assert_eq!(BuilderName::parse_bytes(b"ab\xff"), Err(BadName::NotUtf8 { at: 2 }));
        assert_eq!(
            BadName::Control { character: '\t', at: 3 }.to_string(),
            "a name has no control characters, this one has U+0009 at character 3"
        );
    }
}
