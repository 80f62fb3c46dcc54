//! What a long-running command says of trouble: each kind once, and once that it is over.

use super::print::say;

#[derive(Debug, Default)]
pub(super) struct Trouble {
    said: Option<String>,
}

impl Trouble {
    /// Says it, unless that was the last thing said.
    pub(super) fn met(&mut self, what: String) {
        if self.said.as_ref() != Some(&what) {
            say(&what);
            self.said = Some(what);
        }
    }

    pub(super) fn over(&mut self) {
        if self.said.take().is_some() {
            say("this is over; following again");
        }
    }
}
