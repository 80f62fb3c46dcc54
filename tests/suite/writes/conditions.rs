//! `If-Match`: a write happens on the generation that its author saw, or not at all.

use serde_json::{Value, json};

use super::desk::{assert_problem, desk};
use crate::suite::wire::Response;

#[test]
fn any_tag_of_the_generation_in_force_fits() {
    let boxes = desk();
    let epoch = boxes.epoch();
    let mut generation = 1;
    let put = |tag: &str| {
        boxes.ask("PUT", "/v1/builders/Mac%20central", &[&format!("If-Match: {tag}")], "{\"machines\":[\"mac1\"]}")
    };
    let forms: [&dyn Fn(&str) -> String; 9] = [
        &|tag| format!("\"{tag}\""),
        &|tag| format!("\"{tag}-gzip\""),
        &|tag| format!("\"{tag}-zstd\""),
        &|tag| format!("W/\"{tag}\""),
        &|tag| format!("W/\"{tag}-gzip\""),
        &|tag| format!("\"other\", \"{tag}\""),
        &|tag| format!("\"{tag}\",\"other-1\""),
        &|_| "*".to_owned(),
        &|tag| format!("\"stale\"\r\nIf-Match: \"{tag}\""),
    ];
    for form in forms {
        let response = put(&form(&format!("{epoch}-{generation}")));
        assert_eq!(response.status, 200, "{}: {response:?}", form("E-N"));
        generation += 1;
        assert_eq!(response.header("etag"), Some(format!("\"{epoch}-{generation}\"").as_str()));
        assert_eq!(boxes.read("/v1/allocations")["generation"], json!(generation));
    }
    let before = boxes.known();
    for tag in [
        format!("\"{epoch}-{}\"", generation - 1),
        format!("\"{epoch}-{}\"", generation + 1),
        format!("\"{epoch}-0{}-x\"", generation),
        format!("\"{epoch}-{}-{generation}\"", generation - 1),
        format!("\"{}-{generation}\"", "0".repeat(epoch.len())),
        format!("\"{generation}\""),
        format!("{epoch}-{generation}"),
        "\"*\"x".to_owned(),
        "\"\"".to_owned(),
        String::new(),
        "*x".to_owned(),
    ] {
        let problem = assert_problem(&put(&tag), 412, "generation_changed", &tag);
        assert!(problem["detail"].as_str().unwrap().contains(&format!("{generation} is in force")), "{problem}");
    }
    assert_eq!(boxes.known(), before);
}

fn tag(response: &Response) -> String {
    assert_eq!(response.status, 200, "{response:?}");
    format!("If-Match: {}", response.header("etag").unwrap())
}

#[test]
fn the_tag_of_every_read_and_write_is_good_for_the_next_write() {
    let boxes = desk();
    let writes: [(&str, &str, Value); 5] = [
        ("PUT", "/v1/allocations", json!({"builders": {"Mac a": ["mac1"], "Mac b": ["mac2"]}})),
        ("PATCH", "/v1/allocations", json!({"set": {"Mac a": ["mac3"]}})),
        ("PUT", "/v1/builders/Mac%20c", json!({"machines": ["mac4"]})),
        ("DELETE", "/v1/builders/Mac%20b", Value::Null),
        ("POST", "/v1/allocations/rollback", json!({"generation": 2})),
    ];
    let mut known = tag(&boxes.server.get("/v1/allocations"));
    let mut stale = known.clone();
    for (at, (method, target, body)) in writes.iter().enumerate() {
        let encodings = ["Accept-Encoding: gzip", "Accept-Encoding: zstd", "Accept-Encoding: identity"];
        let response = boxes.ask(method, target, &[&known, encodings[at % 3]], &body.to_string());
        let made = tag(&response);
        assert_eq!(response.header("x-jacuzzi-generation"), Some((at + 2).to_string().as_str()));
        let lost = boxes.ask(method, target, &[&known], &body.to_string());
        assert_problem(&lost, 412, "generation_changed", method);
        (stale, known) = (known, made);
    }
    for target in ["/v1/builders", "/v1/builders/Mac%20a", "/v1/machines/mac1", "/v1/allocated/all"] {
        for encoding in ["gzip", "zstd", "identity"] {
            let read = boxes.server.request("GET", target, &[&format!("Accept-Encoding: {encoding}")], b"");
            known = tag(&boxes.ask("PATCH", "/v1/allocations", &[&tag(&read)], "{}"));
        }
    }
    let dry = boxes.ask("PATCH", "/v1/allocations?dry_run=true", &[&stale], "{}");
    assert_problem(&dry, 412, "generation_changed", "a dry run");
    let dry = boxes.ask("PATCH", "/v1/allocations?dry_run=true", &[&known], "{}");
    assert_eq!((dry.status, dry.header("etag")), (200, None), "there is no such generation");
}
