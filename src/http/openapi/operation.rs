//! Short ways to say what many operations have in common: parameters, headers, responses.

use serde_json::Value;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, HttpMethod, OneOfBuilder, PathItem, Ref, RefOr, Required, Schema};

/// The name of the bearer token's security scheme.
pub const TOKEN: &str = "token";

/// The content type of all errors.
const PROBLEM: &str = "application/problem+json";

/// Of a read that has work to do, and so a limit.
pub const LIMITED_READ: &[u16] = &[429, 500];

/// Of any write.
pub const WRITE: &[u16] = &[400, 401, 403, 413, 422, 429, 500, 503];

/// What is said of one path and one method.
pub struct Described {
    path: &'static str,
    method: HttpMethod,
    id: &'static str,
    operation: OperationBuilder,
}

impl Described {
    /// `id` is stable, since generated clients name their functions after it.
    pub fn new(method: HttpMethod, path: &'static str, id: &'static str, summary: &str) -> Self {
        let operation = OperationBuilder::new().operation_id(Some(id)).summary(Some(summary));
        Self { path, method, id, operation }
    }

    pub fn get(path: &'static str, id: &'static str, summary: &str) -> Self {
        Self::new(HttpMethod::Get, path, id, summary)
    }

    fn with(self, change: impl FnOnce(OperationBuilder) -> OperationBuilder) -> Self {
        Self { operation: change(self.operation), ..self }
    }

    pub fn tag(self, tag: &str) -> Self {
        self.with(|operation| operation.tag(tag))
    }

    pub fn about(self, description: &str) -> Self {
        self.with(|operation| operation.description(Some(description)))
    }

    pub fn takes(self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        parameters.into_iter().fold(self, |this, parameter| this.with(|operation| operation.parameter(parameter)))
    }

    /// Only with a token.
    pub fn needs_token(self) -> Self {
        self.with(|operation| operation.security(SecurityRequirement::new(TOKEN, [] as [&str; 0])))
    }

    pub fn body(self, body: RequestBody) -> Self {
        self.with(|operation| operation.request_body(Some(body)))
    }

    pub fn answers(self, status: u16, response: impl Into<RefOr<Response>>) -> Self {
        self.with(|operation| operation.response(status.to_string(), response))
    }

    /// Answers with problem documents, of which each status has one description.
    pub fn fails(self, statuses: &[u16]) -> Self {
        statuses.iter().fold(self, |this, status| this.answers(*status, Ref::from_response_name(problem(*status).0)))
    }

    /// The path with this operation, and for a GET with the HEAD that comes with it.
    pub fn into_path(self) -> (&'static str, PathItem) {
        let operation = self.operation.build();
        let head = matches!(self.method, HttpMethod::Get).then(|| head_of(&operation, self.id));
        let mut item = PathItem::new(self.method, operation);
        item.head = head;
        (self.path, item)
    }
}

/// The same answers without their bodies.
fn head_of(get: &Operation, id: &str) -> Operation {
    let mut head = get.clone();
    head.operation_id = Some(format!("{id}Head"));
    head.summary = get.summary.as_ref().map(|summary| format!("{summary}: the head of the answer only"));
    head
}

fn parameter(place: ParameterIn, name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> ParameterBuilder {
    let parameter = ParameterBuilder::new().parameter_in(place).name(name).description(Some(description));
    parameter.required(Required::False).schema(Some(schema))
}

pub fn header(name: &str, description: &str) -> Parameter {
    parameter(ParameterIn::Header, name, description, text()).build()
}

pub fn query(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    parameter(ParameterIn::Query, name, description, schema).build()
}

/// A builder or machine in the path; any text will do, since what is no name just has no allocation.
pub fn name_in_path(example: &str) -> Parameter {
    let about = "Percent-encoded; `+` is a plus sign, and an encoded or raw `/` belongs to the name.";
    parameter(ParameterIn::Path, "name", about, reference("Name"))
        .required(Required::True)
        .example(Some(example.into()))
        .build()
}

/// A job or a claim in the path.
pub fn id_in_path() -> Parameter {
    let about = "As the server gave it.";
    parameter(ParameterIn::Path, "id", about, reference("Id"))
        .required(Required::True)
        .example(Some("17".into()))
        .build()
}

/// The same as a query parameter of the collection.
pub fn name_in_query(example: &str, required: Required) -> Parameter {
    let about = "The same as a name in the path.";
    parameter(ParameterIn::Query, "name", about, reference("Name"))
        .required(required)
        .example(Some(example.into()))
        .build()
}

/// A switch that is off unless it is given.
pub fn flag(name: &str, description: &str) -> Parameter {
    query(name, description, ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into())))
}

