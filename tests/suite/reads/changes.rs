//! What changed: deltas, long polls, event streams, and the list of generations.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::boxes::{Boxes, FARM};
use super::events::Events;
use super::model::State;

/// Generation 1: b1, b2. 2: b1 changed. 3: b2 gone, b3 new. 4: nothing.
fn four_generations(farm: &str) -> Boxes {
    let boxes = Boxes::with(farm, |start| start);
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {"b1": ["box1"], "b2": ["box2"]}, "reason": "first"}));
    boxes.write("PUT", "/v1/builders/b1", &json!({"machines": ["box3", "box1"]}));
    boxes.write("PATCH", "/v1/allocations", &json!({"set": {"b3": ["box4"]}, "unset": ["b2"], "reason": "é"}));
    boxes.write("PATCH", "/v1/allocations", &json!({}));
    boxes
}

fn delta(since: u64, generation: u64, set: Value, unset: Value) -> Value {
    json!({"generation": generation, "since": since, "set": set, "unset": unset})
}

fn all_deltas() -> Vec<(&'static str, Value)> {
    let (b1, b1_first) = (json!(["box1", "box3"]), json!(["box1"]));
    vec![
        ("since=0", delta(0, 4, json!({"b1": b1, "b3": ["box4"]}), json!([]))),
        ("since=1", delta(1, 4, json!({"b1": b1, "b3": ["box4"]}), json!(["b2"]))),
        ("since=2", delta(2, 4, json!({"b3": ["box4"]}), json!(["b2"]))),
        ("since=3", delta(3, 4, json!({}), json!([]))),
        ("since=4", delta(4, 4, json!({}), json!([]))),
        ("since=4&wait=0", delta(4, 4, json!({}), json!([]))),
        ("since=3&wait=60", delta(3, 4, json!({}), json!([]))),
        ("since=0&until=1", delta(0, 1, json!({"b1": b1_first, "b2": ["box2"]}), json!([]))),
        ("since=1&until=2", delta(1, 2, json!({"b1": b1}), json!([]))),
        ("since=2&until=3", delta(2, 3, json!({"b3": ["box4"]}), json!(["b2"]))),
        ("until=3&since=1", delta(1, 3, json!({"b1": b1, "b3": ["box4"]}), json!(["b2"]))),
        ("since=3&until=3", delta(3, 3, json!({}), json!([]))),
        // The way back.
        ("since=3&until=1", delta(3, 1, json!({"b1": b1_first, "b2": ["box2"]}), json!(["b3"]))),
        ("since=4&until=0", delta(4, 0, json!({}), json!(["b1", "b3"]))),
    ]
}

#[test]
fn a_delta_is_what_turns_one_generation_into_another() {
    let boxes = four_generations(FARM);
    let epoch = boxes.epoch();
    for (query, expected) in all_deltas() {
        for query in [query.to_owned(), format!("{query}&epoch={epoch}")] {
            let response = boxes.server.get(&format!("/v1/allocations?{query}"));
            assert_eq!((response.status, response.json()), (200, expected.clone()), "{query}");
            let generation = expected["generation"].to_string();
            assert_eq!(response.header("x-jacuzzi-generation"), Some(generation.as_str()), "{query}");
        }
    }
}

/// Each of these is refused with this status and code.
fn assert_refused(boxes: &Boxes, refused: &[(&str, u16, &str)]) {
    for (target, status, code) in refused {
        let response = boxes.server.get(target);
        assert_eq!((response.status, &response.json()["code"]), (*status, &json!(code)), "{target}: {response:?}");
        assert_eq!(response.header("content-type"), Some("application/problem+json"), "{target}");
        assert_eq!(boxes.server.request("HEAD", target, &[], b"").status, *status, "HEAD {target}");
    }
}

