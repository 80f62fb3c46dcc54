//! The operator's client against a real server: changes, and living beside another system's static tree.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::server::{Home, Server, lines};

/// How long a watching client may take to say what it is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

const FARM: &str = include_str!("../../config/farm.toml");

const BLOB: &str =
    r#"{"builders":{"Linux main build":["linux-spot-001","linux-spot-002"],"Windows main":["windows-01"]}}"#;

/// `jacuzzi` for the operator of this home's server.
fn jacuzzi(home: &Home, server: &Server, arguments: &[&str]) -> Command {
    let mut command = home.jacuzzi(arguments);
    command.env("JACUZZI_SERVER", server.url()).env("JACUZZI_TOKEN", home.operator_token()).stdin(Stdio::null());
    command
}

fn run(home: &Home, server: &Server, arguments: &[&str]) -> Output {
    jacuzzi(home, server, arguments).output().unwrap()
}

/// What a command that must succeed prints, without the blanks that end a line.
fn data(home: &Home, server: &Server, arguments: &[&str]) -> Vec<String> {
    let output = run(home, server, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim_end().to_owned()).collect()
}

/// What a command that must be refused says.
fn refusal(home: &Home, server: &Server, arguments: &[&str]) -> String {
    let output = run(home, server, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A home whose server has `BLOB` in force, as generation 1.
fn started() -> (Home, Server) {
    let home = Home::new(FARM);
    let server = home.start();
    fs::write(home.data_dir().join("blob.json"), BLOB).unwrap();
    data(&home, &server, &["import", "data/blob.json"]);
    (home, server)
}

fn generation(server: &Server) -> String {
    let headers = server.get("/v1/allocations").headers;
    headers.into_iter().find(|(name, _)| name == "x-jacuzzi-generation").unwrap().1
}

#[test]
fn a_builder_is_changed_and_rolled_back() {
    let (home, server) = started();
    let set = ["set", "Linux main build", "linux-spot-001", "linux-spot-003"];
    let changed =
        ["   BUILDER           ADDED           REMOVED", "~  Linux main build  linux-spot-003  linux-spot-002"];
    assert_eq!(data(&home, &server, &[&set[..], &["--dry-run"]].concat()), changed);
    assert_eq!(generation(&server), "1");
    assert_eq!(data(&home, &server, &[&set[..], &["--reason", "a try"]].concat()), changed);
    assert_eq!(data(&home, &server, &["diff", "1"]), changed);

    let back = ["   BUILDER           ADDED           REMOVED", "~  Linux main build  linux-spot-002  linux-spot-003"];
    let asked = run(&home, &server, &["rollback", "1"]);
    assert_eq!((asked.status.code(), generation(&server).as_str()), (Some(1), "2"));
    let (shown, said) = (String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
    assert!(shown.contains(back[1].trim_end()) && said.contains("--yes goes ahead"), "{shown}{said}");
    assert_eq!(data(&home, &server, &["rollback", "1", "--dry-run"]), back);
    assert_eq!(generation(&server), "2");
    assert_eq!(data(&home, &server, &["rollback", "1", "--yes", "--reason", "back"]), back);
    assert_eq!(data(&home, &server, &["get", "Linux main build"]), ["linux-spot-001", "linux-spot-002"]);

    data(&home, &server, &["set", "Windows main", "--none"]);
    assert_eq!(run(&home, &server, &["get", "Windows main"]).status.code(), Some(4));
    assert_eq!(run(&home, &server, &["set", "Windows main", "--none"]).status.code(), Some(4));
}

#[test]
fn every_fault_of_a_refused_change_is_listed() {
    let (home, server) = started();
    let said = refusal(&home, &server, &["set", "Linux main build", "windows-01", "nowhere"]);
    let expected = "error: the server refuses (422, rules_broken): 2 broken rules\n  \
                    builder \"Linux main build\": machine \"nowhere\" is not a worker of this farm\n  \
                    builder \"Linux main build\": machine \"windows-01\" is in the wrong pool: \"windows\", the builder's is \"linux\"\n";
    assert_eq!(said, expected);
    let empty = r#"{"builders":{"Linux main build":[],"Windows main":[]}}"#;
    fs::write(home.data_dir().join("empty.json"), empty).unwrap();
    for flag in ["--yes", "--dry-run"] {
        let said = refusal(&home, &server, &["apply", "data/empty.json", flag]);
        assert_eq!(said.matches("an allocation has at least one machine").count(), 2, "{said}");
    }
    assert_eq!(generation(&server), "1");
}

#[test]
fn a_tree_is_compared_and_applied() {
    let (home, server) = started();
    data(&home, &server, &["export", "tree"]);
    assert_eq!(data(&home, &server, &["diff", "tree"]), [""; 0]);
    data(&home, &server, &["set", "Linux other build", "linux-spot-004"]);
    let expected = ["   BUILDER            ADDED  REMOVED", "-  Linux other build         linux-spot-004"];
    assert_eq!(data(&home, &server, &["diff", "tree"]), expected);
    assert_eq!(data(&home, &server, &["apply", "tree", "--yes"]), expected);
    assert_eq!(generation(&server), "3");
    data(&home, &server, &["apply", "tree", "--yes"]);
    assert_eq!(generation(&server), "3", "what is in force already is not written");
}

/// A client that goes on until it is stopped.
struct Watching {
    child: Child,
    said: Receiver<String>,
}

impl Watching {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = lines(child.stderr.take().expect("stderr is piped"));
        Self { child, said }
    }

    /// Reads on until a line that begins so.
    fn until(&self, start: &str) {
        let mut seen = Vec::new();
        while !seen.last().is_some_and(|line: &String| line.starts_with(start)) {
            match self.said.recv_timeout(PATIENCE) {
                Ok(line) => seen.push(line),
                Err(error) => panic!("{error} while waiting for {start:?}; it said {seen:#?}"),
            }
        }
    }

    fn stop(mut self, signal: &str) {
        let killed = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert!(self.child.wait().unwrap().success(), "SIG{signal} ends it as asked");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have ended already, which is all that is wanted here.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn blob_in(tree: &Path) -> Vec<u8> {
    fs::read(tree.join("v1/allocations")).unwrap()
}

fn builders(blob: &[u8]) -> Value {
    serde_json::from_slice::<Value>(blob).unwrap()["builders"].take()
}

#[test]
fn an_exported_tree_follows_the_server_through_restarts() {
    let (home, server) = started();
    let tree = home.data_dir().join("tree");
    let export = Watching::start(jacuzzi(&home, &server, &["export", "--watch", "data/tree"]));
    export.until("wrote generation 1, 2 builder(s)");
    data(&home, &server, &["set", "Linux other build", "linux-spot-004"]);
    export.until("wrote generation 2, 3 builder(s)");
    assert_eq!(blob_in(&tree), server.get("/v1/allocations").body, "byte for byte");
    let address = server.address().to_string();
    server.kill9();
    export.until("cannot reach a server");
    let server = home.serve_on(&address).start();
    data(&home, &server, &["set", "Linux other build", "--none"]);
    export.until("wrote generation 3, 2 builder(s)");
    assert_eq!(blob_in(&tree), server.get("/v1/allocations").body);
    export.stop("TERM");
}

#[test]
fn a_farm_moves_over_behind_its_old_tree() {
    let (old_home, old) = started();
    let tree = old_home.data_dir().join("tree");
    let export = Watching::start(jacuzzi(&old_home, &old, &["export", "--watch", "data/tree"]));
    export.until("wrote generation 1");

    let home = Home::new(FARM);
    let server = home.start();
    let follow = ["import", "--watch", tree.to_str().unwrap(), "--interval", "0.1"];
    let import = Watching::start(jacuzzi(&home, &server, &follow));
    import.until("took ");
    assert_eq!(builders(&server.get("/v1/allocations").body), builders(&blob_in(&tree)));

    data(&old_home, &old, &["set", "Linux main build", "linux-spot-005"]);
    import.until("took ");
    assert_eq!(data(&home, &server, &["get", "Linux main build"]), ["linux-spot-005"]);

    data(&home, &server, &["set", "Windows main", "--none"]);
    import.until("took ");
    assert_eq!(data(&home, &server, &["get", "Windows main"]), ["windows-01"], "the tree is the truth");

    let address = server.address().to_string();
    server.kill9();
    import.until("cannot reach a server");
    data(&old_home, &old, &["set", "Windows main", "windows-02"]);
    let server = home.serve_on(&address).start();
    import.until("took ");
    assert_eq!(data(&home, &server, &["get", "Windows main"]), ["windows-02"]);
    let history = data(&home, &server, &["generations", "--limit", "1"]);
    assert!(history[1].contains("following "), "{history:?}");
    import.stop("INT");
    export.stop("TERM");
}

/// Reads a whole tree by one directory handle, and answers its generation; all its views must be of that one.
fn read_by_handle(tree: &Path) -> u64 {
    let handle = fs::File::open(tree).unwrap();
    let held = Path::new("/proc/self/fd").join(handle.as_raw_fd().to_string());
    let blob: Value = serde_json::from_slice(&blob_in(&held)).unwrap();
    let json = |path: PathBuf| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap();
    for (folder, key) in [("builders", "machines"), ("machines", "builders")] {
        let folder_in_tree = held.join("v1").join(folder);
        let listed: BTreeSet<_> = fs::read_dir(&folder_in_tree)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let expected = blob[folder].as_object().unwrap();
        assert_eq!(listed, expected.keys().cloned().collect(), "{folder} of {}", blob["generation"]);
        for (name, list) in expected {
            assert_eq!(json(folder_in_tree.join(name))[key], *list, "{name} of {}", blob["generation"]);
        }
    }
    let all = json(held.join("v1/allocated/all"))["machines"].take();
    assert!(all.as_array().unwrap().iter().eq(blob["machines"].as_object().unwrap().keys()), "{all}");
    blob["generation"].as_u64().unwrap()
}

#[test]
fn readers_of_a_watched_tree_see_one_generation_each_through_a_thousand_changes() {
    const CHANGES: u64 = 1000;
    let home = Home::new(FARM);
    let server = home.serve().env("JACUZZI__LIMITS__WRITES_PER_SECOND", "1000000").start();
    fs::write(home.data_dir().join("blob.json"), BLOB).unwrap();
    data(&home, &server, &["import", "data/blob.json"]);
    let tree = home.data_dir().join("tree");
    let export = Watching::start(jacuzzi(&home, &server, &["export", "--watch", "data/tree"]));
    export.until("wrote generation 1");
    let done = AtomicBool::new(false);
    let seen: BTreeSet<u64> = thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = vec![read_by_handle(&tree)];
                    while !done.load(Ordering::Relaxed) {
                        seen.push(read_by_handle(&tree));
                    }
                    assert!(seen.is_sorted(), "a tree never goes back");
                    seen
                })
            })
            .collect();
        let authorization = format!("Authorization: Bearer {}", home.operator_token());
        for change in 0..CHANGES {
            // A builder comes and goes, and its machine changes.
            let body = match change % 3 {
                2 => r#"{"unset": ["Linux other build"]}"#.to_owned(),
                _ => format!(r#"{{"set": {{"Linux other build": ["linux-spot-{:03}"]}}}}"#, 4 + change % 15),
            };
            let answer = server.request("PATCH", "/v1/allocations", &[&authorization], body.as_bytes());
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        export.until(&format!("wrote generation {}", CHANGES + 1));
        done.store(true, Ordering::Relaxed);
        readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
    });
    assert!(seen.len() > 5, "the readers saw too little to tell: {seen:?}");
    export.stop("TERM");
}
