//! What the OpenAPI document says of operating the server: farm file, health, metrics, the document itself.

use utoipa::openapi::schema::Type;
use utoipa::openapi::{HttpMethod, ObjectBuilder};

use super::operation::{Described, flag, json, plain, query};

const OPERATING: &str = "Operating the server";
const TEXT: &str = "text/plain";

pub fn operations() -> Vec<Described> {
    let of = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["reads", "writes"]));
    vec![
        Described::new(
            HttpMethod::Post,
            "/v1/farm/reload",
            "reloadFarm",
            "Read the farm file anew and put it in force",
        )
        .tag(OPERATING)
        .about("All or nothing: a farm file with a fault changes nothing, and all its faults are listed.")
        .needs_token()
        .takes([flag("dry_run", "Answer what would change, and change nothing.")])
        .answers(200, json("What changed, or would change.", &["Reloaded"]))
        .fails(&[400, 401, 403, 422, 429, 500, 503]),
        Described::get("/livez", "isAlive", "Whether the process lives")
            .tag(OPERATING)
            .about("It looks at nothing else, so that no dependency's trouble gets a healthy process killed.")
            .answers(200, plain("It does.", TEXT)),
        Described::get("/readyz", "isReady", "Whether reads, or writes, are answered")
            .tag(OPERATING)
            .takes([query("for", "Ready for what; for reads if absent.", of)])
            .answers(200, plain("They are.", TEXT))
            .fails(&[400, 503]),
        Described::get("/metrics", "getMetrics", "Numbers about the server, for Prometheus")
            .tag(OPERATING)
            .answers(200, plain("OpenMetrics text.", "application/openmetrics-text"))
            .fails(&[500]),
        Described::get("/openapi.json", "getOpenApi", "This document")
            .tag(OPERATING)
            .answers(200, plain("An OpenAPI document.", "application/json")),
    ]
}
