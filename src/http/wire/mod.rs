//! Between an accepted connection and the HTTP parser: reads that the parser would refuse, put so that it does not.
//!
//! A read is answered 200, 304 or 404, because the clients that masters have
//! take anything else as a failure. The parser that we use is stricter: it
//! answers 400 by itself to a raw space or `é` in a target, or to HTTP/1.1
//! without `Host`. So [`Wire`] follows the messages on a connection and
//! rewrites the head of a GET or HEAD that would not get through. All other
//! bytes go on as they came.
//!
//! It must never see the start of a message where the parser sees none, or a
//! body could carry a request past whoever looks at requests in front of us.
//! Hence heads are read by the parser's own parser ([`httparse`]); a rewritten
//! head is looked at again before it goes on; and where the length of a body is
//! in any doubt, all the rest of that connection goes on unchanged.

mod chunks;
mod head;
mod messages;
mod repair;
mod stream;
#[cfg(test)]
mod tests;

pub use stream::Wire;
