//! A kept-alive connection that takes ready-made requests, many at once if need be: the load must be cheaper than what it measures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, ensure};

use crate::cli::bench::server::Server;

pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    line: Vec<u8>,
    body: Vec<u8>,
}

impl Connection {
    pub(super) fn open(server: &Server) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address(server)?)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(1 << 16, stream), line: Vec::new(), body: Vec::new() })
    }

    /// One request or several, whose answers are read afterwards, in the same order.
    pub(super) fn send(&mut self, requests: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.get_mut().write_all(requests)?)
    }

    /// The body of the next answer, which is an error unless it has the status.
    pub(super) fn answer(&mut self, expected: u16) -> anyhow::Result<&[u8]> {
        let status = self.next_line()?.get("HTTP/1.1 ".len()..).and_then(|rest| rest.get(..3)).context("no status")?;
        let status: u16 = status.parse()?;
        let mut length = 0;
        loop {
            let line = self.next_line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        ensure!(status == expected, "answered {status}, not {expected}: {}", String::from_utf8_lossy(&self.body));
        Ok(&self.body)
    }

    fn next_line(&mut self) -> anyhow::Result<&str> {
        self.line.clear();
        ensure!(self.stream.read_until(b'\n', &mut self.line)? > 0, "the server closed the connection");
        Ok(std::str::from_utf8(&self.line)?.trim_end())
    }
}

/// The bytes of a request with a JSON body.
pub(super) fn post(server: &Server, path: &str, body: &str) -> anyhow::Result<Vec<u8>> {
    let (host, token, length) = (address(server)?, &server.token, body.len());
    let head = "\r\nContent-Type: application/json\r\nContent-Length: ";
    let request =
        format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}{head}{length}\r\n\r\n{body}");
    Ok(request.into_bytes())
}

fn address(server: &Server) -> anyhow::Result<&str> {
    server.url.strip_prefix("http://").context("the server speaks plain HTTP")
}
