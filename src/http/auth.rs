//! Who is calling: bearer tokens, kept as hashes and compared in constant time.

use actix_web::HttpRequest;
use actix_web::http::{StatusCode, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::problem::Problem;
use crate::domain::Author;

/// The tokens that may write.
pub struct Tokens {
    operator: [u8; 32],
}

impl Tokens {
    pub fn new(operator_token: &str) -> Self {
        Self { operator: hash(operator_token) }
    }

    /// The author that the request's token stands for.
    pub fn operator(&self, request: &HttpRequest) -> Result<Author, Problem> {
        let unauthorized = |detail: &str| Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
        let Some(header) = request.headers().get(header::AUTHORIZATION) else {
            return Err(unauthorized(
                "a write needs the header Authorization: Bearer <token>; the first operator token is in operator.token in the data folder",
            ));
        };
        let token = header.to_str().ok().and_then(|text| text.strip_prefix("Bearer ")).map(str::trim);
        let token = token.ok_or_else(|| unauthorized("the Authorization header is not of the form Bearer <token>"))?;
        if bool::from(hash(token).ct_eq(&self.operator)) {
            Ok(Author::new("operator"))
        } else {
            Err(unauthorized("this token is not known here"))
        }
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
