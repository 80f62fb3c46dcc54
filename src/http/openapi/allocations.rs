//! What the OpenAPI document says of the allocations: reads and writes.

use serde_json::json as value;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{Content, HttpMethod, ObjectBuilder, Required};

use super::operation::{
    Described, LIMITED_READ, WRITE, flag, header, json, json_body, lines, name_in_path, name_in_query, not_modified,
    number, of_generation, plain, query, reference, text, versioned,
};

/// Both have an allocation in the last generation of the history that config/mozilla.toml imports.
const BUILDER: &str = "Android armv7 API 9 mozilla-inbound build";
const MACHINE: &str = "bld-linux64-spot-024";

const READ: &str = "Reading allocations";
const WRITTEN: &str = "Writing allocations";

const WITHOUT: &str = "404 means that it has no allocation, whether it exists or not: a builder without one runs on \
                       the workers that no builder has. There is no other error.";

/// In the order of the paths.
pub fn operations() -> Vec<Described> {
    let mut all = builders();
    all.extend(machines());
    all.extend(blob());
    all.extend(history());
    all
}

fn builders() -> Vec<Described> {
    vec![
        hot("/v1/builders", "listBuilders", "All builders that have an allocation")
            .about("With `?name=`, the machines of that builder.")
            .takes([name_in_query(BUILDER, Required::False)])
            .answers(
                200,
                versioned(json("All builders, or one builder's machines.", &["BuilderList", "MachinesOfBuilder"])),
            )
            .fails(&[404]),
        put_builder("/v1/builders", "putBuilderByQuery", name_in_query(BUILDER, Required::True)).fails(&[405]),
        delete_builder("/v1/builders", "deleteBuilderByQuery", name_in_query(BUILDER, Required::True)).fails(&[405]),
        hot("/v1/builders/{name}", "getBuilder", "The machines that a builder may run on")
            .about(WITHOUT)
            .takes([name_in_path(BUILDER)])
            .answers(200, versioned(json("The machines dedicated to the builder.", &["MachinesOfBuilder"])))
            .fails(&[404]),
        put_builder("/v1/builders/{name}", "putBuilder", name_in_path(BUILDER)),
        delete_builder("/v1/builders/{name}", "deleteBuilder", name_in_path(BUILDER)),
    ]
}

fn machines() -> Vec<Described> {
    vec![
        hot("/v1/machines", "listMachines", "All machines that are in an allocation")
            .about("With `?name=`, the builders of that machine.")
            .takes([name_in_query(MACHINE, Required::False)])
            .answers(
                200,
                versioned(json("All machines, or one machine's builders.", &["MachineList", "BuildersOfMachine"])),
            )
            .fails(&[404]),
        hot("/v1/machines/{name}", "getMachine", "The builders that a machine is dedicated to")
            .about(WITHOUT)
            .takes([name_in_path(MACHINE)])
            .answers(200, versioned(json("The builders of the machine.", &["BuildersOfMachine"])))
            .fails(&[404]),
        hot("/v1/allocated/all", "listAllocated", "All machines that are in an allocation")
            .about("The same as `/v1/machines`.")
            .answers(200, versioned(json("The machines.", &["MachineList"]))),
    ]
}

fn blob() -> Vec<Described> {
    let generation = || reference("Generation");
    vec![
        hot("/v1/allocations", "getAllocations", "All allocations, or what changed since a generation")
            .about(
                "Without parameters: every view of one generation. With `since`: the delta from there. With `wait` \
                 too, a long poll: if `since` is in force, the answer comes as soon as that changes, or it is 204. \
                 The other parameters go with `since`. A 410 says: read everything again.",
            )
            .takes([
                query("since", "The generation that the client has.", generation()),
                query("until", "The generation that the delta leads to; the one in force if absent.", generation()),
                query(
                    "epoch",
                    "The epoch of `since`; it guards against a server that was restored from a backup.",
                    text(),
                ),
                query("wait", "Seconds to wait for a change, at most 60.", number(Type::Number, 0)),
            ])
            .answers(200, versioned(json("Everything, or the delta.", &["Blob", "Delta"])))
            .answers(204, of_generation(ResponseBuilder::new().description("Nothing changed within `wait`.")))
            .fails(&[400, 410, 503])
            .fails(LIMITED_READ),
        write(HttpMethod::Put, "/v1/allocations", "replaceAllocations", "Replace all allocations")
            .takes(guards())
            .body(json_body("Replacement"))
            .fails(&[412]),
        write(HttpMethod::Patch, "/v1/allocations", "patchAllocations", "Change some allocations")
            .takes(guards())
            .body(json_body("Patch"))
            .fails(&[412]),
        write(HttpMethod::Post, "/v1/allocations/rollback", "rollBack", "Put an old generation in force again")
            .about("It becomes a new generation, under today's rules.")
            .takes(guards())
            .body(json_body("Rollback"))
            .fails(&[410, 412]),
        import(),
    ]
}

