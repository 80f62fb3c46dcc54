//! Exports and imports that follow: against prepared answers, step by step.

use std::fs;
use std::path::Path;

use clap::Parser;
use tempfile::TempDir;
use tokio::runtime::Builder;

use super::{BLOB, data_dir, is_wrong, text};
use crate::cli::client::Client;
use crate::cli::fake_server::{Asked, FakeServer};
use crate::cli::follower::Follower;
use crate::cli::{Cli, Command, Globals, export, import};

const NOTHING_NEW: (u16, &str) = (200, r#"{"generation":5,"since":5,"set":{},"unset":[]}"#);
const GONE: (u16, &str) = (410, r#"{"code":"other_epoch","detail":"read all again"}"#);
const REFUSED: (u16, &str) = (403, r#"{"code":"forbidden","detail":"no"}"#);

fn globals(url: &str, data_dir: &Path) -> Globals {
    let arguments = ["jacuzzi", "--server", url, "--data-dir", text(data_dir), "generations"];
    Cli::try_parse_from(arguments).unwrap().globals
}

/// Follows into `to` until an answer ends it.
fn export_to(to: &Path, answers: &[(u16, &str)]) -> Vec<Asked> {
    let server = FakeServer::answering(answers);
    let follower = Follower::new(Client::new(&globals(&server.url, to)));
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(export::watch::keep(follower, to)).unwrap_err();
    server.asked()
}

#[test]
fn an_export_follows_by_deltas() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("tree");
    let delta = r#"{"generation":7,"since":5,"set":{"new":["w9"]},"unset":["c d+"]}"#;
    let asked = export_to(&to, &[(200, BLOB), (204, ""), (200, delta), REFUSED]);
    let lines: Vec<_> = asked.iter().map(|asked| asked.line.as_str()).collect();
    let expected = [
        "GET /v1/allocations HTTP/1.1",
        "GET /v1/allocations?since=5&epoch=e&wait=30 HTTP/1.1",
        "GET /v1/allocations?since=5&epoch=e&wait=30 HTTP/1.1",
        "GET /v1/allocations?since=7&epoch=e&wait=30 HTTP/1.1",
    ];
    assert_eq!(lines, expected);
    let blob = r#"{"epoch":"e","generation":7,"builders":{"a/b":["w1","w2"],"new":["w9"]},"machines":{"w1":["a/b"],"w2":["a/b"],"w9":["new"]}}"#;
    assert_eq!(fs::read_to_string(to.join("v1/allocations")).unwrap(), blob);
    assert!(to.join("v1/machines/w9").is_file());
    assert!(!to.join("v1/builders/c d+").exists());
}

#[test]
fn an_export_starts_anew_when_the_history_is_another_one_and_waits_when_there_is_no_server() {
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("blob.json");
    let other = r#"{"epoch":"f","generation":2,"builders":{"b":["w"]},"machines":{"w":["b"]}}"#;
    let asked = export_to(&to, &[(503, ""), (200, BLOB), (503, ""), GONE, (200, other), REFUSED]);
    assert_eq!(asked[4].line, "GET /v1/allocations HTTP/1.1");
    assert_eq!(asked[5].line, "GET /v1/allocations?since=2&epoch=f&wait=30 HTTP/1.1");
    assert_eq!(fs::read_to_string(&to).unwrap(), other);
}

#[test]
fn an_export_that_cannot_begin_says_so() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let asked = export_to(&folder.path().join("file"), &[(200, BLOB)]);
    assert_eq!(asked.len(), 1);
}

/// A tree with the builders of `BLOB`, in `v1` of a folder.
struct Published(TempDir);

impl Published {
    fn new() -> Self {
        let tree = Self(TempDir::new().unwrap());
        tree.write("builders/a/b", r#"{"machines":["w2","w1"]}"#);
        tree.write("builders/c d+", r#"{"machines":["w2"]}"#);
        tree.write("machines/w1", r#"{"builders":["a/b"]}"#);
        tree.write("machines/w2", r#"{"builders":["a/b","c d+"]}"#);
        tree.write("allocated/all", r#"{"machines":["w1","w2"]}"#);
        tree
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.0.path().join("v1").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn watch(&self, url: &str, data_dir: &Path) -> import::watch::Watch {
        let cli = Cli::try_parse_from(["jacuzzi", "import", text(self.0.path()), "--watch"]).unwrap();
        let Command::Import(import) = cli.command else { panic!("import is an import") };
        import::watch::Watch::new(import, &globals(url, data_dir)).unwrap()
    }

    /// So many rounds against these answers, all of which must be used.
    fn rounds(&self, answers: &[(u16, &str)], steps: &[&dyn Fn()]) -> Vec<Asked> {
        let (server, data_dir) = (FakeServer::answering(answers), data_dir());
        let mut watch = self.watch(&server.url, data_dir.path());
        for step in steps {
            step();
            watch.round().unwrap();
        }
        server.asked()
    }
}

const IMPORTED: (u16, &str) = (200, r#"{"first":6,"last":6,"imported":1,"broken":[]}"#);
const SINCE_6: (u16, &str) = (200, r#"{"generation":6,"since":5,"set":{"c d+":["w1"]},"unset":[]}"#);
const STILL_6: (u16, &str) = (200, r#"{"generation":6,"since":6,"set":{},"unset":[]}"#);

#[test]
fn a_tree_that_says_what_is_in_force_is_not_sent() {
    let tree = Published::new();
    let asked = tree.rounds(&[(200, BLOB), NOTHING_NEW], &[&|| (), &|| (), &|| ()]);
    assert_eq!(asked[1].line, "GET /v1/allocations?since=5&epoch=e&wait=0 HTTP/1.1");
}

#[test]
fn a_change_is_sent_once_the_tree_holds_still_and_agrees() {
    let tree = Published::new();
    let in_builder = || tree.write("builders/c d+", r#"{"machines":["w1"]}"#);
    let in_machines = || {
        tree.write("machines/w1", r#"{"builders":["a/b","c d+"]}"#);
        tree.write("machines/w2", r#"{"builders":["a/b"]}"#);
    };
    let answers = [(200, BLOB), NOTHING_NEW, NOTHING_NEW, IMPORTED, SINCE_6, STILL_6];
    let nothing = || ();
    let steps: [&dyn Fn(); 8] = [&nothing, &nothing, &in_builder, &nothing, &in_machines, &nothing, &nothing, &nothing];
    let asked = tree.rounds(&answers, &steps);
    let post = &asked[3];
    let reason = format!("following {}", tree.0.path().display()).replace(' ', "%20").replace('/', "%2F");
    assert_eq!(post.line, format!("POST /v1/allocations/import?strict=false&reason={reason} HTTP/1.1"));
    assert_eq!(post.body, r#"{"builders":{"a/b":["w2","w1"],"c d+":["w1"]}}"#);
    assert!(post.headers.contains("authorization: Bearer secret-1\n"));
}

#[test]
fn views_that_stay_in_disagreement_are_taken_in_the_end() {
    let tree = Published::new();
    tree.write("builders/c d+", r#"{"machines":["w1"]}"#);
    let looks = vec![&(|| ()) as &dyn Fn(); 12];
    let mut answers = vec![(200, BLOB)];
    answers.extend([NOTHING_NEW; 10]);
    answers.push(IMPORTED);
    assert!(tree.rounds(&answers, &looks)[11].line.starts_with("POST "));
}

#[test]
fn what_was_written_in_another_way_is_put_back() {
    let tree = Published::new();
    let other = (200, r#"{"generation":6,"since":5,"set":{},"unset":["c d+"]}"#);
    let imported = (200, r#"{"first":7,"last":7,"imported":1,"broken":[]}"#);
    let asked = tree.rounds(&[(200, BLOB), other, imported], &[&|| (), &|| (), &|| ()]);
    assert_eq!(asked[2].body, r#"{"builders":{"a/b":["w2","w1"],"c d+":["w2"]}}"#);
}

#[test]
fn an_empty_list_keeps_the_list_before_and_an_empty_tree_everything() {
    let tree = Published::new();
    tree.write("builders/c d+", r#"{"machines":[]}"#);
    tree.write("machines/w2", r#"{"builders":["a/b"]}"#);
    tree.rounds(&[(200, BLOB)], &[&|| (), &|| ()]);
    let empty = Published(TempDir::new().unwrap());
    empty.write("allocated/all", r#"{"machines":[]}"#);
    fs::create_dir_all(empty.0.path().join("v1/builders")).unwrap();
    fs::create_dir_all(empty.0.path().join("v1/machines")).unwrap();
    empty.rounds(&[(200, BLOB)], &[&|| (), &|| ()]);
}

#[test]
fn a_tree_that_is_refused_or_odd_is_not_sent_again_and_again() {
    let tree = Published::new();
    tree.write("builders/c d+", r#"{"machines":["w1"]}"#);
    tree.write("machines/w1", r#"{"builders":["a/b","c d+"]}"#);
    tree.write("machines/w2", r#"{"builders":["a/b"]}"#);
    let refused = (422, r#"{"code":"rules_broken","detail":"no"}"#);
    tree.rounds(&[(200, BLOB), refused, NOTHING_NEW], &[&|| (), &|| (), &|| ()]);
    tree.write("builders/c d+", "Usage: allocate");
    tree.rounds(&[(200, BLOB), NOTHING_NEW], &[&|| (), &|| (), &|| ()]);
}

#[test]
fn a_server_that_is_away_is_waited_for_but_not_one_that_refuses_the_token() {
    let (tree, data_dir) = (Published::new(), data_dir());
    for (answer, may_pass) in [((503, ""), true), (REFUSED, false)] {
        let server = FakeServer::answering(&[answer]);
        let mut watch = tree.watch(&server.url, data_dir.path());
        watch.round().unwrap();
        assert_eq!(watch.round().unwrap_err().may_pass(), may_pass);
        server.asked();
    }
}

#[test]
fn only_a_folder_can_be_followed() {
    for arguments in [&["import", "x", "--interval", "2"][..], &["import", "x", "--watch", "--interval", "0"]] {
        assert!(is_wrong(arguments), "{arguments:?}");
    }
    let (_, result) = super::run_on("http://127.0.0.1:1", &["import", "/dev/null", "--watch"]);
    assert!(result.unwrap_err().to_string().contains("only the folder of a static tree can be followed"));
    let (_, result) = super::run_on("http://127.0.0.1:1", &["export", "-", "--watch"]);
    assert!(result.unwrap_err().to_string().contains("stdout cannot be kept up to date"));
}
