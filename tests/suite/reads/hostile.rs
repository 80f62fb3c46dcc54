//! A thousand names and paths that nobody should send, and headers that make no sense.

use std::collections::BTreeMap;

use serde_json::json;

use super::boxes::Boxes;
use crate::suite::dice::Dice;
use crate::suite::wire::Connection;

impl Dice {
    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Up to `most` pieces, one after another.
    fn some(&mut self, from: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| self.pick(from)).collect()
    }

    /// From 0 up to, but not including, `end`.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.within(0..end as u64)).unwrap()
    }
}

/// What may stand around the part that is wrong.
const FILLING: [&str; 16] =
    ["a", "Linux", "%20", "+", "%", "%%", "/", "//", "..", ".", "%2e", "%2F", "%C3%A9", "\\", "~", "%ed%a0%8"];

/// No name has any of these in it: controls, what is not UTF-8, overlong forms, surrogates, beyond Unicode.
const IMPOSSIBLE: [&str; 18] = [
    "%00",
    "%0a",
    "%0D%0A",
    "%09",
    "%1b%5B2J",
    "%7f",
    "%C2%80",
    "%c2%9f",
    "%ff",
    "%FE%FF",
    "%C3",
    "%80",
    "%C0%AF",
    "%E0%80%AF",
    "%F0%80%80%AF",
    "%ed%a0%80",
    "%F4%90%80%80",
    "%f8%88%80%80%80",
];

/// A read of a name that cannot exist.
fn impossible_name(dice: &mut Dice) -> String {
    let name = if dice.below(4) == 0 {
        let unit = dice.pick(&["x", "%C3%A9", "a/", "%2e.", "+", "%F0%9F%92%A9", "%2525"]);
        unit.repeat(129 + dice.below(2000))
    } else {
        dice.some(&FILLING, 5) + dice.pick(&IMPOSSIBLE) + &dice.some(&FILLING, 5)
    };
    let collection = dice.pick(&["builders", "machines"]);
    let before = dice.pick(&["/", "/", "?name=", "/?name=", "?x=1&name="]);
    let after = dice.pick(&["", "/", "?", "?name=a", "&x"]);
    format!("/v1/{collection}{before}{name}{after}")
}

/// A path that leads nowhere, or a question that makes no sense.
fn impossible_path(dice: &mut Dice) -> String {
    let prefix = dice.pick(&[
        "/",
        "//",
        "/v1",
        "/v1/",
        "/v2/builders/",
        "/v1//builders/",
        "/V1/builders/",
        "/v1/builder/",
        "/v1/../v1/builders/",
        "/./v1/builders/",
        "//v1/builders/",
        "/v1/allocated",
        "/v1/allocated/all/all",
        "/v1/allocations/events/x",
        "/v1/allocations/none/",
        "/etc/passwd",
        "/v1%2Fbuilders/",
        "/%76%31/builder",
        "/v1/allocations%00",
        "*",
        "",
    ]);
    let junk = dice.some(&FILLING, 6) + &dice.some(&IMPOSSIBLE, 3);
    let number = dice.pick(&[
        "-1",
        "",
        "1e3",
        "0x1",
        "18446744073709551616",
        "99999999999999999999999",
        "1.0",
        "%31%00",
        "NaN",
        "one",
        "%ff",
        "+1",
    ]);
    match dice.below(6) {
        0 => format!("/v1/allocations?since={number}"),
        1 => format!("/v1/allocations?since=0&until={number}{}", dice.pick(&["", "&wait=5"])),
        2 => format!(
            "/v1/allocations?since=0&wait={}",
            dice.pick(&["-1", "", "NaN", "inf", "1s", "-0.001", "1e400", "%ff"])
        ),
        3 => format!("/v1/allocations/history?{}={number}", dice.pick(&["limit", "before"])),
        4 => format!("/v1/allocations/events?since={number}"),
        _ => format!("{prefix}{junk}"),
    }
}

/// Bytes of every kind in the place of a target.
fn noise(dice: &mut Dice) -> Vec<u8> {
    let mut target =
        dice.pick(&["/v1/builders/", "/v1/machines?name=", "/v1/allocations/", "/", "http://"]).as_bytes().to_vec();
    for _ in 0..=dice.below(40) {
        // Save for the line end, behind which there would be headers.
        let byte = u8::try_from(dice.below(256)).unwrap();
        target.push(if byte == b'\n' || byte == b'\r' { b'\t' } else { byte });
    }
    target.extend(b"\xff");
    target
}

