//! Tokens over HTTP: made here, shown once, known by their hashes from then on.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::App;
use super::auth::{Call, hash, new_token};
use super::parameters::only_parameters;
use super::payload::{from_json, read_json};
use super::problem::Problem;
use super::strict::Word;
use super::{reason, target};
use crate::domain::access::{Command, Role};
use crate::domain::{Author, Timestamp, TokenName};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    name: String,
    role: Word<Role>,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Added<'a> {
    name: &'a TokenName,
    role: Role,
    /// Shown this once.
    token: &'a str,
}

#[derive(Serialize)]
struct Listed {
    name: TokenName,
    role: Role,
    added_by: Author,
    added_at: Timestamp,
}

/// `POST /v1/tokens`
pub async fn add(request: HttpRequest, app: web::Data<App>, body: web::Payload) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &[])?;
    let parse = |body: &[u8]| {
        let body = from_json::<NewToken>(body)?;
        reason::check(body.reason.as_deref())?;
        Ok(body)
    };
    let parsed = read_json(body, app.max_body_bytes, parse).await?;
    let permit = app.authorize(&request, Call::ManageTokens)?;
    let NewToken { name, role: Word(role), reason } = parsed.into_inner()?;
    let name = TokenName::parse(&name)
        .map_err(|error| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_name", format!("{name:?}: {error}")))?;
    let token = new_token()?;
    let author = permit.author.clone();
    let command = Command::Add { name: name.clone(), role, hash: hash(&token), author, reason };
    app.engine.submit(permit.command(command)).await?;
    Ok(HttpResponse::Created().json(Added { name: &name, role, token: &token }))
}

/// `GET /v1/tokens`
pub async fn list(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_read(&request)?;
    app.authorize(&request, Call::ManageTokens)?;
    let view = app.views.current();
    let listed = |(name, token): (&TokenName, &crate::domain::access::Token)| Listed {
        name: name.clone(),
        role: token.role,
        added_by: token.added_by.clone(),
        added_at: token.added_at,
    };
    let tokens: Vec<_> = view.access().tokens().map(listed).collect();
    Ok(HttpResponse::Ok().json(serde_json::json!({ "tokens": tokens })))
}

/// `DELETE /v1/tokens/<name>`
pub async fn revoke(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    app.admit_write(&request)?;
    only_parameters(&request, &["name", "reason"])?;
    let reason = reason::parameter(&request)?;
    let permit = app.authorize(&request, Call::ManageTokens)?;
    let bytes = target::name(request.uri()).unwrap_or_default();
    let name = TokenName::parse_bytes(&bytes)
        .map_err(|error| Problem::not_found("no_such_token", format!("such a token cannot exist: {error}")))?;
    let command = Command::Revoke { name: name.clone(), author: permit.author.clone(), reason };
    app.engine.submit(permit.command(command)).await?;
    Ok(HttpResponse::Ok().json(serde_json::json!({ "name": name })))
}
