//! HTTP as bytes, so that a test sends exactly the request it means and sees exactly what comes back.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a read may take before the test fails: longer than any long poll of a test.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// One TCP connection to a server; it stays open between requests.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// In the order sent; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Without its chunks.
    pub body: Vec<u8>,
}

impl Connection {
    pub fn open(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).unwrap_or_else(|error| panic!("cannot connect to {to}: {error}"));
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends a request without a body: the target as it is given, the headers as whole lines (`"Host: a"`).
    pub fn request(&mut self, method: &str, target: &str, headers: &[&str]) -> Response {
        let mut head = format!("{method} {target} HTTP/1.1\r\n");
        for header in headers {
            head += header;
            head += "\r\n";
        }
        self.send(format!("{head}\r\n").as_bytes());
        self.receive(method)
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Reads the response to a request of this method (an answer to HEAD has no body).
    pub fn receive(&mut self, method: &str) -> Response {
        let (status, headers) = self.receive_head();
        let mut response = Response { status, headers, body: Vec::new() };
        let has_body = method != "HEAD" && status >= 200 && status != 204 && status != 304;
        if has_body {
            response.body = self.receive_body(&response);
        }
        response
    }

    /// Reads a status and headers only; the body can then be read line by line.
    pub fn receive_head(&mut self) -> (u16, Vec<(String, String)>) {
        let first = self.line();
        let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
        let status = status.unwrap_or_else(|| panic!("not a status line: {first:?}"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                return (status, headers);
            }
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("not a header: {line:?}"));
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// The next line, without its end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let length = self.stream.read_line(&mut line).expect("the server answers in time");
        assert!(length > 0, "the server closed the connection");
        line.trim_end_matches(['\r', '\n']).to_owned()
    }

    /// Whether the server has closed the connection and sent nothing more.
    pub fn is_closed(&mut self) -> bool {
        self.stream.fill_buf().expect("the server closes in time").is_empty()
    }

    /// Whether the server neither closes the connection nor sends anything for so long.
    pub fn stays_open(&mut self, span: Duration) -> bool {
        self.stream.get_ref().set_read_timeout(Some(span)).unwrap();
        let read = self.stream.fill_buf().map(<[u8]>::len);
        self.stream.get_ref().set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        matches!(read, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    fn receive_body(&mut self, response: &Response) -> Vec<u8> {
        if response.header("transfer-encoding") == Some("chunked") {
            return self.chunks();
        }
        let mut body = Vec::new();
        match response.header("content-length") {
            Some(length) => {
                body.resize(length.parse().expect("content-length is a number"), 0);
                self.stream.read_exact(&mut body).unwrap();
            }
            None => {
                self.stream.read_to_end(&mut body).unwrap();
            }
        }
        body
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let chunk = self.chunk();
            if chunk.is_empty() {
                return body;
            }
            body.extend(chunk);
        }
    }

    /// One chunk of a chunked body; empty at its end.
    pub fn chunk(&mut self) -> Vec<u8> {
        let line = self.line();
        let size = line.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).unwrap_or_else(|_| panic!("not a chunk's size: {line:?}"));
        let mut chunk = vec![0; size];
        self.stream.read_exact(&mut chunk).unwrap();
        assert_eq!(self.line(), "", "a chunk ends with a line end");
        chunk
    }
}

impl Response {
    /// The header's value, if it was sent exactly once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(sent, _)| sent == name).map(|(_, value)| value.as_str());
        values.next().filter(|_| values.next().is_none())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Serves one connection with these bytes, and gives the request that came.
    fn canned(answer: &'static str) -> (SocketAddr, thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut request = String::new();
            stream.read_to_string(&mut request).unwrap();
            request
        });
        (address, served)
    }

    #[test]
    fn a_request_is_sent_exactly() {
        let (address, served) = canned("HTTP/1.1 204 No Content\r\n\r\n");
        let mut connection = Connection::open(address);
        connection.request("GET", "/v1/builders/a%2Fb+c/../%", &["Host: x", "X-Odd:\tb "]);
        drop(connection);
        assert_eq!(served.join().unwrap(), "GET /v1/builders/a%2Fb+c/../% HTTP/1.1\r\nHost: x\r\nX-Odd:\tb \r\n\r\n");
    }

    #[test]
    fn every_kind_of_body_is_read_and_the_connection_kept() {
        let (address, served) = canned(concat!(
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"1\"\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\nto the end",
        ));
        let mut connection = Connection::open(address);
        let first = connection.receive("GET");
        assert_eq!((first.status, first.text(), first.header("etag")), (200, "abc", Some("\"1\"")));
        assert_eq!(connection.receive("HEAD").body, b"");
        assert_eq!(connection.receive("GET").text(), "abcd");
        assert_eq!(connection.receive("GET").status, 304);
        assert_eq!(connection.receive("GET").text(), "to the end");
        assert!(connection.is_closed());
        drop(connection);
        served.join().unwrap();
    }
}
