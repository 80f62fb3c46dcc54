//! Encodings, entity tags and conditions: how a ready-made body becomes a response.

use std::fmt::Write as _;

use actix_web::http::header::{self, HeaderMap, HeaderName};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;

use crate::domain::allocator::Generation;
use crate::engine::views::Encoding;

/// Tells a client of any view which generation it read.
pub const GENERATION_HEADER: HeaderName = HeaderName::from_static("x-jacuzzi-generation");

/// The encoding that the client likes best, ours where it does not care.
pub fn encoding(headers: &HeaderMap) -> Encoding {
    let Some(header) = headers.get(header::ACCEPT_ENCODING) else { return Encoding::Identity };
    let accepted = header.to_str().unwrap_or("");
    // By weight, then by our own order.
    [(Encoding::Zstd, "zstd"), (Encoding::Gzip, "gzip"), (Encoding::Identity, "identity")]
        .into_iter()
        .map(|(encoding, name)| (encoding, weight(accepted, name)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map_or(Encoding::Identity, |(encoding, weight)| if weight > 0 { encoding } else { Encoding::Identity })
}

/// The weight of a coding in thousandths. What is not named is not wanted,
/// save for identity, which is the last resort.
fn weight(accepted: &str, coding: &str) -> u32 {
    let mut any = None;
    for item in accepted.split(',') {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or("");
        let q = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let thousandths = q.map_or(1000, |q| (q.parse::<f32>().unwrap_or(0.0).clamp(0.0, 1.0) * 1000.0) as u32);
        if name.eq_ignore_ascii_case(coding) {
            return thousandths;
        }
        if name == "*" {
            any = Some(thousandths);
        }
    }
    any.unwrap_or(u32::from(coding == "identity"))
}

/// What a response is a representation of.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    pub epoch: &'a str,
    /// For a delta, the generation that it starts from.
    pub since: Option<Generation>,
    pub generation: Generation,
}

impl Version<'_> {
    /// `"<epoch>-<generation>"`, for a delta `"<epoch>-<since>-<generation>"`, with the encoding behind it.
    fn tag(&self, encoding: Encoding) -> String {
        let mut tag = String::with_capacity(48);
        let written = match self.since {
            None => write!(tag, "\"{}-{}", self.epoch, self.generation),
            Some(since) => write!(tag, "\"{}-{since}-{}", self.epoch, self.generation),
        };
        written.expect("a string takes every text");
        tag.push_str(match encoding {
            Encoding::Identity => "\"",
            Encoding::Gzip => "-gzip\"",
            Encoding::Zstd => "-zstd\"",
        });
        tag
    }

    /// Whether the client has this version already, in whichever encoding.
    pub fn is_known(&self, headers: &HeaderMap) -> bool {
        if !headers.contains_key(header::IF_NONE_MATCH) {
            return false;
        }
        let plain = self.tag(Encoding::Identity);
        let plain = plain.trim_matches('"');
        tags(headers, header::IF_NONE_MATCH).any(|tag| tag == "*" || without_encoding(tag) == plain)
    }
}

/// The tags of a conditional header, on however many lines it came: `*`, or what is inside the quotes.
pub fn tags(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(|tag| {
        let tag = tag.trim();
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        if tag == "*" { Some(tag) } else { tag.strip_prefix('"')?.strip_suffix('"') }
    })
}

/// A tag as it is for every encoding of the same version.
pub fn without_encoding(tag: &str) -> &str {
    tag.strip_suffix("-gzip").or_else(|| tag.strip_suffix("-zstd")).unwrap_or(tag)
}

/// The answer to a read: 200 with the body, or 304 if the client knows it.
pub fn respond(headers: &HeaderMap, version: Version<'_>, body: impl FnOnce(Encoding) -> Bytes) -> HttpResponse {
    if version.is_known(headers) {
        let mut response = HttpResponse::NotModified();
        describe(&mut response, version, encoding(headers));
        return response.finish();
    }
    respond_whole(headers, version, body)
}

/// 200 with the body, whatever the client knows: the answer to a write, to which `If-None-Match` means nothing.
pub fn respond_whole(headers: &HeaderMap, version: Version<'_>, body: impl FnOnce(Encoding) -> Bytes) -> HttpResponse {
    let encoding = encoding(headers);
    let mut response = HttpResponse::Ok();
    describe(&mut response, version, encoding);
    match encoding {
        Encoding::Identity => {}
        Encoding::Gzip => drop(response.insert_header((header::CONTENT_ENCODING, "gzip"))),
        Encoding::Zstd => drop(response.insert_header((header::CONTENT_ENCODING, "zstd"))),
    }
    response.content_type("application/json");
    response.body(body(encoding))
}

fn describe(response: &mut HttpResponseBuilder, version: Version<'_>, encoding: Encoding) {
    response.insert_header((header::ETAG, version.tag(encoding)));
    response.insert_header((header::VARY, "accept-encoding"));
    response.insert_header((GENERATION_HEADER, version.generation.0));
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_client_chooses_the_encoding() {
        for (accepted, expected) in [
            ("gzip", Encoding::Gzip),
            ("gzip, deflate, br, zstd", Encoding::Zstd),
            ("gzip;q=1.0, zstd;q=0.5", Encoding::Gzip),
            ("GZIP", Encoding::Gzip),
            ("br", Encoding::Identity),
            ("*", Encoding::Zstd),
            ("zstd;q=0, *;q=0.1", Encoding::Gzip),
            ("gzip;q=0", Encoding::Identity),
            ("identity;q=0, *;q=0", Encoding::Identity),
            ("", Encoding::Identity),
        ] {
            let request = TestRequest::default().insert_header(("accept-encoding", accepted)).to_http_request();
            assert_eq!(encoding(request.headers()), expected, "{accepted}");
        }
    }

    #[test]
    fn a_version_is_known_by_any_of_its_tags() {
        let version = Version { epoch: "e", since: None, generation: Generation(7) };
        for (tags, known) in [
            ("\"e-7\"", true),
            ("W/\"e-7-gzip\"", true),
            ("\"x\", \"e-7-zstd\"", true),
            ("*", true),
            ("\"e-6\"", false),
            ("e-7", false),
        ] {
            let request = TestRequest::default().insert_header(("if-none-match", tags)).to_http_request();
            assert_eq!(version.is_known(request.headers()), known, "{tags}");
        }
    }
}
