//! The stream that the HTTP server reads in place of the connection itself.

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::messages::{Messages, Next};

/// Bytes read at once while a head is not whole.
const PIECE_BYTES: usize = 8 << 10;

/// A connection whose requests the parser behind it takes.
#[derive(Debug)]
pub struct Wire<IO> {
    io: IO,
    messages: Messages,
    /// The beginning of a head that has not come whole. Most come whole: then they go through and nothing is kept here.
    held: BytesMut,
    /// What comes before everything that is held or not read yet.
    ready: BytesMut,
}

impl<IO> Wire<IO> {
    pub fn new(io: IO) -> Self {
        Self { io, messages: Messages::new(), held: BytesMut::new(), ready: BytesMut::new() }
    }

    /// How many of the bytes that have come go on where they are; of the rest a copy is kept.
    fn sort(&mut self, come: &[u8]) -> usize {
        let mut passed = 0;
        while passed < come.len() {
            match self.messages.next(&come[passed..]) {
                Next::Pass(length) => passed += length,
                Next::Replace(length, other) => {
                    self.ready.extend_from_slice(&other);
                    self.held.extend_from_slice(&come[passed + length..]);
                    self.sort_held();
                    break;
                }
                Next::Wait => {
                    self.held.extend_from_slice(&come[passed..]);
                    break;
                }
            }
        }
        passed
    }

    fn sort_held(&mut self) {
        while !self.held.is_empty() {
            match self.messages.next(&self.held) {
                Next::Pass(length) => self.ready.extend_from_slice(&self.held.split_to(length)),
                Next::Replace(length, other) => {
                    self.ready.extend_from_slice(&other);
                    self.held.advance(length);
                }
                Next::Wait => return,
            }
        }
        // With its memory: most connections never need it again.
        self.held = BytesMut::new();
    }

    fn give_ready(&mut self, buf: &mut ReadBuf<'_>) {
        let length = self.ready.len().min(buf.remaining());
        buf.put_slice(&self.ready[..length]);
        self.ready.advance(length);
        if self.ready.is_empty() {
            self.ready = BytesMut::new();
        }
    }
}

impl<IO: AsyncRead + Unpin> Wire<IO> {
    /// Reads to where the bytes are wanted; nothing may be held.
    fn read_through(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<Read>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
        let come = &buf.filled()[before..];
        if come.is_empty() {
            return Poll::Ready(Ok(Read::Given));
        }
        let passed = self.sort(come);
        buf.set_filled(before + passed);
        Poll::Ready(Ok(if passed > 0 { Read::Given } else { Read::Kept }))
    }

    /// Reads behind what is held.
    fn read_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Read>> {
        let mut piece = [0; PIECE_BYTES];
        let mut piece = ReadBuf::new(&mut piece);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut piece))?;
        if piece.filled().is_empty() {
            // This head will never be whole: the parser is to see that.
            self.ready = mem::take(&mut self.held);
        } else {
            self.held.extend_from_slice(piece.filled());
            self.sort_held();
        }
        Poll::Ready(Ok(Read::Kept))
    }
}

/// Where the bytes are that were read.
enum Read {
    /// With the caller; none, if the stream has ended.
    Given,
    /// In `held` or `ready`.
    Kept,
}

impl<IO: AsyncRead + Unpin> AsyncRead for Wire<IO> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if !this.ready.is_empty() {
                this.give_ready(buf);
                return Poll::Ready(Ok(()));
            }
            let read = if this.held.is_empty() { this.read_through(cx, buf) } else { this.read_more(cx) };
            match ready!(read)? {
                Read::Given => return Poll::Ready(Ok(())),
                Read::Kept => {}
            }
        }
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Wire<IO> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().io).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}