pub fn text() -> Object {
    Object::with_type(Type::String)
}

pub fn number(kind: Type, minimum: usize) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::new(kind)).minimum(Some(minimum))
}

pub fn reference(schema: &str) -> Ref {
    Ref::from_schema_name(schema)
}

pub fn json_body(schema: &str) -> RequestBody {
    let content = Content::new(Some(reference(schema)));
    RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True)).build()
}

/// 200 with JSON of one of these schemas.
pub fn json(description: &str, schemas: &[&str]) -> ResponseBuilder {
    let schema: RefOr<Schema> = match schemas {
        [one] => reference(one).into(),
        several => {
            let any = several.iter().fold(OneOfBuilder::new(), |any, schema| any.item(reference(schema)));
            Schema::OneOf(any.build()).into()
        }
    };
    ResponseBuilder::new().description(description).content("application/json", Content::new(Some(schema)))
}

/// The same for a body that is text.
pub fn plain(description: &str, content_type: &str) -> ResponseBuilder {
    ResponseBuilder::new().description(description).content(content_type, Content::new(Some(text())))
}

/// With the headers that say which generation was read.
pub fn versioned(response: ResponseBuilder) -> ResponseBuilder {
    let tag = said("`\"<epoch>-<generation>\"`, with `-gzip` or `-zstd` behind it for an encoding.", text());
    of_generation(response).header("ETag", tag)
}

pub fn of_generation(response: ResponseBuilder) -> ResponseBuilder {
    response.header("X-Jacuzzi-Generation", said("The generation in force.", number(Type::Integer, 0)))
}

fn said(description: &str, schema: impl Into<RefOr<Schema>>) -> Header {
    HeaderBuilder::new().description(Some(description)).schema(Some(schema)).build()
}

pub fn not_modified() -> Response {
    versioned(ResponseBuilder::new().description("The client has this generation already.")).build()
}

/// The response component of a status, by name.
fn problem(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("Malformed", "A parameter, a header or the body is not of the form described here."),
        401 => ("Unauthorized", "There is no token, or one that is not known here."),
        403 => ("Forbidden", "The token's role is too small, or a page of another origin calls."),
        404 => ("NotFound", "There is no such thing; of a builder or machine: it has no allocation."),
        405 => ("NotAllowed", "The collection as a whole is only read."),
        409 => ("Conflict", "What is there already stands in the way; the text says what."),
        410 => ("Gone", "The generation is older than what is kept, ahead of ours, or of another epoch."),
        412 => ("Changed", "Another generation is in force than `If-Match` asks for."),
        413 => ("TooLarge", "The body is larger than the server's settings allow."),
        422 => ("Refused", "Rules are broken; all of them are listed, and nothing has changed."),
        429 => ("TooMany", "More requests a second than the server's settings allow one client."),
        503 => ("Unavailable", "Not now: writes stopped after a failed sync, or too many streams are open."),
        _ => ("Broken", "Something broke in the server; its log says more."),
    }
}

/// All statuses that are a problem document, for the components.
pub fn problems() -> impl Iterator<Item = (&'static str, Response)> {
    [400, 401, 403, 404, 405, 409, 410, 412, 413, 422, 429, 500, 503].into_iter().map(|status| {
        let (name, description) = problem(status);
        let response = ResponseBuilder::new().description(description);
        let response = response.content(PROBLEM, Content::new(Some(reference("Problem"))));
        let response = match status {
            401 => response.header("WWW-Authenticate", said("`Bearer`", text())),
            405 => response.header("Allow", said("The methods that are possible.", text())),
            429 | 503 => response.header("Retry-After", said("Seconds to wait.", number(Type::Integer, 0))),
            _ => response,
        };
        (name, response.build())
    })
}

/// An example as JSON text, for media types that are not JSON.
pub fn lines(examples: &[Value]) -> Value {
    examples.iter().map(|line| format!("{line}\n")).collect::<String>().into()
}
