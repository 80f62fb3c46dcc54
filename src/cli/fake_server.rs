//! A server for tests that gives the answers it was told and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// One request, as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// `GET /v1/builders HTTP/1.1`
    pub line: String,
    /// Lower case, one a line.
    pub headers: String,
    pub body: String,
}

pub(super) struct FakeServer {
    pub url: String,
    served: JoinHandle<Vec<Asked>>,
}

impl FakeServer {
    /// Gives these answers, one a request: status and body.
    pub(super) fn answering(answers: &[(u16, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Vec<_> = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let serve = move || answers.iter().map(|(status, body)| answer(&listener, *status, body)).collect();
        Self { url, served: thread::spawn(serve) }
    }

    /// Waits until every answer is given.
    pub(super) fn asked(self) -> Vec<Asked> {
        self.served.join().unwrap()
    }
}

fn answer(listener: &TcpListener, status: u16, body: &str) -> Asked {
    let (mut stream, _) = listener.accept().unwrap();
    let asked = read(&stream);
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).unwrap();
    asked
}

fn read(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let header = header.trim_end();
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(": ").unwrap();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap();
        }
        headers += &format!("{}: {value}\n", name.to_lowercase());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Asked { line: line.trim_end().to_owned(), headers, body: String::from_utf8(body).unwrap() }
}
