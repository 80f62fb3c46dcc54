//! A reader of server-sent events.

use serde_json::Value;

use crate::suite::server::Server;
use crate::suite::wire::Connection;

/// An open stream of events.
pub struct Events {
    connection: Connection,
    /// What came and is not read yet.
    text: String,
}

impl Events {
    /// Opens a stream, which must be there, with these further headers.
    pub fn open(server: &Server, target: &str, headers: &[&str]) -> Self {
        let mut connection = server.connect();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        connection.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes());
        let (status, headers) = connection.receive_head();
        assert_eq!(status, 200, "{target}: {headers:?}");
        let header = |name: &str| headers.iter().find(|(sent, _)| sent == name).map(|(_, value)| value.as_str());
        assert_eq!(header("content-type"), Some("text/event-stream"));
        assert!(header("x-jacuzzi-generation").is_some(), "{headers:?}");
        Self { connection, text: String::new() }
    }

    /// The next event: its id and its data.
    pub fn next(&mut self) -> (u64, Value) {
        loop {
            let Some((event, rest)) = self.text.split_once("\n\n") else {
                let chunk = self.connection.chunk();
                assert!(!chunk.is_empty(), "the stream ended");
                self.text += std::str::from_utf8(&chunk).unwrap();
                continue;
            };
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            let event = field("id").zip(field("data")).map(|(id, data)| (id.parse().unwrap(), data.parse().unwrap()));
            self.text = rest.to_owned();
            if let Some(event) = event {
                return event;
            }
        }
    }

    /// The server has ended the stream, and sent nothing more before.
    pub fn is_at_end(&mut self) -> bool {
        self.text.is_empty() && self.connection.chunk().is_empty()
    }
}
