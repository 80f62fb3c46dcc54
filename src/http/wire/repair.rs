//! A read that the parser behind us would refuse, written so that it means the same and is taken.

use std::fmt::Write as _;

use httparse::{EMPTY_HEADER, Header, Status};

use super::head::{MAX_FIT_BYTES, MAX_HEADERS, hosts, is};

/// The longest target that goes on as it is, in bytes: well within what the parser behind us takes.
const MAX_TARGET_BYTES: usize = 32 << 10;

/// What is left of the path and of each parameter of a longer target, in
/// bytes: more than any name needs (128 characters of up to 12 bytes), so what
/// is cut names nothing before and after.
const MAX_PART_BYTES: usize = 8 << 10;

/// In a head with too much in it, the longest value that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 2 << 10;

/// All headers that a GET looks at, the guards included: in a head with too
/// many, the first of each is kept.
const LOOKED_AT: [&str; 8] = [
    "host",
    "origin",
    "authorization",
    "connection",
    "accept-encoding",
    "if-none-match",
    "last-event-id",
    "x-request-id",
];

/// They say where the message ends, so they are never touched.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

const METHODS: [&[u8]; 2] = [b"GET ", b"HEAD "];
const VERSIONS: [&[u8]; 2] = [b" HTTP/1.1", b" HTTP/1.0"];

/// Whether a head that begins like this may be a read, though it is not written as one.
pub fn may_be_read(bytes: &[u8]) -> bool {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => request_line(&bytes[..end]).is_some(),
        None => METHODS.iter().any(|method| bytes.starts_with(method)),
    }
}

/// Whether a target goes on as it is.
pub fn is_fit(target: &[u8]) -> bool {
    target.len() <= MAX_TARGET_BYTES && target.iter().all(|byte| MAY_BE_RAW[usize::from(*byte)])
}

/// Another head for this one; `None` if it is none of HTTP. `head` ends with its first empty line.
pub fn repair(head: &[u8]) -> Option<Vec<u8>> {
    let (line, rest) = head.split_at(head.iter().position(|byte| *byte == b'\n')? + 1);
    let (method, target, version) = request_line(&line[..line.len() - 1])?;
    let mut room = vec![EMPTY_HEADER; rest.iter().filter(|byte| **byte == b'\n').count()];
    let Ok(Status::Complete((_, headers))) = httparse::parse_headers(rest, &mut room) else { return None };

    let mut other = Vec::with_capacity(head.len());
    other.extend_from_slice(method);
    other.extend_from_slice(shorten(&encode(target)).as_bytes());
    other.extend_from_slice(version);
    other.extend_from_slice(b"\r\n");
    write_headers(&mut other, headers, version);
    other.extend_from_slice(b"\r\n");
    Some(other)
}

/// The method with the space behind it, the target, and the version with the space before it.
fn request_line(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let method = METHODS.into_iter().find(|method| line.starts_with(method))?;
    let version = VERSIONS.into_iter().find(|version| line.ends_with(version))?;
    let target = line.get(method.len()..line.len() - version.len())?;
    // To some, a lone CR ends a line: they would see another request than we do.
    if target.contains(&b'\r') { None } else { Some((method, target, version)) }
}

/// A byte that is encoded means the same as before: no `%` before it had two digits behind it.
fn encode(target: &[u8]) -> String {
    let mut encoded = String::with_capacity(target.len() * 3);
    for byte in target {
        if MAY_BE_RAW[usize::from(*byte)] {
            encoded.push(char::from(*byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("a string takes every text");
        }
    }
    encoded
}

/// `target`: nothing but ASCII.
fn shorten(target: &str) -> String {
    if target.len() <= MAX_TARGET_BYTES {
        return target.to_owned();
    }
    let cut = |part: &str| part[..part.len().min(MAX_PART_BYTES)].to_owned();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut short = cut(path) + "?";
    for parameter in query.split('&').map(cut) {
        if short.len() + parameter.len() >= MAX_TARGET_BYTES {
            break;
        }
        short += &parameter;
        short.push('&');
    }
    short
}

/// No `Host` where there must be one, or several, become one without a name: no
/// read of builders and machines looks at it, and to everything else it is not us.
/// `Upgrade` is left out: nothing here is ever upgraded, and the parser would
/// take what follows for the new protocol.
fn write_headers(other: &mut Vec<u8>, headers: &[Header<'_>], version: &[u8]) {
    let too_much = headers.len() >= MAX_HEADERS || other.len() + bytes_of(headers) > MAX_FIT_BYTES;
    let hosts = hosts(headers);
    let no_host = hosts > 1 || hosts == 0 && version == VERSIONS[0];
    if no_host {
        other.extend_from_slice(b"Host:\r\n");
    }
    let mut kept = [false; LOOKED_AT.len()];
    for header in headers {
        if no_host && is(header, "host") || is(header, "upgrade") {
            continue;
        }
        let is_framing = FRAMING.iter().any(|name| is(header, name));
        let mut value = header.value;
        if too_much && !is_framing {
            let looked_at = LOOKED_AT.iter().position(|name| is(header, name));
            let Some(_) = looked_at.filter(|at| !std::mem::replace(&mut kept[*at], true)) else { continue };
            // Emptied and not left out: a foreign `Origin` stays one.
            value = if value.len() > MAX_VALUE_BYTES { b"" } else { value };
        }
        other.extend_from_slice(header.name.as_bytes());
        other.extend_from_slice(b": ");
        other.extend_from_slice(value);
        other.extend_from_slice(b"\r\n");
    }
}

fn bytes_of(headers: &[Header<'_>]) -> usize {
    headers.iter().map(|header| header.name.len() + header.value.len() + 4).sum()
}

/// The bytes of a target that the parser behind us takes raw, be it in a path or in a query; a `#` would end it.
const MAY_BE_RAW: [bool; 256] = {
    let mut raw = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        raw[byte as usize] = !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'`');
        byte += 1;
    }
    raw
};
