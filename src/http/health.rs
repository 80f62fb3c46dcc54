//! Whether the server lives, and what it is ready for.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};

use super::App;
use super::problem::Problem;
use super::target;

/// `GET /livez`: the process answers. Looks at nothing else, so that no
/// dependency's trouble gets a healthy process killed.
pub async fn livez() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("alive\n")
}

/// `GET /readyz`: reads are answered. `?for=writes`: writes are too.
pub async fn readyz(request: HttpRequest, app: web::Data<App>) -> Result<HttpResponse, Problem> {
    match target::text_parameter(&request, "for").as_deref() {
        None | Some("reads") => {}
        Some("writes") => {
            if app.engine.stats().read_only().is_some() {
                let detail = "nothing is written until this server is restarted; its log says why";
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "read_only", detail));
            }
        }
        Some(other) => {
            return Err(Problem::bad_request("bad_parameter", format!("`for` is reads or writes, not {other:?}")));
        }
    }
    Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("ready\n"))
}
