//! Workers by API: made, changed, taken out of work and away, beside those of the farm file.

use serde_json::{Value, json};

use super::desk::{FARM, desk};
use crate::suite::reads::boxes::Boxes;

fn put(boxes: &Boxes, name: &str, body: &Value) -> (u16, Value) {
    let response = boxes.ask("PUT", &format!("/v1/workers/{name}"), &[], &body.to_string());
    (response.status, response.json())
}

fn page(boxes: &Boxes, query: &str) -> (Vec<String>, Value) {
    let page = boxes.read(&format!("/v1/workers?{query}"));
    let names = page["workers"].as_array().unwrap().iter();
    (names.map(|worker| worker["name"].as_str().unwrap().to_owned()).collect(), page["next_after"].clone())
}

#[test]
fn a_worker_is_made_changed_and_taken_away() {
    let boxes = desk();
    let body = json!({"pool": "mac", "class": "spot", "attributes": {"ram": "big"}, "reason": "on loan"});
    let shown = json!({"name": "loan", "pool": "mac", "class": "spot", "attributes": {"ram": "big"}, "state": "active",
        "from": "api", "builders": []});
    assert_eq!(put(&boxes, "loan", &body), (201, shown.clone()));
    assert_eq!(boxes.read("/v1/workers/loan/"), shown);
    assert_eq!(boxes.read("/v1/workers?name=loan"), shown);
    let (status, changed) = put(&boxes, "loan", &json!({"pool": "linux"}));
    assert_eq!((status, &changed["pool"], &changed["class"]), (200, &json!("linux"), &json!("inhouse")));
    assert_eq!(changed["attributes"], json!({}), "{changed}");

    // It may have builders, as any other.
    boxes.write("PUT", "/v1/builders/Linux%20x", &json!({"machines": ["loan", "lin09"]}));
    assert_eq!(boxes.read("/v1/workers/loan")["builders"], json!(["Linux x"]));
    assert_eq!(boxes.read("/v1/workers/lin09")["from"], json!("file"));
    assert_eq!(put(&boxes, "lin09", &json!({"pool": "linux"})).0, 409);
    boxes.refused("DELETE", "/v1/workers/lin09", "", (409, "in_farm_file"));
    let unknown = boxes.refused("PUT", "/v1/workers/other", r#"{"pool":"windows"}"#, (422, "no_such_pool"));
    assert!(unknown["detail"].as_str().unwrap().contains("linux, mac"), "{unknown}");

    let gone = boxes.ask("DELETE", "/v1/workers/loan?reason=given%20back", &[], "");
    assert_eq!((gone.status, gone.json()), (200, json!({"name": "loan"})));
    for (method, target) in
        [("GET", "/v1/workers/loan"), ("DELETE", "/v1/workers/loan"), ("POST", "/v1/workers/loan/drain")]
    {
        boxes.refused(method, target, "", (404, "no_such_worker"));
    }
    let fault = json!([{"builder": "Linux x", "rule": "unknown_machine", "machine": "loan"}]);
    boxes.broken("PUT", "/v1/builders/Linux%20x", &json!({"machines": ["loan"]}), &fault);
    let audit = boxes.look("/v1/audit?limit=4");
    let lines: Vec<_> = audit["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["action"].clone(), line["reason"].clone()))
        .collect();
    assert_eq!(lines[0], (json!("worker.remove"), json!("given back")));
    assert_eq!(lines[3], (json!("worker.put"), json!("on loan")));
}

#[test]
fn a_worker_is_taken_out_of_work_and_back() {
    let boxes = desk();
    for (action, state) in [("drain", "draining"), ("quarantine", "quarantined"), ("drain", "draining")] {
        let response = boxes.ask("POST", &format!("/v1/workers/lin00/{action}"), &[], r#"{"reason":"disk"}"#);
        let worker = response.json();
        assert_eq!((response.status, &worker["state"], &worker["reason"]), (200, &json!(state), &json!("disk")));
        assert_eq!((&worker["author"], worker["since"].as_f64().unwrap() > 1.7e9), (&json!("operator"), true));
        assert_eq!(worker["builders"], json!(["Linux central a", "Linux central b"]));
        assert_eq!(boxes.read("/v1/workers/lin00"), worker);
        assert_eq!(page(&boxes, &format!("state={state}")).0, ["lin00"]);
        let line = &boxes.look("/v1/audit?limit=1")["entries"][0];
        assert_eq!((&line["action"], &line["reason"]), (&json!(format!("worker.{action}")), &json!("disk")));
    }
    // Who runs what is another question: its allocations stay.
    assert_eq!(boxes.read("/v1/machines/lin00")["builders"], json!(["Linux central a", "Linux central b"]));
    let released = boxes.ask("POST", "/v1/workers/lin00/release", &[], "").json();
    assert_eq!((&released["state"], released.get("reason"), released.get("author")), (&json!("active"), None, None));
    boxes.refused("POST", "/v1/workers/lin00/sell", "", (405, "method_not_allowed"));
    boxes.refused("POST", "/v1/workers/lin00", "", (405, "method_not_allowed"));
    boxes.refused("POST", "/v1/workers/none/release", "", (404, "no_such_worker"));
}

#[test]
fn workers_are_listed_page_by_page_and_by_pool_and_state() {
    let boxes = desk();
    put(&boxes, "aaa", &json!({"pool": "mac"}));
    put(&boxes, "m%20z", &json!({"pool": "linux"}));
    boxes.ask("POST", "/v1/workers/lin03/drain", &[], "");
    boxes.ask("POST", "/v1/workers/mac3/drain", &[], "");
    let mut all: Vec<String> =
        (0..50).map(|at| format!("lin{at:02}")).chain((0..10).map(|at| format!("mac{at}"))).collect();
    all.extend(["aaa".to_owned(), "m z".to_owned()]);
    all.sort();
    assert_eq!(page(&boxes, ""), (all.clone(), Value::Null));
    for limit in [1, 7, 61, 62, 1000] {
        let (mut collected, mut after) = (Vec::new(), String::new());
        loop {
            let (names, next) = page(&boxes, &format!("limit={limit}{after}"));
            assert!(names.len() <= limit);
            collected.extend(names);
            let Some(next) = next.as_str() else { break };
            after = format!("&after={}", super::desk::component(next));
        }
        assert_eq!(collected, all, "limit={limit}");
    }
    assert_eq!(page(&boxes, "pool=mac&limit=3"), (["aaa", "mac0", "mac1"].map(str::to_owned).into(), json!("mac1")));
    assert_eq!(page(&boxes, "state=draining").0, ["lin03", "mac3"]);
    assert_eq!(page(&boxes, "state=draining&pool=mac"), (vec!["mac3".to_owned()], Value::Null));
    assert_eq!(page(&boxes, "pool=none"), (vec![], Value::Null));
    assert_eq!(page(&boxes, "after=zzz"), (vec![], Value::Null));
    assert_eq!(page(&boxes, "state=active").0.len(), 60);
    for query in ["limit=0", "limit=1001", "limit=x", "limit=+1", "state=", "state=Active", "state=gone"] {
        boxes.refused("GET", &format!("/v1/workers?{query}"), "", (400, "bad_parameter"));
    }
}

#[test]
fn workers_of_the_api_stay_and_the_file_wins() {
    let boxes = desk();
    put(&boxes, "loan", &json!({"pool": "mac", "attributes": {"a": "b"}}));
    put(&boxes, "mac10", &json!({"pool": "mac", "class": "spot"}));
    boxes.ask("POST", "/v1/workers/loan/quarantine", &[], r#"{"reason":"odd"}"#);
    boxes.write("PUT", "/v1/builders/Mac%20x", &json!({"machines": ["loan"]}));
    let loan = boxes.read("/v1/workers/loan");
    let Boxes { mut server, home, token } = boxes;
    for kill in [true, false] {
        if kill {
            server.kill9();
        } else {
            assert!(server.stop().success());
        }
        server = home.start();
        assert_eq!(server.get("/v1/workers/loan").json(), loan);
    }
    let boxes = Boxes { server, home, token };
    boxes.home.write_farm(&FARM.replace("mac{0..9}", "mac{0..10}"));
    assert_eq!(boxes.ask("POST", "/v1/farm/reload", &[], "").status, 200);
    assert_eq!(boxes.read("/v1/workers/loan"), loan);
    let won = boxes.read("/v1/workers/mac10");
    assert_eq!((&won["from"], &won["class"]), (&json!("file"), &json!("inhouse")));
    boxes.refused("DELETE", "/v1/workers/mac10", "", (409, "in_farm_file"));

    // The pool they are in cannot go under them.
    let (before, after) = FARM.split_once("[[pools]]\nname = \"mac\"").unwrap();
    let without = format!("{before}{}", &after[after.find("[[builders]]").unwrap()..]);
    let without = without.replace("[[builders]]\nmatch = '^Mac '\npool = \"mac\"\n", "");
    boxes.home.write_farm(&without);
    for target in ["/v1/farm/reload", "/v1/farm/reload?dry_run=true"] {
        let problem = boxes.refused("POST", target, "", (422, "bad_farm_definition"));
        assert!(problem["detail"].as_str().unwrap().contains("loan"), "{problem}");
    }
    assert_eq!(boxes.ask("DELETE", "/v1/workers/loan", &[], "").status, 200);
    let reloaded = boxes.ask("POST", "/v1/farm/reload", &[], "").json();
    assert_eq!(reloaded["lost"], json!(["mac0"]), "{reloaded}");
}
