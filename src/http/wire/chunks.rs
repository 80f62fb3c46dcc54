//! Where a chunked body ends, step by step as the parser behind us reads it.

/// A place within a chunked body (RFC 9112, section 7.1).
#[derive(Debug, Default)]
pub struct Chunks {
    state: State,
    /// Bytes of this chunk that are still to come.
    left: u64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    MoreSize,
    Space,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// Behind the last chunk, at the start of a line.
    Line,
    Trailer,
    TrailerLf,
    LastLf,
    End,
}

/// What the bytes are up to which a body was followed.
#[derive(Debug, PartialEq, Eq)]
pub enum Followed {
    /// All of them belong to the body.
    All,
    /// The body ends after so many.
    Until(usize),
    /// This is no chunked body.
    Broken,
}

impl Chunks {
    pub fn follow(&mut self, bytes: &[u8]) -> Followed {
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Data {
                let rest = &bytes[at..];
                let taken = usize::try_from(self.left).map_or(rest.len(), |left| left.min(rest.len()));
                at += taken;
                self.left -= taken as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                continue;
            }
            let Some(next) = self.step(bytes[at]) else { return Followed::Broken };
            self.state = next;
            at += 1;
            if next == State::End {
                return Followed::Until(at);
            }
        }
        Followed::All
    }

    fn step(&mut self, byte: u8) -> Option<State> {
        use State::{
            Data, DataCr, DataLf, End, Extension, LastLf, Line, MoreSize, Size, SizeLf, Space, Trailer, TrailerLf,
        };
        match (self.state, byte) {
            (Size | MoreSize, digit) if digit.is_ascii_hexdigit() => {
                let digit = char::from(digit).to_digit(16)?;
                self.left = self.left.checked_mul(16)? + u64::from(digit);
                Some(MoreSize)
            }
            (MoreSize | Space, b' ' | b'\t') => Some(Space),
            (MoreSize | Space, b';') => Some(Extension),
            (MoreSize | Space | Extension, b'\r') => Some(SizeLf),
            (Extension, b'\t' | b' '..=b'~' | 0x80..) => Some(Extension),
            (SizeLf, b'\n') => Some(if self.left > 0 { Data } else { Line }),
            (DataCr, b'\r') => Some(DataLf),
            (DataLf, b'\n') => Some(Size),
            (Line, b'\r') => Some(LastLf),
            (Line, _) => Some(Trailer),
            (Trailer, b'\r') => Some(TrailerLf),
            (Trailer, _) => Some(Trailer),
            (TrailerLf, b'\n') => Some(Line),
            (LastLf, b'\n') => Some(End),
            _ => None,
        }
    }
}
