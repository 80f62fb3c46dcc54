//! The wire as the parser behind it sees it: whatever comes, both see the same messages.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use actix_codec::Decoder;
use actix_http::h1::{Codec, Message};
use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::task::LocalSet;

use super::Wire;
use super::chunks::{Chunks, Followed};
use super::messages::{Messages, Next, Place};
use super::repair::repair;
use crate::http::target::decode;

/// A connection on which these pieces come one after another, and then the end.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Some(mut piece) = self.0.pop_front() else { return Poll::Ready(Ok(())) };
        let rest = piece.split_off(piece.len().min(buf.remaining()));
        if !rest.is_empty() {
            self.0.push_front(rest);
        }
        buf.put_slice(&piece);
        Poll::Ready(Ok(()))
    }
}

/// All that is read from the wire when these bytes come in pieces of this size, with room for so many at a time.
fn through(bytes: &[u8], piece: usize, room: usize) -> Vec<u8> {
    let mut wire = Wire::new(Pieces(bytes.chunks(piece).map(<[u8]>::to_vec).collect()));
    let mut all = Vec::new();
    loop {
        let mut place = vec![0; room];
        let mut buf = ReadBuf::new(&mut place);
        let read = Pin::new(&mut wire).poll_read(&mut Context::from_waker(Waker::noop()), &mut buf);
        assert!(matches!(read, Poll::Ready(Ok(()))), "{read:?}");
        if buf.filled().is_empty() {
            return all;
        }
        all.extend_from_slice(buf.filled());
    }
}

/// What the parser sees.
struct Seen {
    /// Method, target, decoded, and body.
    messages: Vec<(String, Vec<u8>, Vec<u8>)>,
    /// Where in the bytes each head ends.
    ends: Vec<usize>,
    /// Where each body ends, if there is one.
    body_ends: Vec<usize>,
    refused: bool,
}

fn seen(bytes: &[u8]) -> Seen {
    let mut seen = Seen { messages: Vec::new(), ends: Vec::new(), body_ends: Vec::new(), refused: false };
    // It starts a clock, which needs a place to run, and is not looked at here.
    let tasks = LocalSet::new();
    let _here = tasks.enter();
    let (mut codec, mut rest) = (Codec::default(), BytesMut::from(bytes));
    loop {
        match codec.decode(&mut rest) {
            Ok(Some(Message::Item(request))) => {
                let target = decode(request.uri().to_string().as_bytes()).into_owned();
                seen.messages.push((request.method().to_string(), target, Vec::new()));
                seen.ends.push(bytes.len() - rest.len());
            }
            Ok(Some(Message::Chunk(Some(chunk)))) => seen.messages.last_mut().unwrap().2.extend_from_slice(&chunk),
            Ok(Some(Message::Chunk(None))) => seen.body_ends.push(bytes.len() - rest.len()),
            Ok(None) => return seen,
            Err(_) => {
                seen.refused = true;
                return seen;
            }
        }
    }
}

/// What goes on, where heads end in it, and whether the thread was lost.
fn followed(bytes: &[u8]) -> (Vec<u8>, Vec<usize>, bool) {
    let (mut messages, mut at, mut all, mut ends) = (Messages::new(), 0, Vec::new(), Vec::new());
    while at < bytes.len() {
        let was_head = matches!(messages.place, Place::Head);
        let next = messages.next(&bytes[at..]);
        let is_line_end = matches!(next, Next::Pass(1 | 2)) && matches!(bytes[at], b'\r' | b'\n');
        match next {
            Next::Pass(length) => {
                all.extend_from_slice(&bytes[at..at + length]);
                at += length;
            }
            Next::Replace(length, other) => {
                all.extend(other);
                at += length;
            }
            Next::Wait => {
                all.extend_from_slice(&bytes[at..]);
                break;
            }
        }
        if was_head && !is_line_end && !matches!(messages.place, Place::Unknown) {
            ends.push(all.len());
        }
    }
    (all, ends, matches!(messages.place, Place::Unknown))
}

const HEADS: [&[u8]; 9] = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\n\r\n",
    b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n",
    b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tChunked \r\n\r\n",
    b"GET /# HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
];

const LINES: [&[u8]; 14] = [
    b"GET / HTTP/1.1\r\n",
    b"GET / HTTP/1.0\r\n",
    b"HEAD / HTTP/1.1\n",
    b"PUT / HTTP/1.1\r\n",
    b"POST / HTTP/1.0\r\n",
    b"GET /a b\xc3\xa9 HTTP/1.1\r\n",
    b"GET /# HTTP/1.0\n",
    b"HEAD /<a> HTTP/1.1\r\n",
    b"PUT /a b HTTP/1.1\r\n",
    b"GET /a\rb HTTP/1.1\r\n",
    b"GET / HTTP/2.0\r\n",
    b"GET /\r\n",
    b"CONNECT a:1 HTTP/1.1\r\n",
    b"\r\n",
];

