//! Who is calling, and who may call what: bearer tokens, known by their hashes, compared in constant time.

use actix_web::HttpRequest;
use actix_web::http::{StatusCode, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::App;
use super::problem::Problem;
use crate::domain::access::{Access, Role, TokenHash};
use crate::domain::{Author, Command, TokenName};
use crate::ports::Fault;

/// What needs a token. Everything else is open to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    WriteAllocations,
    Import,
    ReloadFarm,
    ManageWorkers,
    ManageTokens,
    ReadAudit,
    /// Submit and cancel.
    ManageJobs,
    RequeueJobs,
    /// Pools and builders, and let them go on.
    Pause,
    /// Ask for advice.
    Prioritize,
    /// Claim, and all that is done with a claim.
    ClaimJobs,
}

/// Which roles may make which call.
const TABLE: [(Call, &[Role]); 11] = [
    (Call::WriteAllocations, &[Role::Operator]),
    (Call::Import, &[Role::Operator]),
    (Call::ReloadFarm, &[Role::Operator]),
    (Call::ManageWorkers, &[Role::Operator]),
    (Call::ManageTokens, &[Role::Operator]),
    (Call::ReadAudit, &[Role::Operator]),
    (Call::ManageJobs, &[Role::Master, Role::Operator]),
    (Call::RequeueJobs, &[Role::Operator]),
    (Call::Pause, &[Role::Operator]),
    (Call::Prioritize, &[Role::Master, Role::Operator]),
    (Call::ClaimJobs, &[Role::Worker, Role::Master, Role::Operator]),
];

/// The holder of a token.
#[derive(Debug, Clone)]
pub struct Caller {
    pub name: TokenName,
    role: Role,
    token: TokenHash,
}

/// That a call may be made, with a token that is looked at once more when the command is decided.
pub struct Permit {
    /// Under whom the change stands.
    pub author: Author,
    pub token: TokenHash,
}

impl Permit {
    pub fn command(&self, command: impl Into<Command>) -> Command {
        Command::Authorized { token: self.token, command: Box::new(command.into()) }
    }
}

impl App {
    /// Whether the caller may make this call.
    pub fn authorize(&self, request: &HttpRequest, call: Call) -> Result<Permit, Problem> {
        let caller = caller(request, self.views.current().access())?;
        let allowed = TABLE.iter().filter(|(listed, _)| *listed == call).flat_map(|(_, roles)| *roles);
        if allowed.clone().any(|role| *role == caller.role) {
            return Ok(Permit { author: Author::new(caller.name.as_str()), token: caller.token });
        }
        let roles: Vec<_> = allowed.map(ToString::to_string).collect();
        let detail =
            format!("token {:?} has the role {}; this call needs {}", caller.name, caller.role, roles.join(" or "));
        Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail))
    }
}

/// The holder of the request's token.
pub fn caller(request: &HttpRequest, access: &Access) -> Result<Caller, Problem> {
    let unauthorized = |detail: &str| Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
    let header = request.headers().get(header::AUTHORIZATION).ok_or_else(|| {
        unauthorized("this call needs the header Authorization: Bearer <token>; the first operator token is in operator.token in the data folder")
    })?;
    let text = header.to_str().ok().and_then(|text| text.split_once(' '));
    let token = text.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    let token = token.ok_or_else(|| unauthorized("the Authorization header is not of the form Bearer <token>"))?;
    find(&hash(token), access).ok_or_else(|| unauthorized("this token is not known here, or was revoked"))
}

/// Compares with every token, so that the time it takes says nothing about any of them.
fn find(hash: &TokenHash, access: &Access) -> Option<Caller> {
    let mut found = None;
    for (name, token) in access.tokens() {
        if bool::from(token.hash.bytes().ct_eq(hash.bytes())) {
            found = Some(Caller { name: name.clone(), role: token.role, token: token.hash });
        }
    }
    found
}

/// A new token, which nobody can guess.
pub fn new_token() -> Result<String, Fault> {
    let mut secret = [0; 24];
    getrandom::fill(&mut secret)?;
    Ok(secret.iter().fold("jz_".to_owned(), |token, byte| token + &format!("{byte:02x}")))
}

/// The hash under which a token is known.
pub fn hash(token: &str) -> TokenHash {
    TokenHash::new(Sha256::digest(token).into())
}