#[test]
fn what_cannot_be_compared_is_gone_or_wrong() {
    let boxes = four_generations(FARM);
    assert_refused(
        &boxes,
        &[
            ("/v1/allocations?since=5", 410, "generation_not_kept"),
            ("/v1/allocations?since=5&wait=1", 410, "generation_not_kept"),
            ("/v1/allocations?since=18446744073709551615", 410, "generation_not_kept"),
            ("/v1/allocations?since=0&until=5", 410, "generation_not_kept"),
            ("/v1/allocations?since=1&epoch=other", 410, "other_epoch"),
            ("/v1/allocations/events?since=1&epoch=other", 410, "other_epoch"),
            ("/v1/allocations?since=4&epoch=&wait=1", 410, "other_epoch"),
            ("/v1/allocations/events?since=5", 410, "generation_not_kept"),
            ("/v1/allocations/events?since=4&epoch=other", 410, "other_epoch"),
            ("/v1/allocations?since=", 400, "bad_parameter"),
            ("/v1/allocations?since=-1", 400, "bad_parameter"),
            ("/v1/allocations?since=+1", 400, "bad_parameter"),
            ("/v1/allocations?since=1.0", 400, "bad_parameter"),
            ("/v1/allocations?since=18446744073709551616", 400, "bad_parameter"),
            ("/v1/allocations?since=1&until=x", 400, "bad_parameter"),
            ("/v1/allocations?since=4&wait=-1", 400, "bad_parameter"),
            ("/v1/allocations?since=4&wait=", 400, "bad_parameter"),
            ("/v1/allocations?since=4&wait=NaN", 400, "bad_parameter"),
            ("/v1/allocations?since=4&wait=inf", 400, "bad_parameter"),
            ("/v1/allocations?since=4&wait=10s", 400, "bad_parameter"),
            ("/v1/allocations?wait=1", 400, "bad_parameter"),
            ("/v1/allocations?until=1", 400, "bad_parameter"),
            ("/v1/allocations/events?since=x", 400, "bad_parameter"),
            ("/v1/allocations/history?limit=0", 400, "bad_parameter"),
            ("/v1/allocations/history?limit=1001", 400, "bad_parameter"),
            ("/v1/allocations/history?limit=+1", 400, "bad_parameter"),
            ("/v1/allocations/history?limit=x", 400, "bad_parameter"),
            ("/v1/allocations/history?before=-1", 400, "bad_parameter"),
        ],
    );
    for (id, status) in [("5", 410), ("x", 400), ("", 400), ("-1", 400), ("+1", 400)] {
        let header = format!("Last-Event-ID: {id}");
        assert_eq!(boxes.server.request("GET", "/v1/allocations/events", &[&header], b"").status, status, "{header}");
    }
}

#[test]
fn what_is_too_old_is_gone() {
    let boxes = four_generations(&format!("{FARM}\nkeep_generations = 2\n"));
    assert_refused(
        &boxes,
        &[
            ("/v1/allocations?since=0", 410, "generation_not_kept"),
            ("/v1/allocations?since=2", 410, "generation_not_kept"),
            ("/v1/allocations?since=3&until=2", 410, "generation_not_kept"),
            ("/v1/allocations/events?since=2", 410, "generation_not_kept"),
        ],
    );
    let late = boxes.server.request("GET", "/v1/allocations/events", &["Last-Event-ID: 2"], b"");
    assert_eq!(late.status, 410, "{late:?}");
    assert_eq!(boxes.read("/v1/allocations?since=3"), delta(3, 4, json!({}), json!([])));
    assert_eq!(Events::open(&boxes.server, "/v1/allocations/events", &["Last-Event-ID: 3"]).next().0, 4);
    let history = boxes.read("/v1/allocations/history");
    let kept: Vec<_> = history["generations"].as_array().unwrap().iter().map(|entry| &entry["generation"]).collect();
    assert_eq!(kept, [4, 3]);
    assert_eq!(boxes.read("/v1/builders/b1"), json!({"machines": ["box1", "box3"]}));
}

