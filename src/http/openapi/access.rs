//! What the OpenAPI document says of tokens and the audit log.

use utoipa::openapi::schema::Type;
use utoipa::openapi::{HttpMethod, Required};

use super::operation::{Described, WRITE, json, json_body, name_in_path, name_in_query, number, query, reference};

const ACCESS: &str = "Tokens and the audit log";
const TOKEN: &str = "master-3";

pub fn operations() -> Vec<Described> {
    let record = number(Type::Integer, 0).maximum(Some(u64::MAX));
    let limit = number(Type::Integer, 1).maximum(Some(1000)).default(Some(100.into()));
    vec![
        of_operators(Described::get("/v1/tokens", "listTokens", "All tokens, without their secrets"))
            .answers(200, json("The tokens, oldest first.", &["TokenList"]))
            .fails(&[400, 401, 403, 429, 500]),
        of_operators(Described::new(HttpMethod::Post, "/v1/tokens", "addToken", "Make a token"))
            .about("It is shown this once; only its hash is kept.")
            .body(json_body("NewToken"))
            .answers(201, json("The token.", &["AddedToken"]))
            .fails(&[409])
            .fails(WRITE),
        revoke("/v1/tokens", "revokeTokenByQuery").takes([name_in_query(TOKEN, Required::True)]),
        revoke("/v1/tokens/{name}", "revokeToken").takes([name_in_path(TOKEN)]),
        of_operators(Described::get("/v1/audit", "listAudit", "Who did what to what, when and why"))
            .takes([
                query("limit", "Entries on a page.", limit),
                query("before", "Only older ones than this record.", record),
            ])
            .answers(200, json("A page, newest first.", &["AuditPage"]))
            .fails(&[400, 401, 403, 429, 500]),
    ]
}

fn revoke(path: &'static str, id: &'static str) -> Described {
    of_operators(Described::new(HttpMethod::Delete, path, id, "Revoke a token, from now on"))
        .takes([query("reason", "Why, for the audit log.", reference("Reason"))])
        .answers(200, json("It is not good any more.", &["Named"]))
        .fails(&[404, 409])
        .fails(WRITE)
}

fn of_operators(described: Described) -> Described {
    described.tag(ACCESS).needs_token()
}
