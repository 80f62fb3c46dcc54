//! What the OpenAPI document says of the run history.

use utoipa::openapi::path::Parameter;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{Content, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat};

use super::operation::{Described, LIMITED_READ, json, number, query, reference, text};
use crate::domain::MAX_UNIX_SECONDS;

const RUNS: &str = "The run history";

pub fn operations() -> Vec<Described> {
    let form = words(&["csv", "jsonl"]).default(Some("csv".into()));
    vec![
        Described::get("/v1/runs", "listRuns", "What ran where, how long, and how it ended")
            .tag(RUNS)
            .about(
                "A job that was cancelled while it waited is there too, without claim, worker and start. Only so many \
                 rows are looked at for one page: it can have fewer than `limit`, though more follow. The history is \
                 at most a second or so behind what was answered.",
            )
            .takes(filters())
            .takes(window())
            .takes([
                query(
                    "limit",
                    "Runs on a page.",
                    number(Type::Integer, 1).maximum(Some(1000)).default(Some(100.into())),
                ),
                query("before", "Only older ones: `next_before` of the page before.", any_number()),
            ])
            .answers(200, json("A page, newest end first.", &["RunPage"]))
            .fails(&[400])
            .fails(LIMITED_READ),
        Described::get("/v1/runs/export", "exportRuns", "The run history as a file")
            .tag(RUNS)
            .about("All columns of the list but `seq`, `author` and `reason`; oldest end first.")
            .takes([query("format", "CSV of RFC 4180, or JSON lines.", form)])
            .takes(window())
            .answers(200, file())
            .fails(&[400, 503])
            .fails(LIMITED_READ),
    ]
}

fn filters() -> [Parameter; 5] {
    [
        query("builder", "Only of this builder.", reference("Name")),
        query("worker", "Only on this worker.", reference("Name")),
        query("pool", "Only on workers that are in this pool now.", text()),
        query("result", "Only those that ended like this.", reference("RunResult")),
        query("job", "Only of this job.", any_number()),
    ]
}

fn window() -> [Parameter; 2] {
    let about = |which| format!("{which}, as Unix seconds or RFC 3339 text.");
    [
        query("since", &about("Only what ended at this time or later"), time()),
        query("until", &about("Only what ended before this time"), time()),
    ]
}

fn time() -> OneOfBuilder {
    let seconds = ObjectBuilder::new().schema_type(Type::Number);
    let seconds = seconds.minimum(Some(-MAX_UNIX_SECONDS as isize)).maximum(Some(MAX_UNIX_SECONDS as isize));
    let date_time = SchemaFormat::KnownFormat(KnownFormat::DateTime);
    let rfc_3339 = ObjectBuilder::new().schema_type(Type::String).format(Some(date_time));
    OneOfBuilder::new().item(seconds).item(rfc_3339)
}

fn any_number() -> ObjectBuilder {
    number(Type::Integer, 0).maximum(Some(u64::MAX))
}

fn words(words: &[&str]) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.to_vec()))
}

fn file() -> ResponseBuilder {
    let media_types = ["text/csv", "application/x-ndjson"].into_iter();
    media_types.fold(ResponseBuilder::new().description("The file."), |response, media_type| {
        response.content(media_type, Content::new(Some(text())))
    })
}
