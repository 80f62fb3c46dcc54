//! From the calls of a master to the history, over kills of the server.

use serde_json::{Value, json};

use super::journal::{listed, recorded};
use crate::suite::jobs::floor::{floor, id};
use crate::suite::reads::boxes::Boxes;

fn seen(floor: &Boxes) -> Vec<Value> {
    recorded(&floor.server);
    listed(&floor.server)
}

#[test]
fn what_a_master_reports_is_in_the_history() {
    let floor = floor();
    let job = json!({"builder": "linux a", "branch": "main", "project": "p", "push": "abc", "submitted_at": 1000});
    let first = id(&floor.submit(&job)[0]).to_owned();
    let claim = floor.claim_one("w1");
    assert_eq!(floor.finished(&claim, "retry"), "waits");
    let again = floor.claim_one("w2");
    assert_eq!(floor.finished(&again, "success"), "ended");
    let waiting = floor.submit_one("mac a");
    assert_eq!(floor.ask("DELETE", &format!("/v1/jobs/{waiting}?reason=old"), &[], "").status, 200);

    let rows = seen(&floor);
    let columns = ["job", "claim", "builder", "worker", "branch", "push", "attempt", "result", "author", "reason"];
    let shown: Vec<Vec<&Value>> = rows.iter().map(|row| columns.map(|column| &row[column]).to_vec()).collect();
    let expected = json!([
        [waiting, null, "mac a", null, null, null, 0, "cancelled", "operator", "old"],
        [first, again["id"], "linux a", "w2", "main", "abc", 2, "success", "operator", null],
        [first, claim["id"], "linux a", "w1", "main", "abc", 1, "retry", "operator", null],
    ]);
    assert_eq!(json!(shown), expected);
    assert_eq!((&rows[1]["submitted_at"], &rows[2]["submitted_at"]), (&json!(1000), &json!(1000)));
}

#[test]
fn every_end_that_was_answered_is_recorded_once_whenever_the_server_is_killed() {
    let mut floor = floor();
    let mut ended = Vec::new();
    for kill in 1..=5 {
        let jobs: Vec<_> = (0..20 * kill).map(|_| json!({"builder": "linux a"})).collect();
        floor.submit(&json!(jobs));
        for _ in 0..jobs.len() / 5 {
            let claims = floor.claim(&json!({"workers": ["w1", "w2", "w3", "w4", "w5"]}));
            for claim in &claims {
                assert_eq!(floor.finished(claim, "success"), "ended");
                ended.push((claim["job"]["id"].clone(), claim["id"].clone()));
            }
        }
        // Right behind the last answer, which no history can know of yet.
        let Boxes { server, home, token } = floor;
        server.kill9();
        floor = Boxes { server: home.start(), home, token };
    }
    let rows = seen(&floor);
    let recorded: Vec<_> = rows.iter().rev().map(|row| (row["job"].clone(), row["claim"].clone())).collect();
    assert_eq!(recorded.len(), 300);
    assert_eq!(recorded, ended);
}
