//! The OpenAPI document: what each path takes and answers, for people, for clients, and for the tests that hold the server to it.

mod access;
mod allocations;
mod explain;
mod explain_schemas;
mod job_schemas;
mod jobs;
mod operating;
mod operation;
mod pauses;
mod problem_schemas;
mod run_schemas;
mod runs;
mod schemas;
mod workers;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use actix_web::HttpResponse;
use bytes::Bytes;
use utoipa::OpenApi as _;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, Info, InfoBuilder, License, OpenApi, OpenApiBuilder, PathItem, Paths};

use operation::Described;

const ABOUT: &str = "\
The control plane of a CI farm: which workers may run which builder.

Every path is also answered with a slash at its end. Names are percent-encoded; `+` is a plus sign, in queries too. \
Answers are compressed with gzip or zstd for clients that accept it. Errors are problem documents (RFC 9457) with a \
stable `code`; only what is not HTTP at all, such as a `Content-Length` that is no number, is answered with a bare \
400, 408 or 431. A method that a path does not have is answered 405, a path that is not here 404. A call \
under a `Host` that this server does not go by is answered 421.

Every answer but those of the plain allocation reads carries an `X-Request-ID`: the client's own, if it is 1 to 128 \
visible ASCII characters, and the log names it.";

/// `GET /openapi.json`
pub async fn openapi() -> HttpResponse {
    static BODY: LazyLock<Bytes> = LazyLock::new(|| pretty().into());
    HttpResponse::Ok().content_type("application/json").body(BODY.clone())
}

/// The document as text for people, with a line end.
pub fn pretty() -> String {
    document().to_pretty_json().expect("a document is plain data") + "\n"
}

/// The document.
pub fn document() -> OpenApi {
    OpenApiBuilder::new().info(info()).paths(paths()).components(Some(components())).build()
}

fn info() -> Info {
    let mut license = License::new(env!("CARGO_PKG_LICENSE"));
    license.identifier = Some(env!("CARGO_PKG_LICENSE").to_owned());
    let info = InfoBuilder::new().title("jacuzzi").version(env!("CARGO_PKG_VERSION"));
    info.description(Some(ABOUT)).license(Some(license)).build()
}

fn paths() -> Paths {
    let mut paths = Paths::new();
    let described = [
        allocations::operations(),
        jobs::operations(),
        explain::operations(),
        workers::operations(),
        pauses::operations(),
        runs::operations(),
        access::operations(),
        operating::operations(),
    ];
    for (path, item) in described.into_iter().flatten().map(Described::into_path) {
        match paths.paths.get_mut(path) {
            Some(other) => other.merge_operations(item),
            None => drop(paths.paths.insert(path.to_owned(), item)),
        }
    }
    paths
}

fn components() -> Components {
    let parts = [
        schemas::Schemas::openapi(),
        job_schemas::Schemas::openapi(),
        explain_schemas::Schemas::openapi(),
        problem_schemas::Schemas::openapi(),
        run_schemas::Schemas::openapi(),
    ];
    let mut components = Components::new();
    for (name, schema) in parts.into_iter().filter_map(|part| part.components).flat_map(|part| part.schemas) {
        let other = components.schemas.insert(name.clone(), schema.clone());
        assert!(other.is_none_or(|other| other == schema), "two schemas are called {name}");
    }
    components.responses = operation::problems().map(|(name, response)| (name.to_owned(), response.into())).collect();
    let token = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components.add_security_scheme(operation::TOKEN, token);
    components
}

/// The methods of each path, as the header `Allow` names them.
pub fn methods() -> BTreeMap<String, String> {
    let of = |item: &PathItem| {
        let all = [
            ("GET", &item.get),
            ("HEAD", &item.head),
            ("PUT", &item.put),
            ("PATCH", &item.patch),
            ("POST", &item.post),
            ("DELETE", &item.delete),
        ];
        let described: Vec<_> =
            all.iter().filter(|(_, operation)| operation.is_some()).map(|(name, _)| *name).collect();
        described.join(", ")
    };
    document().paths.paths.iter().map(|(path, item)| (path.clone(), of(item))).collect()
}