const HEADERS: [&[u8]; 25] = [
    b"Host: a\r\n",
    b"Host: a\r\n",
    b"Host: b\n",
    b"Host : c\n",
    b"Content-Length: 0\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 7\r\n",
    b"Content-Length: 05\r\n",
    b"Content-Length: +5\r\n",
    b"Content-Length: 5, 5\r\n",
    b"Content-Length:\r\n",
    b"Content-Length : 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding:\tChunked \r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Transfer-Encoding: identity\r\n",
    b"Upgrade: WebSocket\r\n",
    b"Upgrade: h2c\r\n",
    b"Connection: upgrade\r\n",
    b"Expect: 100-continue\r\n",
    b"X: \r\n folded\r\n",
    b"X: \x80\t\r\n",
    b"X: \r\r\n",
    b"X: \0\r\n",
    b"no colon\r\n",
];

/// Bodies, parts of bodies, and what is none.
const BODIES: [&[u8]; 14] = [
    b"",
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"5\r\nGET /\r\n0\r\n\r\n",
    b"05;a=\"\x80\r\nGET /\r\n",
    b"5 \t\r\n /a b\r\n",
    b"0\r\n\r\n",
    b"0\r\nX: y\r\n\r\n",
    b"0;\x01\r\n\r\n",
    b"0\r\n\rX\r\n\r\n",
    b"0\n\n",
    b"5\r\nGET / \r\n",
    b"5\r\n /a b\r\n0 ;x\r\nX\nY: z\r\n\r\n",
    b"ffffffffffffffff0\r\n",
    b" HTTP/1.1",
];

/// Heads and bodies of every kind, one behind another, and what comes close to them.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |from: &'static [&'static [u8]]| select(from).prop_map(<[u8]>::to_vec);
    let head = (bytes(&LINES), vec(bytes(&HEADERS), 0..4), select(vec!["\r\n", "\r\n", "\r\n", "\n", ""]))
        .prop_map(|(line, headers, end)| [line, headers.concat(), end.as_bytes().to_vec()].concat());
    let part = prop_oneof![4 => bytes(&HEADS), 2 => head, 6 => bytes(&BODIES), 1 => vec(any::<u8>(), 1..4)];
    vec(part, 0..9).prop_map(|parts| parts.concat())
}

/// A byte of a path that does not end it.
fn target_byte() -> impl Strategy<Value = u8> {
    any::<u8>().prop_map(|byte| if matches!(byte, b'\r' | b'\n' | b'?') { b' ' } else { byte })
}

