//! The peer: beanstalkd with a sync an operation, driven by as many connections, pipelined in like manner.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::fleet::job;
use crate::cli::bench::cost::Cost;

/// How long a job stays with who reserved it, in seconds: longer than a measurement.
const TIME_TO_RUN: u32 = 3_600;

pub(super) struct Beanstalkd {
    address: String,
    process: Child,
    /// Where its log is.
    _folder: TempDir,
}

/// What it took to put jobs, then to reserve and delete all of them.
pub(super) struct Figures {
    pub jobs: usize,
    pub put: Cost,
    pub reserve_and_delete: Cost,
}

impl Beanstalkd {
    pub(super) fn start() -> anyhow::Result<Self> {
        // Beside our own server's, so that both sync to the same disk.
        let folder = TempDir::with_prefix_in("jacuzzi-bench-", ".")?;
        // Let go of at once; nothing else runs here that would take it.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let process = Command::new("beanstalkd")
            .args(["-l", "127.0.0.1", "-p", &port.to_string(), "-f", "0", "-b"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot run beanstalkd (Debian: apt-get install beanstalkd)")?;
        let beanstalkd = Self { address: format!("127.0.0.1:{port}"), process, _folder: folder };
        let patience = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(&beanstalkd.address).is_err() {
            if Instant::now() > patience {
                bail!("beanstalkd does not answer on {}", beanstalkd.address);
            }
            #[expect(clippy::disallowed_methods, reason = "beanstalkd does not say when it is ready")]
            thread::sleep(Duration::from_millis(20));
        }
        Ok(beanstalkd)
    }

    /// Puts for so long, so many at once on each connection.
    pub(super) fn measure(&self, connections: usize, at_once: usize, span: Duration) -> anyhow::Result<Figures> {
        let open = || Connection::open(&self.address, at_once);
        let mut connections = (0..connections).map(|_| open()).collect::<Result<Vec<_>, _>>()?;
        let put = self.all(&mut connections, |connection| connection.put_for(span))?;
        let reserve_and_delete = self.all(&mut connections, Connection::reserve_and_delete)?;
        let jobs = connections.iter().map(|connection| connection.batches * at_once).sum();
        Ok(Figures { jobs, put, reserve_and_delete })
    }

    fn all(
        &self,
        connections: &mut [Connection],
        act: impl Fn(&mut Connection) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<Cost> {
        let act = &act;
        let run = || {
            thread::scope(|scope| {
                let threads: Vec<_> =
                    connections.iter_mut().map(|connection| scope.spawn(move || act(connection))).collect();
                threads.into_iter().try_for_each(|thread| thread.join().expect("a connection does not panic"))
            })
        };
        Ok(Cost::of(self.process.id(), run)?.1)
    }
}

impl Drop for Beanstalkd {
    fn drop(&mut self) {
        // Its folder goes with it, so nothing needs to be finished.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// One client. Each batch is sent whole before its answers are read.
struct Connection {
    stream: BufReader<TcpStream>,
    at_once: usize,
    puts: Vec<u8>,
    reserves: Vec<u8>,
    /// How many were put.
    batches: usize,
}

impl Connection {
    fn open(address: &str, at_once: usize) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let put = |number| {
            let body = job(0, number);
            format!("put 0 0 {TIME_TO_RUN} {}\r\n{body}\r\n", body.len())
        };
        Ok(Self {
            stream: BufReader::new(stream),
            at_once,
            puts: (0..at_once).map(put).collect::<String>().into_bytes(),
            reserves: "reserve-with-timeout 0\r\n".repeat(at_once).into_bytes(),
            batches: 0,
        })
    }

    fn put_for(&mut self, span: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + span;
        while Instant::now() < end {
            self.stream.get_mut().write_all(&self.puts)?;
            for _ in 0..self.at_once {
                self.answer("INSERTED ")?;
            }
            self.batches += 1;
        }
        Ok(())
    }

    /// As many as were put by it, whoever put them.
    fn reserve_and_delete(&mut self) -> anyhow::Result<()> {
        let (mut deletes, mut body) = (Vec::new(), Vec::new());
        for _ in 0..self.batches {
            self.stream.get_mut().write_all(&self.reserves)?;
            deletes.clear();
            for _ in 0..self.at_once {
                let reserved = self.answer("RESERVED ")?;
                let (id, length) = reserved.split_once(' ').context("a reserved job has an id and a length")?;
                write!(deletes, "delete {id}\r\n")?;
                body.resize(length.parse::<usize>()? + "\r\n".len(), 0);
                self.stream.read_exact(&mut body)?;
            }
            self.stream.get_mut().write_all(&deletes)?;
            for _ in 0..self.at_once {
                self.answer("DELETED")?;
            }
        }
        Ok(())
    }

    /// What follows the word that is expected.
    fn answer(&mut self, word: &str) -> anyhow::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let rest = line.trim_end().strip_prefix(word);
        rest.map(str::to_owned).with_context(|| format!("beanstalkd answered {line:?}, not {word:?}"))
    }
}
