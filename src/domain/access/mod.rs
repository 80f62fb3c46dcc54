//! Access: who may call, by tokens of which only hashes are known here.

mod state;

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use state::{Access, Token};

use super::author::Author;
use super::names::TokenName;
use super::time::Timestamp;

/// What a token may be used for. What each role may call stands in one table
/// of the HTTP layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Worker,
    Master,
    Operator,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Worker => "worker",
            Self::Master => "master",
            Self::Operator => "operator",
        })
    }
}

/// SHA-256 of a token's text. Tokens are long and random, so a plain hash keeps them secret.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

impl TryFrom<String> for TokenHash {
    type Error = &'static str;

    fn try_from(hex: String) -> Result<Self, Self::Error> {
        let mut bytes = [0; 32];
        if hex.len() != 2 * bytes.len() || !hex.is_ascii() {
            return Err("a token's hash is 64 hexadecimal digits");
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16)
                .map_err(|_| "a token's hash is 64 hexadecimal digits")?;
        }
        Ok(Self(bytes))
    }
}

impl From<TokenHash> for String {
    fn from(hash: TokenHash) -> String {
        hash.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What can be asked of access.
#[derive(Debug, Clone)]
pub enum Command {
    /// A new token, under a name that no other has.
    Add {
        name: TokenName,
        role: Role,
        hash: TokenHash,
        author: Author,
        reason: Option<String>,
    },
    /// A token under this name, whatever it was before.
    Renew {
        name: TokenName,
        role: Role,
        hash: TokenHash,
        author: Author,
    },
    Revoke {
        name: TokenName,
        author: Author,
        reason: Option<String>,
    },
}

/// What has happened to access.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    TokenAdded {
        name: TokenName,
        role: Role,
        hash: TokenHash,
        author: Author,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        time: Timestamp,
    },
    TokenRevoked {
        name: TokenName,
        author: Author,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// Why access stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("there is a token {name:?} already: revoke it first, or choose another name")]
    TokenExists { name: TokenName },
    #[error("this token was revoked")]
    TokenRevoked,
    #[error("there is no token {name:?}")]
    NoSuchToken { name: TokenName },
    #[error("{name:?} is the last operator token: without it nobody could add another; add one first")]
    LastOperator { name: TokenName },
}

pub(super) fn decide(access: &Access, now: Timestamp, command: Command) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Add { name, .. } if access.token(&name).is_some() => Err(Refusal::TokenExists { name }),
        Command::Add { name, role, hash, author, reason } => {
            Ok(vec![Event::TokenAdded { name, role, hash, author, reason, time: now }])
        }
        Command::Renew { name, role, hash, author } => {
            let mut events = Vec::new();
            if access.token(&name).is_some() {
                events.push(Event::TokenRevoked { name: name.clone(), author: author.clone(), reason: None });
            }
            events.push(Event::TokenAdded { name, role, hash, author, reason: None, time: now });
            Ok(events)
        }
        Command::Revoke { name, author, reason } => {
            let role = access.token(&name).map(|token| token.role);
            match role {
                None => Err(Refusal::NoSuchToken { name }),
                Some(Role::Operator) if access.operators() == 1 => Err(Refusal::LastOperator { name }),
                Some(_) => Ok(vec![Event::TokenRevoked { name, author, reason }]),
            }
        }
    }
}
