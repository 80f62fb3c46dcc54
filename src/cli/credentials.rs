//! The token that proves to the server who writes: from the environment, or from the data folder of a server on this machine.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::globals::Globals;
use crate::adapters::data_folder::TOKEN_FILE;

const VARIABLE: &str = "JACUZZI_TOKEN";

/// Why there is no token to send.
#[derive(Debug, Error)]
pub enum NoToken {
    #[error("a write needs a token, but {VARIABLE} is not set and {} does not exist: set it, or give the server's data folder with --data-dir", .0.display())]
    NoFile(PathBuf),
    #[error(
        "a write needs a token for a server on another machine: set {VARIABLE}, or give a data folder with --data-dir"
    )]
    Elsewhere,
    #[error("cannot read the token in {} (run this as the server's user, or set {VARIABLE})", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the token in {0} is empty or has characters that no token has")]
    Malformed(String),
}

/// The token to send.
pub(super) fn token(globals: &Globals) -> Result<String, NoToken> {
    if let Ok(token) = env::var(VARIABLE) {
        return checked(&token, VARIABLE.to_owned());
    }
    // A token never goes to another machine unless somebody said which.
    if globals.data_dir.is_none() && !globals.server.is_loopback() {
        return Err(NoToken::Elsewhere);
    }
    let path = globals.data_folder().join(TOKEN_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => checked(&text, path.display().to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(NoToken::NoFile(path)),
        Err(source) => Err(NoToken::Unreadable { path, source }),
    }
}

fn checked(text: &str, from: String) -> Result<String, NoToken> {
    let token = text.trim();
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_token { Ok(token.to_owned()) } else { Err(NoToken::Malformed(from)) }
}
