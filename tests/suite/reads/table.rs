//! Every row of the table of reads, with exactly its body.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::boxes::{Boxes, FARM};
use super::model::State;
use crate::suite::server::Home;
use crate::suite::wire::Response;

/// Every read of one generation says what the model says, and HEAD says how long that is.
fn assert_reads(boxes: &Boxes, state: &State, generation: u64) {
    let machines = state.machines();
    let names = |names: Vec<&String>| json!(names);
    let mut rows: Vec<(String, Value)> = vec![
        ("/v1/builders".into(), json!({"builders": names(state.builders.keys().collect())})),
        ("/v1/machines".into(), json!({"machines": names(machines.keys().collect())})),
        ("/v1/allocated/all".into(), json!({"machines": names(machines.keys().collect())})),
        ("/v1/allocations".into(), state.blob(&boxes.epoch(), generation)),
    ];
    rows.extend(state.builders.iter().map(|(name, list)| (path("builders", name), json!({"machines": list}))));
    rows.extend(machines.iter().map(|(name, list)| (path("machines", name), json!({"builders": list}))));
    for (target, body) in rows {
        for target in [target.clone(), format!("{target}/")] {
            let got = boxes.server.get(&target);
            assert_eq!((got.status, got.json()), (200, body.clone()), "{target}");
            assert_eq!(got.header("content-type"), Some("application/json"), "{target}");
            assert_eq!(got.header("x-jacuzzi-generation"), Some(generation.to_string().as_str()), "{target}");
            let head = boxes.server.request("HEAD", &target, &[], b"");
            assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
            assert_eq!(undated(&head), undated(&got), "{target}");
        }
    }
}

/// The headers that have nothing to do with when.
fn undated(response: &Response) -> BTreeSet<&(String, String)> {
    response.headers.iter().filter(|(name, _)| name != "date").collect()
}

fn path(collection: &str, name: &str) -> String {
    let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("/v1/{collection}/{encoded}")
}

fn assert_missing(boxes: &Boxes, targets: &[&str]) {
    for target in targets {
        for method in ["GET", "HEAD"] {
            let response = boxes.server.request(method, target, &[], b"");
            assert_eq!(response.status, 404, "{method} {target}: {response:?}");
            assert_eq!(response.header("content-type"), Some("application/problem+json"), "{target}");
            if method == "GET" {
                let problem = response.json();
                assert_eq!((&problem["status"], &problem["code"]), (&json!(404), &json!("not_allocated")), "{target}");
            }
        }
    }
}

#[test]
fn the_seven_requests_of_the_old_blueprints_test() {
    let boxes = Boxes::start();
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {"b1": ["box1", "box2"], "b2": ["box2", "box3"]}}));
    for (target, body) in [
        ("/v1/allocated/all", json!({"machines": ["box1", "box2", "box3"]})),
        ("/v1/machines", json!({"machines": ["box1", "box2", "box3"]})),
        ("/v1/machines/box1", json!({"builders": ["b1"]})),
        ("/v1/machines/box2", json!({"builders": ["b1", "b2"]})),
        ("/v1/builders", json!({"builders": ["b1", "b2"]})),
        ("/v1/builders/b1", json!({"machines": ["box1", "box2"]})),
        ("/v1/builders/b2", json!({"machines": ["box2", "box3"]})),
    ] {
        assert_eq!(boxes.read(target), body, "{target}");
    }
}

#[test]
fn every_view_is_of_every_generation() {
    let boxes = Boxes::start();
    assert_reads(&boxes, &State::default(), 0);
    assert!(!boxes.epoch().is_empty());

    // In order; in UTF-16 the last two would be the other way round.
    let names = ["B", "a", "b", "e\u{301}", "é", "\u{fffd}", "𝒳"];
    let mut state = State::default();
    for (at, name) in names.iter().enumerate() {
        let list: Vec<_> = [(at * 3) % 10, (at * 7 + 1) % 10, 9].iter().map(|number| format!("box{number}")).collect();
        let list = if at % 2 == 0 { list } else { vec![list[0].clone()] };
        let list: Vec<_> = BTreeSet::from_iter(list).into_iter().rev().collect();
        let delta = json!({"set": {*name: list.clone()}, "unset": []});
        let generation = boxes.write("PATCH", "/v1/allocations", &delta);
        state.replay(&delta);
        assert_eq!(generation, at as u64 + 1);
        assert_reads(&boxes, &state, generation);
    }

    boxes.write("DELETE", "/v1/builders/b", &Value::Null);
    state.builders.remove("b");
    boxes.write("PUT", "/v1/builders/%C3%A9", &json!({"machines": ["box0"]}));
    state.replay(&json!({"set": {"é": ["box0"]}}));
    assert_reads(&boxes, &state, 9);

    boxes.write("PUT", "/v1/allocations", &json!({"builders": {}}));
    assert_reads(&boxes, &State::default(), 10);
}

