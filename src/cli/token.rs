//! `jacuzzi token`: who may call the server, and as what.

use std::io::Write;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::client::{Client, decode};
use super::globals::{Globals, Output};
use super::print::{print_json, print_table, printable, say};
use super::target::Target;
use crate::domain::{Timestamp, TokenName};

/// Add, list and revoke the tokens that writes need
#[derive(Debug, Args)]
pub(super) struct Token {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a token, and print it: it is shown this once, and kept nowhere
    Add {
        /// What it is called; its changes stand under this name
        #[arg(value_parser = TokenName::parse)]
        name: TokenName,
        /// What it may be used for
        #[arg(long, value_parser = ["worker", "master", "operator"])]
        role: String,
        /// Why, for the audit log
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// List the tokens: their names and roles, never themselves
    List,
    /// Make a token worthless at once
    Revoke {
        #[arg(value_parser = TokenName::parse)]
        name: TokenName,
        /// Change nothing: only show which token that is
        #[arg(long)]
        dry_run: bool,
    },
}

/// The body of `POST /v1/tokens`
#[derive(Serialize)]
struct NewToken<'a> {
    name: &'a TokenName,
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// Its answer
#[derive(Deserialize)]
struct AddedToken {
    token: String,
}

/// `GET /v1/tokens`
#[derive(Deserialize)]
struct Tokens {
    tokens: Vec<Known>,
}

#[derive(Deserialize)]
struct Known {
    name: TokenName,
    role: String,
    added_by: String,
    added_at: Timestamp,
}

impl Token {
    pub(super) fn run(self, globals: &Globals, out: &mut dyn Write) -> anyhow::Result<()> {
        let client = Client::new(globals);
        match self.action {
            Action::Add { name, role, reason } => {
                let new = NewToken { name: &name, role: &role, reason: reason.as_deref() };
                let answer = client.post_json(&tokens(), &new, None)?;
                match globals.output {
                    Output::Json => print_json(out, &answer)?,
                    Output::Table => writeln!(out, "{}", printable(&decode::<AddedToken>(&answer)?.token))?,
                }
                say(format_args!("this is the token {name:?} ({role}); it is not shown again"));
            }
            Action::List => list(&client, globals.output, out)?,
            Action::Revoke { name, dry_run: true } => would_revoke(&client, &name)?,
            Action::Revoke { name, dry_run: false } => {
                client.delete(&tokens().component(name.as_str()))?;
                say(format_args!("token {name:?} is revoked: whoever still sends it is refused"));
            }
        }
        Ok(())
    }
}

fn tokens() -> Target {
    Target::path("/v1/tokens")
}

fn list(client: &Client, output: Output, out: &mut dyn Write) -> anyhow::Result<()> {
    let answer = client.read_with_token(&tokens())?;
    if output == Output::Json {
        return Ok(print_json(out, &answer)?);
    }
    let Tokens { tokens } = decode(&answer)?;
    let row = |token: Known| {
        [token.name.to_string(), printable(&token.role), token.added_at.to_string(), printable(&token.added_by)]
    };
    Ok(print_table(out, ["NAME", "ROLE", "ADDED", "BY"], tokens.into_iter().map(row))?)
}

fn would_revoke(client: &Client, name: &TokenName) -> anyhow::Result<()> {
    let known: Tokens = decode(&client.read_with_token(&tokens())?)?;
    let found = known.tokens.into_iter().find(|token| token.name == *name);
    let found = found.ok_or_else(|| anyhow::anyhow!("there is no token {name:?}"))?;
    let (role, time, author) = (printable(&found.role), found.added_at, printable(&found.added_by));
    say(format_args!(
        "token {name:?} ({role}, added {time} by {author}) would be revoked; nothing is changed (dry run)"
    ));
    Ok(())
}
