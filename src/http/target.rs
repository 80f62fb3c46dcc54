//! Names and parameters out of the raw request target: old clients write them in ways that a router would normalise away.

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::http::Uri;

/// What a client means, decoded; it need not be UTF-8.
type Raw<'a> = Cow<'a, [u8]>;

/// The name at the end of `/v1/<collection>/<name>`, or else in `?name=`: the
/// bytes that the client means, which need not be a name at all.
///
/// `None` when the target has neither, so that it is the collection itself.
/// A raw `/` belongs to the name, save for one at the very end.
pub fn name(target: &Uri) -> Option<Raw<'_>> {
    let in_query = || parameter_of(target.query().unwrap_or(""), "name");
    after_collection(target.path()).map(|raw| decode(raw.as_bytes())).or_else(in_query)
}

/// The name and the action of `/v1/<collection>/<name>/<action>`; with
/// `?name=`, of `/v1/<collection>/<action>`.
pub fn name_and_action(request: &HttpRequest) -> Option<(Raw<'_>, Raw<'_>)> {
    let raw = after_collection(request.uri().path())?;
    if let Some(name) = parameter(request, "name") {
        return Some((name, decode(raw.as_bytes())));
    }
    let (name, action) = raw.rsplit_once('/')?;
    Some((decode(name.as_bytes()), decode(action.as_bytes())))
}

/// What follows `/v1/<collection>/`, without one trailing slash.
fn after_collection(path: &str) -> Option<&str> {
    let mut parts = path.splitn(4, '/').skip(3);
    let raw = parts.next()?;
    if raw.is_empty() { None } else { Some(raw.strip_suffix('/').unwrap_or(raw)) }
}

/// The first value of a query parameter. A `+` is a plus sign here.
pub fn parameter<'a>(request: &'a HttpRequest, key: &str) -> Option<Raw<'a>> {
    parameter_of(request.query_string(), key)
}

/// The names of all query parameters, in order.
pub fn parameter_keys(request: &HttpRequest) -> impl Iterator<Item = Raw<'_>> {
    let pairs = request.query_string().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| decode(pair.split_once('=').map_or(pair, |(key, _)| key).as_bytes()))
}

/// The value of a query parameter before there is a request, for those who choose the handler.
pub fn parameter_of<'a>(query: &'a str, key: &str) -> Option<Raw<'a>> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.into_iter().find(|(name, _)| *decode(name.as_bytes()) == *key.as_bytes())?;
    Some(decode(value.as_bytes()))
}

/// The same as text, with a stand-in for what is not UTF-8, so that it can be shown.
pub fn text_parameter(request: &HttpRequest, key: &str) -> Option<String> {
    parameter(request, key).map(|value| String::from_utf8_lossy(&value).into_owned())
}

/// Digits and nothing else: neither a sign nor a space.
pub fn whole_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Undoes percent-encoding; a `%` without two hexadecimal digits stands for itself.
pub fn decode(raw: &[u8]) -> Raw<'_> {
    if !raw.contains(&b'%') {
        return Cow::Borrowed(raw);
    }
    let mut plain = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        let escaped = if first == b'%' { tail.first_chunk::<2>().and_then(|digits| hex_byte(*digits)) } else { None };
        match escaped {
            Some(byte) => {
                plain.push(byte);
                rest = &tail[2..];
            }
            None => plain.push(first),
        }
    }
    Cow::Owned(plain)
}

fn hex_byte([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn name_in(target: &str) -> Option<String> {
        let request = TestRequest::with_uri(target).to_http_request();
        name(request.uri()).map(|name| String::from_utf8_lossy(&name).into_owned())
    }

    #[test]
    fn a_name_is_read_as_it_was_written() {
        for (target, expected) in [
            ("/v1/builders/Android%20armv7%20API%2011%2B%20x", "Android armv7 API 11+ x"),
            ("/v1/builders/a+b", "a+b"),
            ("/v1/builders/a/b", "a/b"),
            ("/v1/builders/a%2Fb/", "a/b"),
            ("/v1/builders/a%2F", "a/"),
            ("/v1/builders/a//", "a/"),
            ("/v1/builders/50%", "50%"),
            ("/v1/builders/50%2", "50%2"),
            ("/v1/builders/%zz%41", "%zzA"),
            ("/v1/builders/..", ".."),
            ("/v1/builders/%2e%2e", ".."),
            ("/v1/builders/%3F%23", "?#"),
            ("/v1/builders/%C3%A9", "é"),
            ("/v1/builders?name=a+b%2Fc", "a+b/c"),
            ("/v1/builders/?x=1&name=50%", "50%"),
            ("/v1/builders?name=", ""),
            ("/v1/builders//", ""),
        ] {
            assert_eq!(name_in(target).as_deref(), Some(expected), "{target}");
        }
        assert_eq!(name_in("/v1/builders"), None);
        assert_eq!(name_in("/v1/builders/"), None);
    }
}
