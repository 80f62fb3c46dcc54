//! The farm file, reloaded by call and by signal: what changes is shown, and all of it comes into force or nothing.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::desk::{FARM, desk};
use crate::suite::reads::boxes::Boxes;

fn farm_lines(boxes: &Boxes) -> Vec<Value> {
    let audit = boxes.look("/v1/audit?limit=1000");
    let lines = audit["entries"].as_array().unwrap().iter();
    lines.filter(|line| line["action"] == "farm.define").map(|line| line["author"].clone()).collect()
}

#[test]
fn a_reload_shows_what_changes_and_does_it_unless_it_is_a_dry_run() {
    let boxes = desk();
    let same = boxes.ask("POST", "/v1/farm/reload", &[], "").json();
    assert_eq!(same, json!({"changed": false, "changes": [], "lost": []}));
    assert_eq!(farm_lines(&boxes), ["farm file"], "what changes nothing is not an event");

    boxes.home.write_farm(&FARM.replace("mac{0..9}", "mac{1..12}").replace("machine = 2", "machine = 3"));
    let before = boxes.known();
    let dry = boxes.ask("POST", "/v1/farm/reload?dry_run=true", &[], "");
    assert_eq!((dry.status, boxes.known()), (200, before));
    let reloaded = boxes.ask("POST", "/v1/farm/reload", &[], "");
    assert_eq!((reloaded.status, reloaded.json()), (200, dry.json()));
    let report = reloaded.json();
    assert_eq!((&report["changed"], &report["lost"]), (&json!(true), &json!(["mac0"])));
    let limit = json!({"what": "allocations.max_builders_per_machine", "was": "2", "becomes": "3"});
    assert!(report["changes"].as_array().unwrap().contains(&limit), "{report}");
    assert_eq!(farm_lines(&boxes), ["operator", "farm file"]);
    assert_eq!(boxes.read("/v1/allocations")["generation"], json!(1), "allocations stay");
    boxes.write("PUT", "/v1/builders/Linux%20central%20c", &json!({"machines": ["lin00"]}));
    assert_eq!(boxes.server.get("/v1/workers/mac0").status, 404);
    assert_eq!(boxes.server.get("/v1/workers/mac12").status, 200);
}

#[test]
fn a_bad_file_changes_nothing_and_all_its_faults_are_told() {
    let boxes = desk();
    let bad =
        FARM.replace("'^Mac '", "'^(Mac'").replace("machine = 2", "machine = 0").replace("[farm]", "[farm]\nnam = 1");
    boxes.home.write_farm(&bad.replace("mac{0..9}", "mac{0..12}"));
    for target in ["/v1/farm/reload", "/v1/farm/reload?dry_run=true"] {
        let problem = boxes.refused("POST", target, "", (422, "bad_farm_file"));
        assert!(problem["problems"].as_array().is_some_and(|all| !all.is_empty()), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("nam"), "{problem}");
    }
    boxes.home.write_farm("not toml [");
    boxes.refused("POST", "/v1/farm/reload", "", (422, "bad_farm_file"));
    std::fs::remove_file(boxes.home.farm_file()).unwrap();
    boxes.refused("POST", "/v1/farm/reload", "", (422, "bad_farm_file"));
    assert_eq!(boxes.server.get("/v1/workers/mac12").status, 404);
}

/// Asks until it is so.
fn until(boxes: &Boxes, what: &str, is_so: impl Fn(&Boxes) -> bool) {
    let begun = Instant::now();
    while !is_so(boxes) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {}", boxes.home.log());
    }
}

#[test]
fn a_signal_reloads_too_and_the_log_says_what_came_of_it() {
    let boxes = desk();
    boxes.home.write_farm(&FARM.replace("mac{0..9}", "mac{1..12}"));
    boxes.server.signal("HUP");
    until(&boxes, "reloaded", |boxes| boxes.server.get("/v1/workers/mac12").status == 200);
    assert_eq!(farm_lines(&boxes), ["SIGHUP", "farm file"]);
    until(&boxes, "said", |boxes| boxes.home.log().contains("\"mac0\" is allocated, but no worker"));

    let before = boxes.known();
    boxes.home.write_farm("[farm]\nnam = \"x\"\n");
    boxes.server.signal("HUP");
    until(&boxes, "refused", |boxes| boxes.home.log().contains("was not reloaded"));
    assert_eq!(boxes.known(), before);
}
