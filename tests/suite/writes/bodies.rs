//! A thousand random bad bodies: each gets its 4xx, none becomes a generation, and the server stays up and quick.

use std::time::{Duration, Instant};

use serde_json::json;

use super::desk::{bearer, desk};

const BODIES: u64 = 1000;

/// The longest that any of them may take.
const QUICK: Duration = Duration::from_secs(2);

/// Numbers that look random and are the same in every run (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A request that must be refused with this status.
type Bad = (&'static str, &'static str, Vec<u8>, u16);

const TARGETS: [(&str, &str); 6] = [
    ("PUT", "/v1/allocations"),
    ("PATCH", "/v1/allocations"),
    ("PATCH", "/v1/allocations?force=true"),
    ("PUT", "/v1/builders/Mac%20a"),
    ("POST", "/v1/allocations/rollback"),
    ("PUT", "/v1/workers/new"),
];

/// A body that would be accepted by the target of this number.
fn good(target: usize) -> String {
    match target {
        0 => r#"{"builders":{"Linux central a":["lin00","lin01"],"Mac a":["mac1"]},"reason":"why"}"#,
        1 | 2 => r#"{"set":{"Linux central a":["lin00","lin01"]},"unset":["Mac central"],"reason":"why"}"#,
        3 => r#"{"machines":["mac1","mac2"],"reason":"why"}"#,
        4 => r#"{"generation":0,"reason":"why"}"#,
        _ => r#"{"pool":"mac","attributes":{"ram":"big"},"class":"spot"}"#,
    }
    .to_owned()
}

/// Something that is not JSON, or not of the right form, for any target.
fn malformed(dice: &mut Dice) -> Bad {
    let target = dice.below(TARGETS.len());
    let good = good(target);
    let (method, path) = TARGETS[target];
    let body = match dice.below(9) {
        0 => {
            let mut noise: Vec<u8> = (0..1 + dice.below(500)).map(|_| dice.next() as u8).collect();
            noise[0] = 0xff;
            noise
        }
        1 => good.as_bytes()[..dice.below(good.len())].to_vec(),
        2 => {
            let structure: Vec<usize> =
                good.match_indices(['{', '}', '[', ']', ':', ',', '"']).map(|(at, _)| at).collect();
            let mut text = good;
            text.remove(dice.pick(&structure));
            text.into_bytes()
        }
        3 => {
            let open = dice.pick(&["[", "{\"a\":", "{\"builders\":", "{\"set\":{\"Mac a\":[", "[[["]);
            open.repeat(1 + dice.below(20_000)).into_bytes()
        }
        4 => [good.as_bytes(), dice.pick(&["x", "{}", "\0", "]", ",", "\u{feff}"]).as_bytes()].concat(),
        5 => dice.pick(&["null", "true", "0", "-1e999", "\"x\"", "[]", "[{}]", "NaN", "'x'", "\u{feff}{}", ""]).into(),
        6 => format!("{},\"key{}\":{}}}", &good[..good.len() - 1], dice.next(), dice.pick(&["1", "{}", "null"])).into(),
        7 => {
            let member = good[1..].split_once(',').unwrap_or((&good[1..good.len() - 1], "")).0;
            format!("{{{member},{}", &good[1..]).into_bytes()
        }
        _ => {
            let mut bytes = good.into_bytes();
            let quotes = (0..bytes.len()).filter(|at| bytes[*at] == b'"');
            // Every other one opens a text.
            let opening: Vec<usize> = quotes.step_by(2).collect();
            let inside = dice.pick(&opening) + 1;
            let odd: &[u8] = dice.pick(&[b"\xff", b"\xc3", b"\xed\xa0\x80", b"\n", b"\0", b"\x1f", b"\\x", b"\\ud800"]);
            bytes.splice(inside..inside, odd.iter().copied());
            bytes
        }
    };
    (method, path, body, 400)
}