/// A body that a client may send, and how it is announced.
fn body() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, &'static str)> {
    let inside = prop_oneof![soup(), vec(any::<u8>(), 0..60)];
    (inside, 0..3, 1..9_usize).prop_map(|(body, how, size)| match how {
        0 => (Vec::new(), Vec::new(), ""),
        1 => (body.clone(), body, "Content-Length: "),
        _ => {
            let chunk = |chunk: &[u8]| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
            let chunks: Vec<u8> = body.chunks(size).flat_map(chunk).chain(*b"0\r\n\r\n").collect();
            (body, chunks, "Transfer-Encoding: chunked")
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn wherever_the_pieces_begin_the_same_comes_out(
        bytes in soup(), piece in 1..40_usize, room in 1..60_usize,
    ) {
        let whole = through(&bytes, usize::MAX, 1 << 16);
        prop_assert_eq!(&through(&bytes, piece, room), &whole);
        prop_assert_eq!(&followed(&bytes).0, &whole);
    }

    #[test]
    fn the_parser_sees_heads_where_we_do(bytes in soup()) {
        let (all, ends, lost) = followed(&bytes);
        let parser = seen(&all);
        let common = ends.len().min(parser.ends.len());
        prop_assert_eq!(&ends[..common], &parser.ends[..common]);
        prop_assert!(ends.len() <= common || parser.refused, "{:?} {:?}", ends, parser.ends);
        prop_assert!(parser.ends.len() <= common || lost, "{:?} {:?}", ends, parser.ends);
    }

    #[test]
    fn a_chunked_body_ends_where_the_parser_ends_it(
        pieces in vec(select(&["0", "2", "G", "\r\n", "\r\n", "\r\n", "\r", "\n", " ", "\t", ";", "\0", "0\r\n\r\n"][..]), 0..12),
        begins in select(&["", "0\r\n", "2\r\nab\r\n0"][..]),
    ) {
        let head = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = begins.to_owned() + &pieces.concat();
        let parser = seen([head, &body].concat().as_bytes());
        let expected = match parser.body_ends.first() {
            Some(end) => Followed::Until(end - head.len()),
            None if parser.refused => Followed::Broken,
            None => Followed::All,
        };
        prop_assert_eq!(Chunks::default().follow(body.as_bytes()), expected, "{:?}", body);
    }

    #[test]
    fn the_target_of_a_read_comes_through_and_no_body_is_touched(
        requests in vec((select(&["GET", "HEAD", "PUT"][..]), vec(target_byte(), 0..20), body()), 1..5),
    ) {
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for (method, name, (body, sent, announced)) in requests {
            // Only reads are put right.
            let name = if method == "PUT" { b"a".to_vec() } else { name };
            let length = if announced.ends_with(": ") { sent.len().to_string() } else { String::new() };
            let line_end = if announced.is_empty() { "" } else { "\r\n" };
            bytes.extend([format!("{method} /").as_bytes(), &name, b" HTTP/1.1\r\nHost: a\r\n"].concat());
            bytes.extend(format!("{announced}{length}{line_end}\r\n").into_bytes());
            bytes.extend(sent);
            expected.push((method.to_owned(), decode(&[b"/", &name[..]].concat()).into_owned(), body));
        }
        prop_assert_eq!(seen(&through(&bytes, usize::MAX, 4096)).messages, expected);
    }
}

#[test]
fn what_the_parser_takes_is_passed_on_byte_for_byte() {
    let bytes = [
        b"GET /v1/builders/a%20b?x=y HTTP/1.1\nHost: a\r\nX:\x80 y\t\r\n\r\n\r\nHEAD / HTTP/1.0\r\n\r\n".as_slice(),
        b"PUT /v1/builders/a HTTP/1.1\r\nHost: a\r\nContent-Length: 24\r\n\r\nGET /a b# HTTP/1.1\r\n\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost:\r\nContent-length: 0\r\nUpgrade: h2c\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: CHUNKED\r\n\r\n5;a=b\r\nGET /\r\n0\r\nX: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ]
    .concat();
    for (piece, room) in [(usize::MAX, 1 << 16), (1, 1), (7, 3), (100, 1000)] {
        assert_eq!(through(&bytes, piece, room), bytes, "{piece} {room}");
    }
}

/// The head that goes on in place of this one.
fn other(head: &str) -> Option<String> {
    repair(head.as_bytes()).map(|other| String::from_utf8_lossy(&other).into_owned())
}

#[test]
fn a_head_is_written_so_that_it_is_taken() {
    for (head, expected) in [
        ("GET /a b<\">`#é HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a%20b%3C%22%3E%60%23%C3%A9 HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("GET /50%é%4\u{1}\u{7f} HTTP/1.0\r\n\r\n", "GET /50%%C3%A9%4%01%7F HTTP/1.0\r\n\r\n"),
        ("HEAD /x  HTTP/1.1\r\nHost: a\n\n", "HEAD /x%20 HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("GET /a HTTP/1.1 HTTP/1.1\r\nHost:a\r\n\r\n", "GET /a%20HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("GET /a HTTP/1.1\r\nX: y\r\n\r\n", "GET /a HTTP/1.1\r\nHost:\r\nX: y\r\n\r\n"),
        ("GET /a HTTP/1.1\r\nHost: a\r\nX: y\r\nhOST: a\r\n\r\n", "GET /a HTTP/1.1\r\nHost:\r\nX: y\r\n\r\n"),
        ("GET /# HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n", "GET /%23 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ] {
        assert_eq!(other(head).as_deref(), Some(expected), "{head:?}");
    }
    for head in [
        "GET /a\r\n\r\n",
        "GET /a\rb HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a b HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET HTTP/1.1\r\nHost: a\r\n\r\n",
        "PUT /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\nX: y\r\n folded\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\nX: y\rz\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    ] {
        assert_eq!(other(head), None, "{head:?}");
    }
}

#[test]
fn of_too_many_headers_those_are_kept_that_a_read_looks_at() {
    let many = "X: y\r\n".repeat(1000);
    let long = "l".repeat(70_000);
    let head = format!(
        "GET /a HTTP/1.1\r\n{many}Host: a\r\nOrigin: {long}\r\nOrigin: b\r\nIf-None-Match: \"c\"\r\n\
         Content-Length: 5\r\nX: {long}\r\nContent-Length: 5\r\n\r\n"
    );
    assert_eq!(
        other(&head).unwrap(),
        "GET /a HTTP/1.1\r\nHost: a\r\nOrigin: \r\nIf-None-Match: \"c\"\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        "a second length stays, for the parser to refuse"
    );
}

#[test]
fn of_a_long_target_the_path_and_each_parameter_are_cut() {
    let long = "é".repeat(20_000);
    let head = other(&format!("GET /{long}?pad={long}&name=a HTTP/1.1\r\nHost: a\r\n\r\n")).unwrap();
    let target = head.split(' ').nth(1).unwrap();
    let (path, query) = target.split_once('?').unwrap();
    assert_eq!(path.len(), 8 << 10);
    assert!(query.starts_with("pad=%C3%A9") && query.ends_with("&name=a&") && query.len() < 9 << 10, "{query}");
    let head = other(&format!("GET /a?{} HTTP/1.1\r\nHost: a\r\n\r\n", "x=y&".repeat(20_000))).unwrap();
    assert!(head.len() < 40 << 10, "{}", head.len());
}
