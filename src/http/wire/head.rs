//! The head of a request, looked at as the parser behind us will look at it.

use std::mem::MaybeUninit;

use httparse::{Header, Request, Status};

use super::repair;

/// The most headers that the parser behind us takes.
pub const MAX_HEADERS: usize = 96;

/// The longest head of a read that goes on as it came, in bytes: well within what the parser behind us takes.
pub const MAX_FIT_BYTES: usize = 64 << 10;

/// What the bytes at the start of a message are.
#[derive(Debug)]
pub enum Look {
    /// A head of this many bytes; the parser takes it, or else refuses it and everything behind it.
    Fit { length: usize, body: Body },
    /// A head that has not come whole.
    Partial,
    /// A read that the parser would refuse, though it can perhaps be put so that it does not.
    Unfit,
    /// No head that we should touch: what follows it may be anything.
    Strange,
}

/// What follows a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// So many bytes, perhaps none.
    Length(u64),
    Chunked,
}

pub fn look(bytes: &[u8]) -> Look {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut request = Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(bytes, &mut headers) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Look::Partial,
        Err(_) if repair::may_be_read(bytes) => return Look::Unfit,
        Err(_) => return Look::Strange,
    };
    let method = request.method.unwrap_or_default();
    let Some(body) = body(method, request.headers) else { return Look::Strange };
    // Anything else is told the truth by the parser: nobody's builds hang on it.
    let is_read = method == "GET" || method == "HEAD";
    let fits = || {
        let has_host = match hosts(request.headers) {
            0 => request.version == Some(0),
            number => number == 1,
        };
        has_host && length <= MAX_FIT_BYTES && repair::is_fit(request.path.unwrap_or_default().as_bytes())
    };
    if is_read && !fits() { Look::Unfit } else { Look::Fit { length, body } }
}

pub fn is(header: &Header<'_>, name: &str) -> bool {
    header.name.eq_ignore_ascii_case(name)
}

pub fn hosts(headers: &[Header<'_>]) -> usize {
    headers.iter().filter(|header| is(header, "host")).count()
}

/// `None` where a server could read more than one length out of the headers,
/// or where the rest of the connection is no HTTP.
fn body(method: &str, headers: &[Header<'_>]) -> Option<Body> {
    let mut body = None;
    for header in headers {
        let said = if is(header, "content-length") {
            Body::Length(digits(header.value)?)
        } else if is(header, "transfer-encoding") && header.value.eq_ignore_ascii_case(b"chunked") {
            Body::Chunked
        } else if is(header, "transfer-encoding") || is(header, "upgrade") && is_websocket(header.value) {
            return None;
        } else {
            continue;
        };
        if body.replace(said).is_some() {
            return None;
        }
    }
    if method == "CONNECT" { None } else { Some(body.unwrap_or(Body::Length(0))) }
}

fn digits(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn is_websocket(value: &[u8]) -> bool {
    value.trim_ascii().eq_ignore_ascii_case(b"websocket")
}

/// The length of the head that the bytes start with, if it has come whole:
/// its first empty line ends it. `searched` bytes were looked at before.
pub fn end(bytes: &[u8], searched: usize) -> Option<usize> {
    // An empty line may have begun at the end of those.
    let mut at = searched.saturating_sub(2);
    loop {
        at += bytes[at..].iter().position(|byte| *byte == b'\n')? + 1;
        match bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
}