/// Good JSON of the wrong types.
fn mistyped(dice: &mut Dice) -> Bad {
    let value = dice.pick(&["1", "-0.5", "true", "\"mac1\"", "[1]", "[[]]", "[null]", "{\"a\":\"b\"}", "[{\"a\":[]}]"]);
    let (target, body) = match dice.below(6) {
        0 => (0, format!("{{\"builders\":{}}}", dice.pick(&["1", "null", "[]", "\"x\"", "[[\"Mac a\",[\"mac1\"]]]"]))),
        1 => (0, format!("{{\"builders\":{{\"Mac a\":{value}}}}}")),
        2 => (1, format!("{{\"set\":{{\"Mac a\":{value}}}}}")),
        3 => (2, format!("{{\"unset\":{}}}", dice.pick(&["1", "null", "{}", "\"Mac a\"", "[1]", "[[\"Mac a\"]]"]))),
        4 => (3, format!("{{\"machines\":{value}}}")),
        _ => (4, format!("{{\"generation\":{}}}", dice.pick(&["-1", "0.5", "1e0", "\"0\"", "null", "[]", "1e400"]))),
    };
    (TARGETS[target].0, TARGETS[target].1, body.into_bytes(), 400)
}

/// The right form, given twice or beyond its limits.
fn doubled(dice: &mut Dice) -> Bad {
    let at = dice.below(10);
    let body = match dice.below(4) {
        0 => json!({"set": {"Mac a": [format!("mac{at}"), "mac1", format!("mac{at}")]}}),
        1 => json!({"set": {"Mac a": ["mac1"]}, "unset": ["Mac b", "Mac a"]}),
        2 => json!({"unset": [format!("x{at}"), format!("x{at}")]}),
        _ => json!({"reason": "x".repeat(1001 + dice.below(5000))}),
    };
    ("PATCH", "/v1/allocations", body.to_string().into_bytes(), 400)
}

/// The right form and broken rules.
fn against_the_rules(dice: &mut Dice) -> Bad {
    let control = char::from_u32(dice.pick(&[0, 1, 9, 10, 13, 0x1f, 0x7f, 0x80, 0x9f])).unwrap();
    let number = dice.next();
    let set = match dice.below(9) {
        0 => json!({"Mac a": []}),
        1 => json!({"Mac a": ["mac1", format!("m{number}")]}),
        2 => json!({format!("Mac {control}"): ["mac1"]}),
        3 => json!({"Mac a": [format!("mac1{control}")]}),
        4 => json!({"": ["mac1"]}),
        5 => json!({format!("Mac {}", "é".repeat(125 + dice.below(5000))): ["mac1"]}),
        6 => json!({format!("{number}"): ["mac1"]}),
        7 => json!({"Mac a": ["lin04"], "Linux x": ["mac2"]}),
        _ => (0..1 + dice.below(3000))
            .map(|at| (format!("b{at}"), json!([format!("m{number}")])))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    };
    let mut all = super::desk::first();
    if dice.below(2) == 0 {
        return ("PATCH", "/v1/allocations?force=true", json!({"set": set}).to_string().into_bytes(), 422);
    }
    all.as_object_mut().unwrap().extend(set.as_object().unwrap().clone());
    ("PUT", "/v1/allocations", json!({"builders": all}).to_string().into_bytes(), 422)
}

#[test]
fn a_thousand_random_bad_bodies_change_nothing() {
    let boxes = desk();
    let before = boxes.known();
    let token = bearer(&boxes.token);
    let mut dice = Dice(20_140_604);
    let mut connection = boxes.server.connect();
    for at in 0..BODIES {
        let (method, target, body, status) = match dice.below(20) {
            0..10 => malformed(&mut dice),
            10..14 => mistyped(&mut dice),
            14..16 => doubled(&mut dice),
            _ => against_the_rules(&mut dice),
        };
        let begun = Instant::now();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\n{token}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        connection.send(&[head.as_bytes(), &body].concat());
        let response = connection.receive(method);
        let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        assert!(begun.elapsed() < QUICK, "{:?} for body {at}: {method} {target} {shown}", begun.elapsed());
        assert_eq!(response.status, status, "body {at}: {method} {target} {shown}: {response:?}");
        assert_eq!(response.header("content-type"), Some("application/problem+json"), "body {at}");
        assert!(response.json()["code"].is_string(), "body {at}");
        if at % 100 == 99 {
            assert_eq!(boxes.known(), before, "after body {at}");
        }
    }
    boxes.write("PATCH", "/v1/allocations", &json!({"unset": ["Mac central"]}));
}
