//! The list of jobs: in the order in which they would start, page by page while jobs come and go.

use serde_json::{Value, json};

use super::floor::{FARM, floor, floor_with, id};
use crate::suite::reads::boxes::Boxes;

fn page(floor: &Boxes, query: &str) -> (Vec<String>, Option<String>) {
    let page = floor.read(&format!("/v1/jobs?{query}"));
    let jobs = page["jobs"].as_array().unwrap().iter().map(|job| id(job).to_owned()).collect();
    (jobs, page["next_after"].as_str().map(str::to_owned))
}

fn jobs(floor: &Boxes) {
    floor.submit(&json!([
        {"builder": "linux a", "priority": 5, "submitted_at": 100},
        {"builder": "linux a", "priority": 4, "submitted_at": 300},
        {"builder": "linux b", "priority": 4, "submitted_at": 200.000_001},
        {"builder": "mac a", "priority": 99, "submitted_at": 400},
        {"builder": "linux b", "priority": 4, "submitted_at": 200},
        {"builder": "linux b", "class": "idle", "priority": 0, "submitted_at": 0},
    ]));
}

#[test]
fn jobs_are_in_the_order_of_class_priority_and_age() {
    let floor = floor();
    jobs(&floor);
    assert_eq!(page(&floor, ""), (["4", "5", "3", "2", "1", "6"].map(str::to_owned).into(), None));
    assert_eq!(page(&floor, "builder=linux%20b").0, ["5", "3", "6"]);
    assert_eq!(page(&floor, "pool=mac").0, ["4"]);
    assert_eq!(page(&floor, "pool=linux&builder=linux%20a").0, ["2", "1"]);
    assert_eq!(page(&floor, "pool=none").0, [""; 0]);
    assert_eq!(page(&floor, "builder=mac").0, [""; 0]);
    let claims = floor.claim(&json!({"workers": ["w1", "w2"]}));
    assert_eq!(claims.len(), 2);
    assert_eq!(page(&floor, "state=running").0, ["5", "3"]);
    assert_eq!(page(&floor, "state=pending").0, ["4", "2", "1", "6"]);
    assert_eq!(page(&floor, "state=pending&pool=linux").0, ["2", "1", "6"]);
}

#[test]
fn waiting_outweighs_priority_where_the_farm_says_so() {
    let aged = FARM.replace("default_priority = 5", "default_priority = 5\nageing_seconds_per_priority = 60");
    let floor = floor_with(&aged, |start| start);
    jobs(&floor);
    assert_eq!(page(&floor, "").0, ["4", "1", "5", "3", "2", "6"]);
    let (first, next) = page(&floor, "limit=2");
    assert_eq!(first, ["4", "1"]);
    assert_eq!(page(&floor, &format!("after={}", next.unwrap())).0, ["5", "3", "2", "6"]);
}

#[test]
fn pages_fit_together_while_jobs_come_and_go() {
    let floor = floor();
    let many: Vec<Value> = (0..100).map(|at| json!({"builder": "linux a", "submitted_at": 1000 + at % 7})).collect();
    floor.submit(&Value::from(many));
    let (all, none) = page(&floor, "limit=1000");
    assert_eq!((all.len(), none), (100, None));
    for limit in [1, 9, 99, 100] {
        let (mut collected, mut after) = (Vec::new(), String::new());
        loop {
            let (jobs, next) = page(&floor, &format!("limit={limit}{after}"));
            assert!(jobs.len() <= limit);
            collected.extend(jobs);
            let Some(next) = next else { break };
            after = format!("&after={next}");
        }
        assert_eq!(collected, all, "limit={limit}");
    }
    // The last job of a page ends, one comes in before it and one behind it.
    let (first, next) = page(&floor, "limit=10");
    assert_eq!(floor.ask("DELETE", &format!("/v1/jobs/{}", first[9]), &[], "").status, 200);
    floor.submit(&json!({"builder": "linux a", "submitted_at": 1}));
    let last = floor.submit_one("linux a");
    let rest = page(&floor, &format!("limit=1000&after={}", next.unwrap())).0;
    assert_eq!(rest, [&all[10..], &[last]].concat());
}

/// A record of ten thousand jobs is large, so a page of such has fewer of them.
#[test]
fn the_audit_log_can_be_read_behind_thousands_of_jobs_and_claims() {
    let floor = floor();
    let many = Value::from(vec![json!({"builder": "linux a", "branch": "x".repeat(500)}); 10_000]);
    for _ in 0..8 {
        floor.submit(&many);
    }
    let pages = |limit: usize| {
        let (mut entries, mut before, mut shortest) = (Vec::new(), String::new(), limit);
        loop {
            let page = floor.look(&format!("/v1/audit?limit={limit}{before}"));
            let listed = page["entries"].as_array().unwrap().clone();
            shortest = shortest.min(listed.len());
            entries.extend(listed);
            let Some(next) = page["next_before"].as_u64() else { return (entries, shortest) };
            before = format!("&before={next}");
        }
    };
    let (entries, shortest) = pages(8);
    assert!((1..8).contains(&shortest), "{shortest}");
    assert_eq!(entries.len(), 10);
    assert_eq!(entries[0]["target"], json!("jobs 70001 to 80000"));
    assert_eq!(entries[9]["action"], json!("farm.define"));
    assert_eq!(pages(1000).0, entries);
}