fn answer(connection: &mut Connection, target: &[u8]) -> u16 {
    connection.send(&[b"GET ", target, b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"].concat());
    connection.receive("GET").status
}

#[test]
fn a_thousand_hostile_targets_are_refused() {
    let boxes = Boxes::start();
    boxes.write("PUT", "/v1/builders/a", &json!({"machines": ["box1"]}));
    let mut dice = Dice::seeded(20140604);
    let mut statuses = BTreeMap::<u16, u32>::new();
    for at in 0..1000 {
        let (target, expected) = match at % 5 {
            0..=2 => (impossible_name(&mut dice).into_bytes(), 404..=404),
            3 => (impossible_path(&mut dice).into_bytes(), 400..=499),
            _ => (noise(&mut dice), 400..=499),
        };
        let status = answer(&mut boxes.server.connect(), &target);
        let shown = String::from_utf8_lossy(&target);
        assert!(expected.contains(&status), "{status} for number {at}: {shown:?}");
        *statuses.entry(status).or_default() += 1;
    }
    assert!(statuses.keys().all(|status| [400, 404, 410].contains(status)), "{statuses:?}");
    assert_eq!(boxes.read("/v1/builders/a"), json!({"machines": ["box1"]}));
    assert!(!boxes.home.log().contains("panic"), "{}", boxes.home.log());
}

#[test]
fn senseless_headers_change_nothing() {
    let boxes = Boxes::start();
    boxes.write("PUT", "/v1/builders/a", &json!({"machines": ["box1"]}));
    let plain = boxes.server.get("/v1/builders/a");
    let many = (0..90).map(|number| format!("X-{number}: {number}")).collect::<Vec<_>>().join("\r\n");
    let headers = [
        "If-None-Match: ",
        "If-None-Match: \"",
        "If-None-Match: W/, ,,\"\", 'x', \"a-1\"x",
        "If-None-Match: \u{e9}\u{fffd}",
        "If-None-Match: \"0-0-0-0-gzip-gzip\"",
        "If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT",
        "If-Match: \"never\"",
        "If-Unmodified-Since: yesterday",
        "If-Range: \"x\"\r\nRange: bytes=0-0",
        "Range: bytes=5-1,-,x",
        "Accept: image/png;q=0",
        "Accept-Charset: \u{fffd}",
        "Accept-Encoding: ",
        "Accept-Encoding: ;;;q=,,q=1;gzip;;=",
        "Accept-Encoding: br;q=1, identity;q=0.0001, gzip;q=0",
        "Accept-Encoding: \u{e9}, gzip;q=NaN, zstd;q=-1",
        "Origin: https://evil.example",
        "Origin: null\r\nReferer: x\r\nSec-Fetch-Site: cross-site",
        "Authorization: Bearer none",
        "Authorization: \u{fffd}",
        "Cookie: a=b;;;=;",
        "Content-Type: \u{fffd}",
        "Upgrade: websocket\r\nSec-WebSocket-Key: x",
        "Forwarded: for=\"_x\";host=evil\r\nX-Forwarded-Host: evil\r\nX-HTTP-Method-Override: DELETE",
        "Last-Event-ID: \u{fffd}",
        "Keep-Alive: timeout=-1",
        "TE: trailers, deflate;q=0.5",
        many.as_str(),
    ];
    for header in headers {
        let got = boxes.server.request("GET", "/v1/builders/a", &[header], b"");
        assert_eq!((got.status, &got.body), (200, &plain.body), "{header}");
        for (target, status) in [("/v1/builders/b", 404), ("/v1/allocations", 200), ("/v1/allocated/all", 200)] {
            assert_eq!(boxes.server.request("GET", target, &[header], b"").status, status, "{header} {target}");
        }
    }
    for host in ["", "evil.example", "127.0.0.1:1", "a b<>", "[::1", "\u{e9}"] {
        let response = boxes.server.connect().request("GET", "/v1/builders/a", &[&format!("Host: {host}")]);
        assert_eq!((response.status, &response.body), (200, &plain.body), "{host}");
    }
    // A body belongs to no read, and does none any harm.
    for body in [b"{}".as_slice(), &[0xff; 9000]] {
        assert_eq!(boxes.server.request("GET", "/v1/builders/a", &[], body).body, plain.body);
    }
}

#[test]
fn collections_do_not_look_at_what_they_do_not_know() {
    let boxes = Boxes::start();
    for target in ["/v1/allocated/all", "/v1/builders", "/v1/machines", "/v1/allocations"] {
        for query in ["?", "?&&=&", "?x=%ff%00", "?limit=-1&before=x", "?%6eame", "?names=a", "?since%00=1"] {
            // A name without a value is the name that cannot exist.
            let is_name = query == "?%6eame" && target != "/v1/allocated/all" && target != "/v1/allocations";
            let expected = if is_name { 404 } else { 200 };
            assert_eq!(boxes.server.get(&format!("{target}{query}")).status, expected, "{target}{query}");
        }
    }
}