fn history() -> Vec<Described> {
    let limit = number(Type::Integer, 1).maximum(Some(1000)).default(Some(100.into()));
    vec![
        Described::get("/v1/allocations/history", "listGenerations", "The generations, newest first")
            .tag(READ)
            .takes([
                query("limit", "Entries a page.", limit),
                query("before", "Only older ones: `next_before` of the page before.", reference("Generation")),
                header("If-None-Match", "The ETag of the page that the client has."),
            ])
            .answers(200, versioned(json("One page.", &["History"])))
            .answers(304, not_modified())
            .fails(&[400])
            .fails(LIMITED_READ),
        Described::get("/v1/allocations/events", "watchAllocations", "Generations as they are made")
            .tag(READ)
            .about(
                "Server-sent events: one a generation, none left out. `id` is the generation, `data` its delta as \
                 JSON with the key `epoch` added. A lost connection goes on with `Last-Event-ID`.",
            )
            .takes([
                header("Last-Event-ID", "The generation after which to begin; the one in force if absent."),
                query("since", "The same, for clients that cannot set headers.", reference("Generation")),
                query("epoch", "The epoch of that generation; with another one the answer is 410.", text()),
            ])
            .answers(200, plain("A stream that ends only when the server stops.", "text/event-stream"))
            .fails(&[400, 410, 503])
            .fails(LIMITED_READ),
    ]
}

/// A read that always works.
fn hot(path: &'static str, id: &'static str, summary: &str) -> Described {
    Described::get(path, id, summary)
        .tag(READ)
        .takes([header("If-None-Match", "The ETag of the answer that the client has.")])
        .answers(304, not_modified())
}

fn write(method: HttpMethod, path: &'static str, id: &'static str, summary: &str) -> Described {
    Described::new(method, path, id, summary)
        .tag(WRITTEN)
        .needs_token()
        .answers(200, of_generation(json("The delta that the write made, or would make.", &["Delta"])))
        .fails(WRITE)
}

/// What every write takes.
fn guards() -> [Parameter; 3] {
    [
        flag("dry_run", "Answer what the write would do, and do nothing."),
        flag("force", "Lift the rule that all allocations together never shrink much at once; no other."),
        header(
            "If-Match",
            "The ETag of any view of the generation that the write starts from, guarding against a lost update.",
        ),
    ]
}

fn put_builder(path: &'static str, id: &'static str, name: Parameter) -> Described {
    let summary = "Dedicate machines to a builder, instead of those that it has";
    write(HttpMethod::Put, path, id, summary).takes([name]).takes(guards()).body(json_body("Allocation")).fails(&[412])
}

fn delete_builder(path: &'static str, id: &'static str, name: Parameter) -> Described {
    write(HttpMethod::Delete, path, id, "Take a builder's machines away")
        .takes([name, reason()])
        .takes(guards())
        .fails(&[404, 412])
}

fn reason() -> Parameter {
    query("reason", "Why the write is made, for the history.", reference("Reason"))
}

fn import() -> Described {
    let summary = "Take in a history as it happened, one generation a line";
    Described::new(HttpMethod::Post, "/v1/allocations/import", "importAllocations", summary)
        .tag(WRITTEN)
        .about("Rules that the history breaks are reported, and with `strict` the first one refuses all of it.")
        .needs_token()
        .takes([flag("strict", "Refuse a history that breaks a rule."), reason()])
        .body(history_body())
        .answers(200, of_generation(json("What was made, and which rules it breaks.", &["Imported"])))
        .fails(WRITE)
}

fn history_body() -> RequestBody {
    let about = "JSON lines, `{\"time\":…,\"set\":{builder:[machine…]},\"unset\":[builder…]}` each, or one blob as \
                 `/v1/allocations` gives it.";
    let example = lines(&[
        value!({"time": 1_402_000_000, "set": {"b1": ["box1", "box2"]}}),
        value!({"time": 1_402_003_600, "set": {"b2": ["box2"]}, "unset": ["b1"]}),
    ]);
    let mut content = Content::new(Some(ObjectBuilder::new().schema_type(Type::String).min_length(Some(1))));
    content.example = Some(example);
    let body = RequestBodyBuilder::new().description(Some(about)).required(Some(Required::True));
    body.content("text/plain", content).build()
}
