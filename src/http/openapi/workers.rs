//! What the OpenAPI document says of the fleet.

use utoipa::openapi::path::Parameter;
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{Content, HttpMethod, ObjectBuilder, Required};

use super::operation::{
    Described, LIMITED_READ, WRITE, json, json_body, name_in_path, name_in_query, number, query, reference, text,
};

const FLEET: &str = "The fleet";
const WORKER: &str = "bld-linux64-spot-024";

pub fn operations() -> Vec<Described> {
    let mut all = vec![
        Described::get("/v1/workers", "listWorkers", "The workers, by name")
            .tag(FLEET)
            .about("With `?name=`, that worker.")
            .takes(filters())
            .answers(200, json("A page, or the worker.", &["WorkerPage", "Worker"]))
            .fails(&[400, 404])
            .fails(LIMITED_READ),
        put("/v1/workers", "putWorkerByQuery").takes([name_in_query(WORKER, Required::True)]),
        delete("/v1/workers", "deleteWorkerByQuery").takes([name_in_query(WORKER, Required::True)]),
        Described::get("/v1/workers/{name}", "getWorker", "One worker")
            .tag(FLEET)
            .takes([name_in_path(WORKER)])
            .answers(200, json("The worker.", &["Worker"]))
            .fails(&[404])
            .fails(LIMITED_READ),
        put("/v1/workers/{name}", "putWorker").takes([name_in_path(WORKER)]),
        delete("/v1/workers/{name}", "deleteWorker").takes([name_in_path(WORKER)]),
    ];
    all.push(duty("/v1/workers/{name}/drain", "drainWorker", "Let a worker end its job, and give it no other"));
    all.push(duty("/v1/workers/{name}/quarantine", "quarantineWorker", "Give a worker no jobs for now"));
    all.push(duty("/v1/workers/{name}/release", "releaseWorker", "Take a worker back to work"));
    all
}

fn filters() -> [Parameter; 5] {
    let states = ObjectBuilder::new().schema_type(Type::String);
    let states = states.enum_values(Some(["active", "draining", "quarantined"]));
    let limit = number(Type::Integer, 1).maximum(Some(1000)).default(Some(100.into()));
    [
        name_in_query(WORKER, Required::False),
        query("pool", "Only of this pool.", text()),
        query("state", "Only in this state.", states),
        query("limit", "Workers on a page.", limit),
        query("after", "Only behind this name.", text()),
    ]
}

fn put(path: &'static str, id: &'static str) -> Described {
    written(HttpMethod::Put, path, id, "Make a worker that the farm file does not name, or change it")
        .about("It stays across reloads of the farm file; where that names the same worker, the file wins.")
        .body(json_body("NewWorker"))
        .answers(200, json("The worker.", &["Worker"]))
        .answers(201, json("The new worker.", &["Worker"]))
}

fn delete(path: &'static str, id: &'static str) -> Described {
    written(HttpMethod::Delete, path, id, "Take away a worker that the API made")
        .takes([query("reason", "Why, for the audit log.", text())])
        .answers(200, json("It is gone.", &["Named"]))
}

fn duty(path: &'static str, id: &'static str, summary: &str) -> Described {
    let why = RequestBodyBuilder::new().content("application/json", Content::new(Some(reference("Why")))).build();
    written(HttpMethod::Post, path, id, summary)
        .takes([name_in_path(WORKER)])
        .body(why)
        .answers(200, json("The worker.", &["Worker"]))
}

fn written(method: HttpMethod, path: &'static str, id: &'static str, summary: &str) -> Described {
    Described::new(method, path, id, summary).tag(FLEET).needs_token().fails(&[404, 409]).fails(WRITE)
}
