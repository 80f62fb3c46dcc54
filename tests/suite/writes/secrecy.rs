//! A token is shown once: no log, answer, audit or file has it, and only the journal and its snapshots have its hash.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::desk::{FARM, bearer, desk_with};

/// Files below a folder that hold this text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if fs::read(&path).unwrap().windows(text.len()).any(|window| window == text.as_bytes()) {
            found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    found.sort();
    found
}

/// SHA-256 in hexadecimal, by a program that is not ours.
fn sha256(text: &str) -> String {
    let output = Command::new("python3")
        .args(["-c", "import hashlib,sys; print(hashlib.sha256(sys.argv[1].encode()).hexdigest())", text])
        .output();
    String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
}

#[test]
fn a_token_is_shown_once_and_never_again() {
    let boxes = desk_with(FARM, |start| start.env("JACUZZI__LOG__LEVEL", "trace"));
    let (operator, master) = (boxes.token.clone(), boxes.add_token("master"));
    let gone = boxes.add_token("worker");
    boxes.ask("DELETE", "/v1/tokens/worker", &[], "");
    let secrets: Vec<(String, String)> = [operator, master, gone].map(|token| (sha256(&token), token)).into();
    let mut said = String::new();
    for (hash, token) in &secrets {
        assert!(token.len() >= 43, "at least 160 bits, not {token}");
        let header = bearer(token);
        let in_body = json!({"reason": 1, token: [token]}).to_string();
        for (method, target, body) in super::identity::CALLS {
            let target = if target.starts_with("/v1/tokens/") { "/v1/tokens/none" } else { target };
            if !target.contains("/v1/tokens") || method != "POST" {
                said += &format!("{:?}\n", boxes.server.request(method, target, &[&header], body.as_bytes()));
            }
        }
        for near in [format!("Authorization: Bearer {token}x"), format!("Authorization: {token}")] {
            said += &format!("{:?}\n", boxes.server.request("GET", "/v1/audit", &[&near], b""));
        }
        // As part of what is malformed it is the client's own text, so only what others see is looked at.
        boxes.server.request("PATCH", "/v1/allocations", &[&header], in_body.as_bytes());
        for secret in [hash, token] {
            assert!(!said.contains(secret), "in an answer: {secret}");
        }
    }
    for target in
        ["/v1/tokens", "/v1/audit?limit=1000", "/openapi.json", "/metrics", "/v1/allocations/history", "/readyz"]
    {
        said += boxes.ask("GET", target, &[], "").text();
    }
    let config = boxes.home.jacuzzi(&["config", "show"]).arg("--data-dir").arg(boxes.home.data_dir()).output().unwrap();
    let environment = boxes.home.jacuzzi(&["config", "show"]).env("JACUZZI_TOKEN", &secrets[0].1).output().unwrap();
    said += &format!("{config:?} {environment:?}");
    let home = boxes.home;
    assert!(boxes.server.stop().success());
    said += &home.log();
    assert!(home.log().contains("TRACE"), "the log is as chatty as it can be");

    for (at, (hash, token)) in secrets.iter().enumerate() {
        for secret in [hash, token] {
            assert!(!said.contains(secret.as_str()), "{secret} is somewhere in what was said or logged");
        }
        let file: &[&str] = if at == 0 { &["operator.token"] } else { &[] };
        assert_eq!(files_with(home.data_dir(), token), file);
        let with_hash = files_with(home.data_dir(), hash);
        assert!(with_hash.iter().any(|file| file.starts_with("journal.sqlite")), "{with_hash:?}");
    }
}

#[test]
fn the_token_file_is_its_owners_alone() {
    let boxes = desk_with(FARM, |start| start);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&boxes.home.data_dir().join("operator.token")), 0o600);
    assert_eq!(mode(boxes.home.data_dir()), 0o700);
}
