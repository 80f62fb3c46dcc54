//! The real binary, started on a folder of its own, asked over a socket, killed and started again.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::wire::{Connection, Response};

/// How long a start or a stop may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// A farm file and a data folder, which outlive the servers started on them.
///
/// ```ignore
/// let home = Home::new(farm_toml);
/// let server = home.serve().env("RUST_LOG", "debug").start();
/// assert_eq!(server.get("/v1/builders").status, 200);
/// server.kill9();
/// let again = home.start();
/// ```
pub struct Home {
    folder: TempDir,
    data: PathBuf,
}

/// A server that is about to be started.
pub struct Start<'a> {
    home: &'a Home,
    command: Command,
}

/// A running server; it is killed when dropped, and a test that fails shows what it logged.
pub struct Server {
    child: Child,
    address: SocketAddr,
    /// Ends when the server closes its stdout, which it does at the latest when it ends.
    /// Locked, so that threads can share the server.
    stdout: Mutex<mpsc::Receiver<String>>,
    log: PathBuf,
}

/// How a server that never became ready ended.
#[derive(Debug)]
pub struct NotReady {
    /// `None` if it was still running, and had to be killed.
    pub status: Option<ExitStatus>,
    pub stdout: Vec<String>,
    pub stderr: String,
}

impl Home {
    /// A new folder with this farm file; the data folder does not exist yet.
    pub fn new(farm: &str) -> Self {
        let folder = TempDir::with_prefix("jacuzzi-").unwrap();
        let data = folder.path().join("data");
        let home = Self { folder, data };
        home.write_farm(farm);
        home
    }

    /// The same with the data folder elsewhere, such as on a small disk.
    pub fn with_data_dir(farm: &str, data: &Path) -> Self {
        Self { data: data.to_owned(), ..Self::new(farm) }
    }

    /// Puts another farm file in place, as an operator would before a reload.
    pub fn write_farm(&self, farm: &str) {
        fs::write(self.farm_file(), farm).unwrap();
    }

    pub fn farm_file(&self) -> PathBuf {
        self.folder.path().join("farm.toml")
    }

    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// The token that the first start wrote.
    pub fn operator_token(&self) -> String {
        let file = self.data.join("operator.token");
        let token = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        token.trim().to_owned()
    }

    /// Everything that the servers of this home have written to stderr.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("stderr.log")
    }

    /// `jacuzzi` with these arguments, in this home; its environment is the test's.
    pub fn jacuzzi(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jacuzzi"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    /// `jacuzzi serve` on a free port of the loopback.
    pub fn serve(&self) -> Start<'_> {
        self.serve_on("127.0.0.1:0")
    }

    /// The same where clients expect it, after a server there has ended.
    pub fn serve_on(&self, address: &str) -> Start<'_> {
        let mut command = self.jacuzzi(&["serve", "--listen", address]);
        command.arg("--farm").arg(self.farm_file()).arg("--data-dir").arg(&self.data);
        Start { home: self, command }
    }

    /// A server with nothing special about it.
    pub fn start(&self) -> Server {
        self.serve().start()
    }
}

impl Start<'_> {
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Several at once, such as those of a fault.
    pub fn envs<V: AsRef<OsStr>>(mut self, of: impl IntoIterator<Item = (&'static str, V)>) -> Self {
        self.command.envs(of);
        self
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Starts it and waits until it is ready; the test fails if it never is.
    pub fn start(self) -> Server {
        self.try_start().unwrap_or_else(|failed| panic!("the server did not become ready: {failed:#?}"))
    }

    /// Starts it and waits until it is ready, or says how it ended.
    pub fn try_start(mut self) -> Result<Server, Box<NotReady>> {
        let log = self.home.log_file();
        let already_logged = self.home.log().len();
        let stderr = OpenOptions::new().create(true).append(true).open(&log).unwrap();
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        let stdout = lines(child.stdout.take().expect("stdout is piped"));
        let mut seen = Vec::new();
        let ended = loop {
            match stdout.recv_timeout(PATIENCE) {
                Ok(line) => match address_in(&line).map(str::parse) {
                    Some(Ok(address)) => return Ok(Server { child, address, stdout: Mutex::new(stdout), log }),
                    Some(Err(_)) => panic!("not an address: {line:?}"),
                    None => seen.push(line),
                },
                // Its end closes stdout a moment before it can be seen.
                Err(mpsc::RecvTimeoutError::Disconnected) => break true,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    child.kill().unwrap();
                    break false;
                }
            }
        };
        let status = child.wait().unwrap();
        let stderr = self.home.log().split_off(already_logged);
        Err(Box::new(NotReady { status: ended.then_some(status), stdout: seen, stderr }))
    }
}

/// The address in the line that says that the server is ready.
fn address_in(line: &str) -> Option<&str> {
    let url = line.strip_prefix("listening on ")?;
    url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))
}

/// The lines that come out, read off as they come, so that no pipe ever fills up.
pub fn lines(from: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Server {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// GET on a connection of its own.
    pub fn get(&self, target: &str) -> Response {
        self.request("GET", target, &[], b"")
    }

    /// One request on a connection of its own; Host, Connection and Content-Length are added.
    pub fn request(&self, method: &str, target: &str, headers: &[&str], body: &[u8]) -> Response {
        let mut connection = self.connect();
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        for header in headers {
            head += &format!("{header}\r\n");
        }
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        connection.send(&[head.as_bytes(), b"\r\n", body].concat());
        connection.receive(method)
    }

    /// As a power cut would: no goodbye.
    pub fn kill9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by its name (`"HUP"`).
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(status.success(), "kill -s {name} {pid}: {status}");
    }

    /// Asks it to end, and waits for that; gives how it ended.
    pub fn stop(mut self) -> ExitStatus {
        self.signal("TERM");
        loop {
            match self.stdout.get_mut().unwrap().recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return self.child.wait().unwrap(),
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("still running {PATIENCE:?} after SIGTERM"),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, which is all that is wanted here.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.child.kill().ok();
            self.child.wait().ok();
        }
        if thread::panicking() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            eprintln!("the server at {} logged:\n{log}", self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAND_IN: &str = r#"
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = (self.path + " " + os.environ.get("GREETING", "")).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("a hint", file=sys.stderr)
print("listening on http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
"#;

    /// A server that is not ours, so that the harness is tested by itself.
    fn python<'a>(home: &'a Home, script: &str) -> Start<'a> {
        let mut command = Command::new("python3");
        command.args(["-c", script]);
        Start { home, command }
    }

    #[test]
    fn a_server_is_started_asked_killed_and_started_again() {
        let home = Home::new("");
        let server = python(&home, STAND_IN).env("GREETING", "hello").start();
        assert_eq!(server.get("/a%2Fb").text(), "/a%2Fb hello");
        server.kill9();
        let server = python(&home, STAND_IN).start();
        assert_eq!(server.get("/").status, 200);
        assert!(!server.stop().success(), "python ends by the signal");
        assert!(home.log().starts_with("a hint\n"), "{}", home.log());
    }

    #[test]
    fn a_server_that_ends_before_it_is_ready_says_how() {
        let home = Home::new("");
        let failed = python(&home, "import sys; print('warming up'); sys.exit('no disk')").try_start().err().unwrap();
        assert_eq!(failed.status.unwrap().code(), Some(1));
        assert_eq!((failed.stdout, failed.stderr.as_str()), (vec!["warming up".to_owned()], "no disk\n"));
    }
}
