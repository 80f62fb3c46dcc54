//! Where the messages on a connection begin and end, and what goes on in place of their heads.

use super::chunks::{Chunks, Followed};
use super::head::{self, Body, Look};
use super::repair::repair;

/// The longest head that is waited for, in bytes; the parser answers 431 to a longer one.
pub const MAX_HEAD_BYTES: usize = 1 << 20;

/// A place in the stream of bytes that comes from a client.
#[derive(Debug)]
pub struct Messages {
    pub(super) place: Place,
    /// Of a head that has not come whole, the bytes in which it does not end.
    searched: usize,
}

#[derive(Debug)]
pub(super) enum Place {
    Head,
    /// So many bytes of a body are left.
    Body(u64),
    Chunks(Chunks),
    /// We have lost the thread, and touch nothing any more.
    Unknown,
}

/// What becomes of the bytes that come next.
#[derive(Debug)]
pub enum Next {
    /// So many of them, at least one, go on as they are.
    Pass(usize),
    /// Other bytes go on in place of so many of them.
    Replace(usize, Vec<u8>),
    /// Nothing, until more have come; then these are to be shown again.
    Wait,
}

impl Messages {
    pub fn new() -> Self {
        Self { place: Place::Head, searched: 0 }
    }

    /// `bytes`: at least one.
    pub fn next(&mut self, bytes: &[u8]) -> Next {
        match &mut self.place {
            Place::Unknown => Next::Pass(bytes.len()),
            Place::Head => self.head(bytes),
            Place::Body(left) => {
                let taken = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                self.place = body_of(*left - taken as u64);
                Next::Pass(taken)
            }
            Place::Chunks(chunks) => match chunks.follow(bytes) {
                Followed::All => Next::Pass(bytes.len()),
                Followed::Until(end) => {
                    self.place = Place::Head;
                    Next::Pass(end)
                }
                Followed::Broken => self.give_up(bytes),
            },
        }
    }

    fn head(&mut self, bytes: &[u8]) -> Next {
        // Some clients send a line end behind a body; the parser skips it too.
        for line_end in [b"\r\n".as_slice(), b"\n"] {
            if bytes.starts_with(line_end) {
                return Next::Pass(line_end.len());
            }
        }
        // Most heads come whole and are fine. One that comes in pieces is looked at twice, not once a piece.
        if self.searched == 0 {
            match head::look(bytes) {
                Look::Fit { length, body } => return self.behind_head(body, Next::Pass(length)),
                Look::Strange => return self.give_up(bytes),
                Look::Partial | Look::Unfit => {}
            }
        }
        match head::end(bytes, self.searched) {
            Some(end) if end <= MAX_HEAD_BYTES => self.whole_head(bytes, end),
            None if bytes.len() <= MAX_HEAD_BYTES => {
                self.searched = bytes.len();
                Next::Wait
            }
            _ => self.give_up(bytes),
        }
    }

    fn whole_head(&mut self, bytes: &[u8], end: usize) -> Next {
        let head = &bytes[..end];
        match head::look(head) {
            Look::Fit { length, body } => return self.behind_head(body, Next::Pass(length)),
            Look::Strange | Look::Partial => return self.give_up(bytes),
            Look::Unfit => {}
        }
        let Some(other) = repair(head) else { return self.give_up(bytes) };
        match head::look(&other) {
            Look::Fit { length, body } if length == other.len() => self.behind_head(body, Next::Replace(end, other)),
            Look::Fit { .. } | Look::Partial | Look::Unfit | Look::Strange => self.give_up(bytes),
        }
    }

    fn behind_head(&mut self, body: Body, next: Next) -> Next {
        self.searched = 0;
        self.place = match body {
            Body::Length(length) => body_of(length),
            Body::Chunked => Place::Chunks(Chunks::default()),
        };
        next
    }

    /// The parser gets everything from here on as it is: it refuses it, or we do not know where a body ends.
    fn give_up(&mut self, bytes: &[u8]) -> Next {
        self.place = Place::Unknown;
        Next::Pass(bytes.len())
    }
}

fn body_of(left: u64) -> Place {
    if left == 0 { Place::Head } else { Place::Body(left) }
}
