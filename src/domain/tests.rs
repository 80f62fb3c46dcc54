//! What concerns all parts of the farm together.

use super::access::{self, Role, TokenHash};
use super::allocator::{self, Builders, Write, WriteCommand};
use super::{Author, Command, Farm, Refusal, Timestamp, TokenName, Volatile};

fn carry_out(farm: &mut Farm, command: Command) -> Result<usize, Refusal> {
    let done = farm.carry_out(&mut Volatile::default(), Timestamp::from_unix_seconds(0), command)?;
    Ok(done.events.len())
}

#[test]
fn a_command_that_waits_while_its_token_is_revoked_is_refused() {
    let mut farm = Farm::default();
    let (author, hash) = (Author::new("start"), |byte| TokenHash::new([byte; 32]));
    for (name, byte) in [("first", 1), ("second", 2)] {
        let name = TokenName::parse(name).unwrap();
        let add =
            access::Command::Add { name, role: Role::Operator, hash: hash(byte), author: author.clone(), reason: None };
        carry_out(&mut farm, add.into()).unwrap();
    }
    let write = || WriteCommand {
        write: Write::Replace(Builders::new()),
        author: author.clone(),
        reason: None,
        expected: None,
        force: false,
        bad_names: Vec::new(),
    };
    let by =
        |byte| Command::Authorized { token: hash(byte), command: Box::new(allocator::Command::Write(write()).into()) };
    let waiting = by(1);
    assert_eq!(carry_out(&mut farm, by(1)), Ok(1));
    let name = TokenName::parse("first").unwrap();
    carry_out(&mut farm, access::Command::Revoke { name, author: author.clone(), reason: None }.into()).unwrap();
    assert_eq!(carry_out(&mut farm, waiting), Err(Refusal::Access(access::Refusal::TokenRevoked)));
    assert_eq!(carry_out(&mut farm, by(2)), Ok(1));
}
