//! What a writer may ask for: every kind of write, drawn by chance, and each on things that are the writer's own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::suite::dice::Dice;

pub type Builders = BTreeMap<String, Vec<String>>;

const BUILDERS_EACH: u64 = 4;
const MACHINES_EACH: u64 = 8;
const LOANS_EACH: u64 = 2;

/// How far a rollback goes back at most, from the newest generation that its writer knows.
const GENERATIONS_BACK: u64 = 20;

/// What one write asked for.
#[derive(Debug, Clone)]
pub struct Intent {
    /// Unlike that of every other write.
    pub reason: String,
    pub ask: Ask,
}

#[derive(Debug, Clone)]
pub enum Ask {
    Patch { set: Builders, unset: BTreeSet<String> },
    PutBuilder { builder: String, machines: Vec<String> },
    DeleteBuilder { builder: String },
    Rollback { generation: u64 },
    PutWorker { worker: String, class: &'static str },
    RemoveWorker { worker: String },
    SetDuty { worker: String, action: &'static str },
    AddToken { token: String },
    RevokeToken { token: String },
}

/// An HTTP request, but for what all of them have.
pub struct Call {
    pub method: &'static str,
    pub target: String,
    pub body: Option<Value>,
}

impl Ask {
    /// Some write, mostly of allocations. `newest` is a generation that is known to be there.
    pub fn any(writer: u64, newest: Option<u64>, dice: &mut Dice) -> Self {
        let loan = format!("loan-{writer}-{}", dice.within(0..LOANS_EACH));
        let token = format!("token-{writer}");
        match dice.within(0..40) {
            0..5 => Self::PutBuilder { builder: builder(writer, dice), machines: machines(writer, dice) },
            5..9 => Self::DeleteBuilder { builder: builder(writer, dice) },
            9..13 => match newest {
                Some(newest) => Self::Rollback { generation: newest - dice.within(0..GENERATIONS_BACK.min(newest)) },
                None => Self::patch(writer, dice),
            },
            13..17 => Self::PutWorker { worker: loan, class: dice.one_of(["inhouse", "spot", "ondemand"]) },
            17..19 => Self::RemoveWorker { worker: loan },
            19..24 => {
                let worker = if dice.one_in(2) { loan } else { machine(writer, dice.within(0..MACHINES_EACH)) };
                Self::SetDuty { worker, action: dice.one_of(["drain", "quarantine", "release"]) }
            }
            24 => Self::AddToken { token },
            25 => Self::RevokeToken { token },
            _ => Self::patch(writer, dice),
        }
    }

    /// A change of several of the writer's builders.
    pub fn patch(writer: u64, dice: &mut Dice) -> Self {
        let (mut set, mut unset) = (BTreeMap::new(), BTreeSet::new());
        for number in 0..BUILDERS_EACH {
            let builder = format!("build {writer}/{number}");
            if dice.one_in(4) {
                unset.insert(builder);
            } else if dice.one_in(2) {
                set.insert(builder, machines(writer, dice));
            }
        }
        Self::Patch { set, unset }
    }

    /// What the audit log calls it, and what it says that it was done to.
    /// `generation` is the one that it made, if it makes any.
    pub fn in_the_audit_log(&self, generation: u64) -> (&'static str, String) {
        let generation = format!("generation {generation}");
        match self {
            Self::Patch { .. } | Self::PutBuilder { .. } | Self::DeleteBuilder { .. } => {
                ("allocations.write", generation)
            }
            Self::Rollback { .. } => ("allocations.rollback", generation),
            Self::PutWorker { worker, .. } => ("worker.put", format!("worker {worker}")),
            Self::RemoveWorker { worker } => ("worker.remove", format!("worker {worker}")),
            Self::SetDuty { worker, action: "drain" } => ("worker.drain", format!("worker {worker}")),
            Self::SetDuty { worker, action: "quarantine" } => ("worker.quarantine", format!("worker {worker}")),
            Self::SetDuty { worker, action: _ } => ("worker.release", format!("worker {worker}")),
            Self::AddToken { token } => ("token.add", format!("token {token}")),
            Self::RevokeToken { token } => ("token.revoke", format!("token {token}")),
        }
    }

    pub fn makes_a_generation(&self) -> bool {
        self.in_the_audit_log(0).0.starts_with("allocations.")
    }

    /// The one refusal that it may meet while all is well: a writer does not look before it asks.
    pub fn lawful_refusal(&self) -> Option<(u16, &'static str)> {
        match self {
            Self::Patch { .. } | Self::PutBuilder { .. } | Self::Rollback { .. } | Self::PutWorker { .. } => None,
            Self::DeleteBuilder { .. } => Some((404, "not_allocated")),
            Self::RemoveWorker { .. } | Self::SetDuty { .. } => Some((404, "no_such_worker")),
            Self::AddToken { .. } => Some((409, "token_exists")),
            Self::RevokeToken { .. } => Some((404, "no_such_token")),
        }
    }
}

impl Intent {
    /// Who asked, in which round, and which of the writer's writes it is.
    pub fn writer_and_number(&self) -> (&str, u64) {
        let (writer, number) = self.reason.rsplit_once('-').expect("a reason ends with the write's number");
        (writer, number.parse().unwrap())
    }

    pub fn call(&self) -> Call {
        let reason = &self.reason;
        let call = |method, target: String, body| Call { method, target, body: Some(body) };
        let delete = |of: String| Call { method: "DELETE", target: format!("{of}?reason={reason}"), body: None };
        match &self.ask {
            Ask::Patch { set, unset } => {
                call("PATCH", "/v1/allocations".into(), json!({"set": set, "unset": unset, "reason": reason}))
            }
            Ask::PutBuilder { builder, machines } => {
                call("PUT", path_of(builder), json!({"machines": machines, "reason": reason}))
            }
            Ask::DeleteBuilder { builder } => delete(path_of(builder)),
            Ask::Rollback { generation } => {
                let body = json!({"generation": generation, "reason": reason});
                call("POST", "/v1/allocations/rollback".into(), body)
            }
            Ask::PutWorker { worker, class } => {
                let body = json!({"pool": "linux", "class": class, "attributes": {"of": reason}, "reason": reason});
                call("PUT", format!("/v1/workers/{worker}"), body)
            }
            Ask::RemoveWorker { worker } => delete(format!("/v1/workers/{worker}")),
            Ask::SetDuty { worker, action } => {
                call("POST", format!("/v1/workers/{worker}/{action}"), json!({"reason": reason}))
            }
            Ask::AddToken { token } => {
                call("POST", "/v1/tokens".into(), json!({"name": token, "role": "worker", "reason": reason}))
            }
            Ask::RevokeToken { token } => delete(format!("/v1/tokens/{token}")),
        }
    }
}

fn path_of(builder: &str) -> String {
    format!("/v1/builders/{}", builder.replace(' ', "%20").replace('/', "%2F"))
}

fn builder(writer: u64, dice: &mut Dice) -> String {
    format!("build {writer}/{}", dice.within(0..BUILDERS_EACH))
}

/// The first few machines of the writer.
fn machines(writer: u64, dice: &mut Dice) -> Vec<String> {
    (0..dice.within(1..MACHINES_EACH + 1)).map(|number| machine(writer, number)).collect()
}

fn machine(writer: u64, number: u64) -> String {
    format!("w-{:02}", writer * MACHINES_EACH + number)
}