#[test]
fn what_has_no_allocation_is_not_found() {
    let boxes = Boxes::start();
    let never = ["/v1/builders/known", "/v1/builders/unknown", "/v1/machines/box3", "/v1/machines/none"];
    assert_missing(&boxes, &never);
    boxes.write("PUT", "/v1/allocations", &json!({"builders": {"b1": ["box1"], "b2": ["box1", "box2"]}}));
    assert_missing(&boxes, &never);
    assert_missing(
        &boxes,
        &["/v1/builders/box1", "/v1/machines/b1", "/v1/builders/B1", "/v1/builders/b", "/v1/builders/b1%20"],
    );
    boxes.write("DELETE", "/v1/builders/b2", &Value::Null);
    assert_missing(&boxes, &["/v1/builders/b2", "/v1/machines/box2"]);
    assert_eq!(boxes.read("/v1/machines/box1"), json!({"builders": ["b1"]}));
    boxes.write("PATCH", "/v1/allocations", &json!({"unset": ["b1"]}));
    assert_missing(&boxes, &["/v1/builders/b1", "/v1/machines/box1"]);
    assert_eq!(boxes.read("/v1/builders"), json!({"builders": []}));
}

#[test]
fn an_empty_list_is_never_published() {
    let boxes = Boxes::start();
    boxes.write("PUT", "/v1/builders/b1", &json!({"machines": ["box1"]}));
    for (method, target, body) in [
        ("PUT", "/v1/builders/b1", r#"{"machines":[]}"#),
        ("PUT", "/v1/builders/b2", r#"{"machines":[]}"#),
        ("PATCH", "/v1/allocations", r#"{"set":{"b1":[]}}"#),
        ("PUT", "/v1/allocations", r#"{"builders":{"b1":["box1"],"b2":[]}}"#),
    ] {
        assert_eq!(boxes.try_write(method, target, body).status, 422, "{body}");
    }
    assert_reads(&boxes, &State::of([("b1".into(), vec!["box1".into()])]), 1);
}

#[test]
fn the_first_line_of_an_import_is_generation_1() {
    let home = Home::new(FARM);
    let history = concat!(
        "{\"time\":1400000000,\"set\":{\"b1\":[\"box2\",\"box1\"]},\"unset\":[]}\n",
        "{\"time\":1400000060.5,\"set\":{\"b2\":[\"box2\"],\"b1\":[]},\"unset\":[],\"commit\":\"ignored\"}\n",
        "{\"time\":\"2014-05-13T16:55:20Z\",\"set\":{},\"unset\":[\"b1\"]}\n",
    );
    let file = home.farm_file().with_file_name("history.jsonl");
    fs::write(&file, history).unwrap();
    let server = home.serve().arg("--import").arg(&file).start();
    assert_eq!(server.get("/v1/allocations?since=0&until=1").json()["set"], json!({"b1": ["box1", "box2"]}));
    assert_eq!(server.get("/v1/allocations?since=1&until=2").json()["set"], json!({"b2": ["box2"]}));
    let blob = server.get("/v1/allocations").json();
    assert_eq!((&blob["generation"], &blob["builders"]), (&json!(3), &json!({"b2": ["box2"]})));
    let history = server.get("/v1/allocations/history").json();
    let times: Vec<_> = history["generations"].as_array().unwrap().iter().map(|entry| &entry["time"]).collect();
    assert_eq!(times, [&json!(1_400_000_120), &json!(1_400_000_060.5), &json!(1_400_000_000)]);

    // Once only: the folder is not empty any more.
    server.kill9();
    let server = home.serve().arg("--import").arg(&file).start();
    assert_eq!(server.get("/v1/allocations").json(), blob);
    assert!(home.log().contains("not importing"), "{}", home.log());
}
