//! Names of every kind, in every spelling that a client may use for them.

use serde_json::{Value, json};

use super::boxes::Boxes;
use crate::suite::server::Server;

/// Each is a builder and the one machine of that builder.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "Android armv7 API 11+ b2g-inbound debug build",
        "Linux x86-64 cedar leak test build",
        "b2g_b2g-inbound_hamachi_dep",
        "a/b",
        "/",
        "//",
        "/lead",
        "trail/",
        "a//b",
        "a/./b",
        "a/../b",
        "50%",
        "%",
        "%%",
        "%zz",
        "%2",
        "%41",
        "%2F",
        "..",
        ".",
        "../..",
        "é",
        "e\u{301}",
        "?",
        "#",
        "a?b=c&d=e#f",
        "name=a",
        "a&name=b",
        " ",
        " padded ",
        "+",
        "a+b",
        "a b",
        "a%20b",
        "\"<>`|\\^~'()*!$,;:@=[]",
        "all",
        "events",
        "\u{a0}",
        "\u{feff}",
        "\u{202e}\u{200b}",
        "𝒳",
        "\u{10ffff}",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(128));
    names.push("𝒳".repeat(128));
    names
}

fn farm(names: &[String]) -> String {
    // TOML's quoted text is JSON's, for text without controls.
    let workers = json!(names);
    format!(
        r#"
        farm = {{ name = "names" }}
        pools = [{{ name = "all", workers = {workers} }}]
        builders = [{{ match = "", pool = "all" }}]
        "#
    )
}

fn encoded(name: &str, raw: impl Fn(u8) -> bool, escape: impl Fn(u8) -> String) -> String {
    name.bytes().map(|byte| if raw(byte) { char::from(byte).to_string() } else { escape(byte) }).collect()
}

fn upper(byte: u8) -> String {
    format!("%{byte:02X}")
}

/// What Mozilla's client leaves as it is.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
}

/// As raw as a request line can be: a `%` is encoded only where two digits follow it.
fn bare(name: &str, reserved: &[u8]) -> String {
    let mut text = String::new();
    for (at, byte) in name.bytes().enumerate() {
        let digits = name.as_bytes().get(at + 1..at + 3);
        let is_escape = byte == b'%' && digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let is_raw = byte.is_ascii_graphic() && !b"<>#".contains(&byte) && !reserved.contains(&byte) && !is_escape;
        text += &if is_raw { char::from(byte).to_string() } else { upper(byte) };
    }
    text
}

/// The targets that all mean this name.
fn spellings(collection: &str, name: &str) -> Vec<String> {
    let encodings = [
        encoded(name, is_plain, upper),
        encoded(name, is_plain, |byte| format!("%{byte:02x}")),
        encoded(name, |_| false, upper),
        encoded(name, |byte| is_plain(byte) || byte == b'+', upper),
        encoded(name, |byte| is_plain(byte) || b"~:@!$&'()*,;=".contains(&byte), upper),
    ];
    let mut targets = Vec::new();
    for path in &encodings {
        targets.extend(["", "/", "?x=1", "/?name=other"].map(|end| format!("/v1/{collection}/{path}{end}")));
    }
    targets.push(format!("/v1/{collection}/{}/", bare(name, b"?`")));
    if !name.ends_with('/') {
        targets.push(format!("/v1/{collection}/{}", bare(name, b"?`")));
    }
    for value in encodings[..4].iter().chain([&bare(name, b"&\"")]) {
        targets.push(format!("/v1/{collection}?name={value}"));
        targets.push(format!("/v1/{collection}/?x=%zz&n%61me={value}&name=second"));
    }
    targets
}

/// Both collections of a server give the name's own list for every spelling of it.
fn assert_spellings(server: &Server, name: &str) {
    let mut connection = server.connect();
    for (collection, key) in [("builders", "machines"), ("machines", "builders")] {
        for target in spellings(collection, name) {
            let got = connection.request("GET", &target, &["Host: localhost"]);
            assert_eq!((got.status, got.json()), (200, json!({key: [name]})), "{name:?} as {target}");
            let head = connection.request("HEAD", &target, &["Host: localhost"]);
            assert_eq!((head.status, head.header("etag")), (200, got.header("etag")), "{name:?} as {target}");
        }
    }
}

#[test]
fn every_spelling_of_every_name_is_understood() {
    let names = names();
    let boxes = Boxes::with(&farm(&names), |start| start);
    let set: Value = names.iter().map(|name| (name.clone(), json!([name]))).collect::<serde_json::Map<_, _>>().into();
    boxes.write("PATCH", "/v1/allocations", &json!({"set": set}));
    for name in &names {
        assert_spellings(&boxes.server, name);
    }
    let mut sorted = names;
    sorted.sort();
    assert_eq!(boxes.read("/v1/builders"), json!({"builders": sorted}));
    assert_eq!(boxes.read("/v1/allocated/all/"), json!({"machines": sorted}));
}

#[test]
fn what_is_spelled_otherwise_is_another_name() {
    let names = ["é", "a b", "a/b", "50%", "..", "%41"].map(str::to_owned);
    let boxes = Boxes::with(&farm(&names), |start| start);
    let set: Value = names.iter().map(|name| (name.clone(), json!([name]))).collect::<serde_json::Map<_, _>>().into();
    boxes.write("PUT", "/v1/allocations", &json!({"builders": set}));
    for other in [
        "e%CC%81", "%C3%89", "%E9", "%C3", "a+b", "a%2Bb", "a%2520b", "a%20%20b", "a%20b%20", "a%252Fb", "A/b", "a//b",
        "a/b//", "/a/b", "a%2Fb%2F", "./a/b", "a/../a/b", "a%5Cb", "50%25%20", "50%2525", "50", ".", "%2e", "...",
        "../..", "A", "%41", "%2541%00",
    ] {
        for target in [format!("/v1/builders/{other}"), format!("/v1/machines/{other}/")] {
            assert_eq!(boxes.server.get(&target).status, 404, "{target}");
        }
    }
    // The other way to give a name knows no trailing slash and no plus for a space either.
    for other in ["a/b/", "a+b", "e%CC%81", "", "%C3%A9%20"] {
        assert_eq!(boxes.server.get(&format!("/v1/builders?name={other}")).status, 404, "{other}");
    }
}

#[test]
fn a_builder_is_written_by_any_spelling_too() {
    let names = ["a/b c+d", "é", "50%"].map(str::to_owned);
    let boxes = Boxes::with(&farm(&names), |start| start);
    for (target, name) in [
        ("/v1/builders/a/b%20c+d", &names[0]),
        ("/v1/builders/a%2Fb%20c%2bd/", &names[0]),
        ("/v1/builders?name=%C3%A9", &names[1]),
        ("/v1/builders/?name=50%", &names[2]),
    ] {
        boxes.write("PUT", target, &json!({"machines": [name]}));
        assert_spellings(&boxes.server, name);
        boxes.write("DELETE", target, &Value::Null);
        assert_eq!(boxes.read("/v1/builders"), json!({"builders": []}));
    }
}
