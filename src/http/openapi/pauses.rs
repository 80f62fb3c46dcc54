//! What the OpenAPI document says of pausing pools and builders.

use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{Content, HttpMethod};

use super::operation::{Described, WRITE, json, name_in_path, reference};

const POOL: &str = "bld-linux64";
const BUILDER: &str = "Android armv7 API 9 mozilla-inbound build";

pub fn operations() -> Vec<Described> {
    let pool = |path, id, summary| set(path, id, summary, POOL, "PausedPool");
    let builder = |path, id, summary| set(path, id, summary, BUILDER, "PausedBuilder");
    vec![
        pool("/v1/pools/{name}/pause", "pausePool", "Let no job of the pool's builders start"),
        pool("/v1/pools/{name}/resume", "resumePool", "Let the jobs of the pool's builders start again"),
        builder("/v1/builders/{name}/pause", "pauseBuilder", "Let no job of a builder start"),
        builder("/v1/builders/{name}/resume", "resumeBuilder", "Let the jobs of a builder start again"),
    ]
}

fn set(path: &'static str, id: &'static str, summary: &str, name: &str, answer: &str) -> Described {
    let why = RequestBodyBuilder::new().content("application/json", Content::new(Some(reference("Why")))).build();
    Described::new(HttpMethod::Post, path, id, summary)
        .tag("The fleet")
        .about("What runs goes on. What is paused stays so across restarts, until it is resumed.")
        .needs_token()
        .takes([name_in_path(name)])
        .body(why)
        .answers(200, json("As it is now.", &[answer]))
        .fails(&[404, 405])
        .fails(WRITE)
}
