//! The tokens in force.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Event, Role, TokenHash};
use crate::domain::author::Author;
use crate::domain::names::TokenName;
use crate::domain::time::Timestamp;

/// One token, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Token {
    pub role: Role,
    pub hash: TokenHash,
    pub added_by: Author,
    pub added_at: Timestamp,
}

/// All tokens by name, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Access {
    tokens: IndexMap<TokenName, Token>,
}

impl Access {
    pub fn token(&self, name: &TokenName) -> Option<&Token> {
        self.tokens.get(name)
    }

    pub fn tokens(&self) -> impl ExactSizeIterator<Item = (&TokenName, &Token)> {
        self.tokens.iter()
    }

    pub(in crate::domain) fn knows(&self, hash: &TokenHash) -> bool {
        self.tokens.values().any(|token| token.hash == *hash)
    }

    pub(super) fn operators(&self) -> usize {
        self.tokens.values().filter(|token| token.role == Role::Operator).count()
    }

    pub(in crate::domain) fn apply(&mut self, event: &Event) {
        match event {
            Event::TokenAdded { name, role, hash, author, reason: _, time } => {
                let token = Token { role: *role, hash: *hash, added_by: author.clone(), added_at: *time };
                self.tokens.insert(name.clone(), token);
            }
            Event::TokenRevoked { name, author: _, reason: _ } => drop(self.tokens.shift_remove(name)),
        }
    }
}