#[test]
fn a_long_poll_ends_with_the_change() {
    let boxes = four_generations(FARM);
    // What is asked for beyond 60 s is fine, and means 60 s.
    for (generation, wait) in [(4, "25"), (5, "1e9")] {
        let mut polls: Vec<_> = (0..8).map(|_| boxes.server.connect()).collect();
        for poll in &mut polls {
            let target = format!("/v1/allocations?since={generation}&wait={wait}");
            poll.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        }
        let begun = Instant::now();
        let machines = json!([format!("box{generation}")]);
        boxes.write("PUT", "/v1/builders/b9", &json!({"machines": machines}));
        for poll in &mut polls {
            let response = poll.receive("GET");
            let expected = delta(generation, generation + 1, json!({"b9": machines}), json!([]));
            assert_eq!((response.status, response.json()), (200, expected));
            assert!(response.header("etag").is_some());
            // The connection is good for the next poll.
            assert_eq!(
                poll.request("GET", "/v1/builders/b9", &["Host: localhost"]).json(),
                json!({"machines": machines})
            );
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_long_poll_without_a_change_ends_in_time() {
    let boxes = four_generations(FARM);
    for (wait, at_least) in [("1", 1.0), ("0.2", 0.2), ("1&epoch=", 1.0)] {
        let wait = if wait.ends_with('=') { wait.to_owned() + &boxes.epoch() } else { wait.to_owned() };
        let begun = Instant::now();
        let response = boxes.server.get(&format!("/v1/allocations?since=4&wait={wait}"));
        let took = begun.elapsed().as_secs_f64();
        assert_eq!((response.status, response.body.len()), (204, 0));
        assert_eq!(response.header("x-jacuzzi-generation"), Some("4"));
        assert!(took >= at_least && took < at_least + 10.0, "{took} s for wait={wait}");
    }
}

#[test]
fn a_stop_ends_polls_and_streams() {
    let boxes = four_generations(FARM);
    let mut poll = boxes.server.connect();
    poll.send(b"GET /v1/allocations?since=4&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut events = Events::open(&boxes.server, "/v1/allocations/events", &["Last-Event-ID: 3"]);
    assert_eq!(events.next().0, 4);
    let begun = Instant::now();
    let ended = thread::spawn(move || boxes.server.stop());
    assert_eq!(poll.receive("GET").status, 204);
    assert!(events.is_at_end());
    assert!(ended.join().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
}

#[test]
fn an_event_is_the_delta_with_its_epoch() {
    let boxes = four_generations(FARM);
    let epoch = boxes.epoch();
    let with_epoch = |mut delta: Value| {
        delta["epoch"] = json!(epoch);
        delta
    };
    let expected: Vec<Value> = (0..4)
        .map(|since| with_epoch(boxes.read(&format!("/v1/allocations?since={since}&until={}", since + 1))))
        .collect();
    for (target, header, from) in [
        ("/v1/allocations/events", "Last-Event-ID: 0", 0),
        ("/v1/allocations/events/", "Last-Event-ID: 2", 2),
        ("/v1/allocations/events?since=1", "X: y", 1),
        // A browser that comes back sends the target it began with.
        ("/v1/allocations/events?since=0", "Last-Event-ID: 3", 3),
    ] {
        let mut events = Events::open(&boxes.server, target, &[header]);
        for (at, delta) in expected.iter().enumerate().skip(from) {
            assert_eq!(events.next(), (at as u64 + 1, delta.clone()), "{target} {header}");
        }
    }

    let mut streams: Vec<_> = (0..4).map(|_| Events::open(&boxes.server, "/v1/allocations/events", &[])).collect();
    for machine in ["box5", "box6"] {
        let generation = boxes.write("PUT", "/v1/builders/b5", &json!({"machines": [machine]}));
        let delta = with_epoch(delta(generation - 1, generation, json!({"b5": [machine]}), json!([])));
        for events in &mut streams {
            assert_eq!(events.next(), (generation, delta.clone()));
        }
    }
}

#[test]
fn a_restart_forgets_no_change() {
    let boxes = four_generations(FARM);
    let history = boxes.read("/v1/allocations/history");
    let mut before = Events::open(&boxes.server, "/v1/allocations/events", &["Last-Event-ID: 0"]);
    let events: Vec<_> = (0..4).map(|_| before.next()).collect();
    let Boxes { server, home, .. } = boxes;
    server.kill9();
    // From the journal alone, then from the snapshot that a stop leaves.
    for _ in 0..2 {
        let server = home.start();
        for (query, expected) in all_deltas() {
            assert_eq!(server.get(&format!("/v1/allocations?{query}")).json(), expected, "{query}");
        }
        assert_eq!(server.get("/v1/allocations/history").json(), history);
        let mut after = Events::open(&server, "/v1/allocations/events", &["Last-Event-ID: 0"]);
        events.iter().for_each(|event| assert_eq!(after.next(), *event));
        assert!(server.stop().success());
    }
}

#[test]
fn a_stream_leaves_no_generation_out() {
    let boxes = Boxes::with(FARM, |start| start.env("JACUZZI__LIMITS__WRITES_PER_SECOND", "100000"));
    let (give, events) = mpsc::channel();
    let mut stream = Events::open(&boxes.server, "/v1/allocations/events", &["Last-Event-ID: 0"]);
    let reader = thread::spawn(move || (0..400).for_each(|_| give.send(stream.next()).unwrap()));
    thread::scope(|scope| {
        for writer in 0..4 {
            let boxes = &boxes;
            scope.spawn(move || {
                for at in 0..100 {
                    let body = json!({"machines": [format!("box{}", (at + writer) % 10)]});
                    boxes.write("PUT", &format!("/v1/builders/b{writer}"), &body);
                }
            });
        }
    });
    reader.join().unwrap();
    let mut state = State::default();
    for (at, (id, delta)) in events.into_iter().enumerate() {
        assert_eq!((id, &delta["since"]), (at as u64 + 1, &json!(at)));
        state.apply(&delta);
    }
    assert_eq!(boxes.read("/v1/allocations"), state.blob(&boxes.epoch(), 400));
}

#[test]
fn the_history_says_who_changed_how_much_and_why() {
    let boxes = four_generations(FARM);
    let history = boxes.read("/v1/allocations/history");
    let mut generations = history["generations"].as_array().unwrap().clone();
    for entry in &mut generations {
        let time = entry.as_object_mut().unwrap().remove("time").unwrap();
        assert!(time.as_f64().unwrap() > 1.7e9, "{time}");
    }
    let entry = |generation: u64, reason: Option<&str>, added: u64, removed: u64| json!({"generation": generation, "author": "operator", "reason": reason, "added": added, "removed": removed});
    let expected =
        [entry(4, None, 0, 0), entry(3, Some("é"), 1, 1), entry(2, None, 1, 0), entry(1, Some("first"), 2, 0)];
    assert_eq!(generations, expected);
    assert_eq!(history["next_before"], Value::Null);
}

#[test]
fn the_history_is_paged_to_its_end() {
    let boxes = four_generations(FARM);
    let whole = boxes.read("/v1/allocations/history")["generations"].as_array().unwrap().clone();
    for limit in 1..=5 {
        let (mut collected, mut before) = (Vec::new(), String::new());
        loop {
            let page = boxes.read(&format!("/v1/allocations/history?limit={limit}{before}"));
            let entries = page["generations"].as_array().unwrap();
            assert!(entries.len() <= limit);
            collected.extend(entries.iter().cloned());
            let Some(next) = page["next_before"].as_u64() else { break };
            before = format!("&before={next}");
        }
        assert_eq!(collected, whole, "limit={limit}");
    }
    assert_eq!(boxes.read("/v1/allocations/history?before=3&limit=1")["generations"], json!([whole[2]]));
    assert_eq!(boxes.read("/v1/allocations/history?before=99")["generations"], json!(whole));
    for nothing in ["before=1", "before=0"] {
        let page = boxes.read(&format!("/v1/allocations/history?{nothing}"));
        assert_eq!(page, json!({"generations": [], "next_before": null}), "{nothing}");
    }
}
