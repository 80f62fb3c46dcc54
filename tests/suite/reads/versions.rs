//! Entity tags, conditions and encodings: every answer says which version it is, and is the same in every form.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::json;

use super::boxes::Boxes;
use crate::suite::wire::Response;

fn two_generations() -> Boxes {
    let boxes = Boxes::start();
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {"b1": ["box1", "box2"], "b2": ["box2"]}}));
    boxes.write("PATCH", "/v1/allocations", &json!({"set": {"b3": ["box3", "box4"]}, "unset": []}));
    boxes
}

/// All that has a version, with the tag it must have.
fn tagged(epoch: &str) -> Vec<(&'static str, String)> {
    let of_generation = [
        "/v1/builders",
        "/v1/builders/b1",
        "/v1/builders?name=b3",
        "/v1/machines",
        "/v1/machines/box2",
        "/v1/allocated/all",
        "/v1/allocations",
        "/v1/allocations/history",
    ];
    let of_delta = [
        ("/v1/allocations?since=0", "0-2"),
        ("/v1/allocations?since=1", "1-2"),
        ("/v1/allocations?since=2", "2-2"),
        ("/v1/allocations?since=0&until=1", "0-1"),
        ("/v1/allocations?since=2&until=0", "2-0"),
    ];
    let of_generation = of_generation.iter().map(|target| (*target, format!("{epoch}-2")));
    of_generation.chain(of_delta.iter().map(|(target, tag)| (*target, format!("{epoch}-{tag}")))).collect()
}

fn generation_of(tag: &str) -> &str {
    tag.rsplit('-').next().unwrap()
}

fn get(boxes: &Boxes, method: &str, target: &str, headers: &[&str]) -> Response {
    boxes.server.request(method, target, headers, b"")
}

fn plain(response: &Response) -> Vec<u8> {
    match response.header("content-encoding") {
        None => response.body.clone(),
        Some("gzip") => {
            let mut plain = Vec::new();
            GzDecoder::new(response.body.as_slice()).read_to_end(&mut plain).unwrap();
            plain
        }
        Some("zstd") => zstd::decode_all(response.body.as_slice()).unwrap(),
        Some(other) => panic!("{other} was not asked for"),
    }
}

#[test]
fn every_encoding_is_of_the_same_bytes() {
    let boxes = two_generations();
    for (target, tag) in tagged(&boxes.epoch()) {
        let identity = get(&boxes, "GET", target, &[]);
        for (accepted, encoding) in [
            ("identity", None),
            ("br, deflate", None),
            ("gzip", Some("gzip")),
            ("x, GZip;q=0.5", Some("gzip")),
            ("zstd", Some("zstd")),
            ("gzip;q=0.5, zstd", Some("zstd")),
            ("gzip, zstd;q=0.1, *;q=0", Some("gzip")),
            ("gzip;q=0, zstd;q=0", None),
        ] {
            let accept = format!("Accept-Encoding: {accepted}");
            let got = get(&boxes, "GET", target, &[&accept]);
            assert_eq!((got.status, got.header("content-encoding")), (200, encoding), "{target} {accepted}");
            assert_eq!(plain(&got), identity.body, "{target} {accepted}");
            let suffix = encoding.map(|encoding| format!("-{encoding}")).unwrap_or_default();
            assert_eq!(got.header("etag"), Some(format!("\"{tag}{suffix}\"").as_str()), "{target} {accepted}");
            assert!(got.header("vary").unwrap().eq_ignore_ascii_case("accept-encoding"), "{target}");
            assert_eq!(got.header("x-jacuzzi-generation"), Some(generation_of(&tag)), "{target}");
            assert_eq!(got.header("content-length"), Some(got.body.len().to_string().as_str()), "{target}");
            let head = get(&boxes, "HEAD", target, &[&accept]);
            for name in ["content-length", "content-type", "content-encoding", "etag", "vary", "x-jacuzzi-generation"] {
                assert_eq!(head.header(name), got.header(name), "HEAD {target} {accepted}: {name}");
            }
        }
    }
}

#[test]
fn what_is_known_is_not_sent_again() {
    let boxes = two_generations();
    for (target, tag) in tagged(&boxes.epoch()) {
        for (known, status) in [
            (format!("\"{tag}\""), 304),
            (format!("\"{tag}-gzip\""), 304),
            (format!("\"{tag}-zstd\""), 304),
            (format!("W/\"{tag}-gzip\""), 304),
            (format!("\"x\" ,\t\"{tag}\",\"y\""), 304),
            (format!("\"x\"\r\nIf-None-Match: \"{tag}\""), 304),
            ("*".into(), 304),
            (format!("\"{tag}0\""), 200),
            (format!("\"{tag}-br\""), 200),
            (format!("\"0{tag}\""), 200),
            (tag.clone(), 200),
        ] {
            for accept in ["Accept-Encoding: gzip", "Accept-Encoding: zstd", "Accept-Encoding: identity"] {
                for method in ["GET", "HEAD"] {
                    let got = get(&boxes, method, target, &[&format!("If-None-Match: {known}"), accept]);
                    assert_eq!(got.status, status, "{method} {target} {known}");
                    assert!(got.header("etag").unwrap().starts_with(&format!("\"{tag}")), "{target} {known}");
                    assert_eq!(got.header("x-jacuzzi-generation"), Some(generation_of(&tag)), "{target}");
                    assert!(got.header("vary").is_some(), "{target} {known}");
                    assert!(status == 200 || got.body.is_empty(), "{target} {known}");
                }
            }
        }
    }
}

#[test]
fn a_known_version_is_forgotten_with_the_next_generation() {
    let boxes = two_generations();
    let epoch = boxes.epoch();
    // A write that changes nothing is a generation too.
    for write in [json!({"set": {"b1": ["box1", "box2"]}}), json!({"set": {"b1": ["box5"]}}), json!({})] {
        let known: Vec<_> = ["/v1/builders/b1", "/v1/builders/b2", "/v1/allocations", "/v1/allocations?since=0"]
            .map(|target| (target, format!("If-None-Match: {}", boxes.server.get(target).header("etag").unwrap())))
            .into();
        let generation = boxes.write("PATCH", "/v1/allocations", &write);
        for (target, known) in known {
            let got = get(&boxes, "GET", target, &[&known]);
            assert_eq!(
                (got.status, got.header("x-jacuzzi-generation")),
                (200, Some(&*generation.to_string())),
                "{target}"
            );
        }
    }
    // A name without an allocation has no version, so no condition makes it exist.
    for known in [format!("\"{epoch}-5\""), "*".into()] {
        assert_eq!(get(&boxes, "GET", "/v1/builders/none", &[&format!("If-None-Match: {known}")]).status, 404);
    }
    // A past delta stays what it is.
    let known = format!("If-None-Match: \"{epoch}-1-2\"");
    assert_eq!(get(&boxes, "GET", "/v1/allocations?since=1&until=2", &[&known]).status, 304);
}

#[test]
fn a_restart_keeps_the_versions_and_another_folder_has_others() {
    let boxes = two_generations();
    let tag = boxes.server.get("/v1/allocations").header("etag").unwrap().to_owned();
    let Boxes { home, server, .. } = boxes;
    assert!(server.stop().success());
    let server = home.start();
    assert_eq!(server.get("/v1/allocations").header("etag"), Some(tag.as_str()));
    assert_ne!(two_generations().server.get("/v1/allocations").header("etag"), Some(tag.as_str()));
}
