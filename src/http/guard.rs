//! Against web pages that talk to us through somebody's browser: `Host` and `Origin` are checked, save on the reads that masters make.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{StatusCode, header};
use actix_web::middleware::Next;
use actix_web::{Error, HttpRequest, web};
use std::net::IpAddr;

use super::App;
use super::problem::Problem;

/// Lets only calls through that may be made.
pub async fn guarded<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let app = request.app_data::<web::Data<App>>().expect("every server has one");
    match check(request.request(), &app.hosts) {
        Ok(()) => Ok(next.call(request).await?.map_into_boxed_body()),
        Err(problem) => Ok(request.error_response(problem)),
    }
}

/// `hosts`: names, besides addresses and `localhost`, under which this server may be called.
///
/// An address is always good: a page that rebinds its own name to our address
/// still sends its name.
fn check(request: &HttpRequest, hosts: &[String]) -> Result<(), Problem> {
    let host = request.headers().get(header::HOST).map(|host| host.to_str().unwrap_or(""));
    if let Some(host) = host.filter(|host| !is_ours(host, hosts)) {
        let detail =
            format!("this server is not called {host:?}; names that it has besides its address stand in server.hosts");
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "foreign_host", detail));
    }
    let Some(origin) = request.headers().get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or("")) else {
        return Ok(());
    };
    let of_origin = origin.split_once("://").map(|(_, host)| host);
    if of_origin.is_some() && of_origin == host {
        return Ok(());
    }
    let detail = format!("a page from {origin:?} may not call this server");
    Err(Problem::new(StatusCode::FORBIDDEN, "foreign_origin", detail))
}

fn is_ours(host: &str, hosts: &[String]) -> bool {
    let name = without_port(host);
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok()
        || hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn our_names_and_addresses_are_ours() {
        let hosts = ["jacuzzi.example".to_owned()];
        for (host, ours) in [
            ("127.0.0.1:8080", true),
            ("10.1.2.3", true),
            ("[::1]:8080", true),
            ("localhost:1", true),
            ("LOCALHOST", true),
            ("jacuzzi.example:443", true),
            ("evil.example", false),
            ("jacuzzi.example.evil", false),
            ("127.0.0.1.evil:80", false),
            ("", false),
        ] {
            let request = TestRequest::default().insert_header(("host", host)).to_http_request();
            assert_eq!(check(&request, &hosts).is_ok(), ours, "{host}");
        }
    }

    #[test]
    fn a_page_of_our_own_may_call_us_and_no_other() {
        for (origin, allowed) in [
            ("http://127.0.0.1:8080", true),
            ("https://127.0.0.1:8080", true),
            ("http://127.0.0.1:9090", false),
            ("http://evil.example", false),
            ("null", false),
        ] {
            let request = TestRequest::default()
                .insert_header(("host", "127.0.0.1:8080"))
                .insert_header(("origin", origin))
                .to_http_request();
            assert_eq!(check(&request, &[]).is_ok(), allowed, "{origin}");
        }
    }
}
