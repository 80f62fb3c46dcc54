//! The server of the simulation: the real decision code, a journal that is a list, and crashes between the two.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::domain::allocator::{self, WriteCommand};
use crate::domain::dispatcher::{self, ClaimId, Granted, JobId, Next, OfferId, Reply as DispatcherReply, RunResult};
use crate::domain::fleet::{self, BuilderRule, Definition, JobClass, Pool, WorkerClass, WorkerRange};
use crate::domain::{Author, BuilderName, Command, Event, Farm, PoolName, Reply, Timestamp, Volatile, WorkerName};
use crate::sim::Chance;

/// What a master asks for.
#[derive(Debug, Clone)]
pub enum Call {
    Submit { key: String, job: Box<dispatcher::NewJob> },
    Claim { id: OfferId, offer: dispatcher::Offer },
    Withdraw { id: OfferId },
    Heartbeat { claim: ClaimId, token: dispatcher::Token },
    Finish { claim: ClaimId, token: dispatcher::Token, result: RunResult },
}

/// What it is told.
#[derive(Debug, Clone)]
pub enum Answer {
    Submitted {
        key: String,
        job: JobId,
    },
    Claimed {
        offer: OfferId,
        claims: Vec<Granted>,
    },
    Heartbeat {
        claim: ClaimId,
        ok: bool,
    },
    Finished {
        claim: ClaimId,
        ok: bool,
    },
    /// A claim call came to nothing.
    Nothing {
        offer: OfferId,
    },
}

/// Numbers for the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stats {
    pub runs: u64,
    pub lost: u64,
}

pub struct Server {
    farm: Farm,
    volatile: Volatile,
    /// What the clock of the server is ahead, in microseconds.
    offset: i64,
    /// The last time that the server saw: it never runs backwards.
    latest: Timestamp,
    journal: Vec<Event>,
    /// Events behind this are decided, and not yet durable.
    synced: usize,
    /// An earlier state, as a snapshot holds it, with the length of the journal then.
    snapshot: Option<(String, usize)>,
    /// Wait for the sync.
    waiting: Vec<(usize, Answer)>,
    ready: Vec<(usize, Answer)>,
    /// Which master's offer is which.
    callers: BTreeMap<OfferId, usize>,
    ended: BTreeSet<JobId>,
    runs: BTreeSet<ClaimId>,
    stats: Stats,
}

impl Server {
    pub fn new(now: Timestamp) -> Self {
        let mut server = Self {
            farm: Farm::default(),
            volatile: Volatile::default(),
            offset: 0,
            latest: now,
            journal: Vec::new(),
            synced: 0,
            snapshot: None,
            waiting: Vec::new(),
            ready: Vec::new(),
            callers: BTreeMap::new(),
            ended: BTreeSet::new(),
            runs: BTreeSet::new(),
            stats: Stats::default(),
        };
        let author = Author::new("simulation");
        let define = fleet::Command::Define { definition: Box::new(definition()), author: author.clone() };
        server.carry_out(now, define.into());
        let write = WriteCommand {
            write: allocator::Write::Replace(allocations()),
            author,
            reason: None,
            expected: None,
            force: true,
            bad_names: Vec::new(),
        };
        server.carry_out(now, allocator::Command::Write(write).into());
        server.sync();
        server
    }

    /// The state as masters may rely on it; look only when all is synced.
    pub fn farm(&self) -> &Farm {
        &self.farm
    }

    pub fn has_ended(&self, job: JobId) -> bool {
        self.ended.contains(&job)
    }

    /// The claim's run has ended.
    pub fn has_run(&self, claim: ClaimId) -> bool {
        self.runs.contains(&claim)
    }

    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// When the server wakes by itself, on the clock of the world.
    pub fn deadline(&self) -> Option<Timestamp> {
        let deadline = self.farm.next_deadline(&self.volatile)?;
        Some(Timestamp::from_unix_micros(deadline.unix_micros() - self.offset))
    }

    /// Its clock jumps by so many microseconds.
    pub fn jump(&mut self, by: i64) {
        self.offset += by;
    }

    pub fn tick(&mut self, now: Timestamp) {
        self.carry_out(now, dispatcher::Command::Tick.into());
    }

    pub fn call(&mut self, now: Timestamp, caller: usize, call: Call) {
        let author = Author::new("master");
        let answer = match call {
            Call::Submit { key, job } => {
                let submit = dispatcher::Command::Submit { jobs: vec![*job], author };
                match self.carry_out(now, submit.into()) {
                    Some(Reply::Dispatcher(DispatcherReply::Jobs(jobs))) => {
                        Some(Answer::Submitted { key, job: jobs[0].id })
                    }
                    _ => None,
                }
            }
            Call::Claim { id, offer } => {
                self.callers.insert(id, caller);
                match self.carry_out(now, dispatcher::Command::Offer { id, offer }.into()) {
                    None => Some(Answer::Nothing { offer: id }),
                    Some(Reply::Dispatcher(DispatcherReply::Repeated(claims))) => {
                        Some(Answer::Claimed { offer: id, claims })
                    }
                    Some(_) => None,
                }
            }
            Call::Withdraw { id } => {
                self.carry_out(now, dispatcher::Command::Withdraw { offer: id }.into());
                // Otherwise it was answered, and that answer is on its way or lost.
                self.callers.remove(&id).map(|_| Answer::Nothing { offer: id })
            }
            Call::Heartbeat { claim, token } => {
                let ok = self.carry_out(now, dispatcher::Command::Heartbeat { claim, token }.into()).is_some();
                Some(Answer::Heartbeat { claim, ok })
            }
            Call::Finish { claim, token, result } => {
                let finish = dispatcher::Command::Finish { claim, token, result, author };
                Some(Answer::Finished { claim, ok: self.carry_out(now, finish.into()).is_some() })
            }
        };
        self.waiting.extend(answer.map(|answer| (caller, answer)));
    }

    fn carry_out(&mut self, now: Timestamp, command: Command) -> Option<Reply> {
        let clock = Timestamp::from_unix_micros(now.unix_micros() + self.offset);
        self.latest = self.latest.max(clock);
        let done = self.farm.carry_out(&mut self.volatile, self.latest, command).ok()?;
        for event in &done.events {
            if let Event::Dispatcher(dispatcher::Event::Claimed { offer, claims, time, .. }) = event
                && let Some(caller) = self.callers.remove(offer)
            {
                let claims = claims.iter().map(|claim| self.farm.jobs.granted(claim, *time)).collect();
                self.waiting.push((caller, Answer::Claimed { offer: *offer, claims }));
            }
        }
        self.journal.extend(done.events);
        Some(done.reply)
    }

    /// All that was decided is durable, and may be told.
    pub fn sync(&mut self) {
        for event in &self.journal[self.synced..] {
            note(event, &mut self.ended, &mut self.runs, &mut self.stats);
        }
        self.synced = self.journal.len();
        self.ready.append(&mut self.waiting);
    }

    /// Loses everything but the journal. What was decided since the last sync
    /// is in it or not; nobody is told in either case.
    pub fn crash(&mut self, now: Timestamp, is_durable: bool, chance: &mut Chance) -> Result<(), String> {
        self.waiting.clear();
        if is_durable {
            self.sync();
        } else {
            self.journal.truncate(self.synced);
        }
        let recovered = self.recover()?;
        if is_durable {
            same(&recovered, &self.farm)?;
        }
        self.farm = recovered;
        self.volatile = Volatile::of(&self.farm, self.latest);
        self.callers.clear();
        if chance.in_thousand(300) {
            let state = serde_json::to_string(&self.farm).map_err(|error| error.to_string())?;
            self.snapshot = Some((state, self.journal.len()));
        }
        // It takes a while to come back.
        self.latest = self.latest.max(now.after(Duration::from_millis(chance.bits() % 3_000)));
        Ok(())
    }

    /// From the snapshot, if there is one, and the journal behind it.
    fn recover(&self) -> Result<Farm, String> {
        let (mut farm, from) = match &self.snapshot {
            Some((state, from)) => (serde_json::from_str(state).map_err(|error| error.to_string())?, *from),
            None => (Farm::default(), 0),
        };
        for event in &self.journal[from..] {
            let record = serde_json::to_string(event).map_err(|error| error.to_string())?;
            farm.apply(&serde_json::from_str(&record).map_err(|error| error.to_string())?);
        }
        Ok(farm)
    }

    pub fn answers(&mut self) -> Vec<(usize, Answer)> {
        std::mem::take(&mut self.ready)
    }
}

fn note(event: &Event, ended: &mut BTreeSet<JobId>, runs: &mut BTreeSet<ClaimId>, stats: &mut Stats) {
    let Event::Dispatcher(event) = event else { return };
    match event {
        dispatcher::Event::Cancelled { job, .. } => drop(ended.insert(*job)),
        dispatcher::Event::RunEnded(run) => {
            runs.insert(run.claim);
            stats.runs += 1;
            stats.lost += u64::from(run.result == RunResult::Lost);
            if run.next != Next::Waits {
                ended.insert(run.job);
            }
        }
        dispatcher::Event::Submitted { .. }
        | dispatcher::Event::Claimed { .. }
        | dispatcher::Event::Remembered { .. }
        | dispatcher::Event::Quarantined { .. }
        | dispatcher::Event::Released { .. } => {}
    }
}

/// A replay leads to the same state, whatever order its tables are in.
fn same(one: &Farm, other: &Farm) -> Result<(), String> {
    let claims =
        |farm: &Farm| -> BTreeMap<_, _> { farm.jobs.claims().map(|(id, running)| (id, running.clone())).collect() };
    let jobs = |farm: &Farm| -> BTreeMap<_, _> { farm.jobs.all().map(|(id, job)| (id, job.clone())).collect() };
    if claims(one) != claims(other) || jobs(one) != jobs(other) {
        return Err("the journal leads to another state than the one that was in force".into());
    }
    if (one.jobs.last_job(), one.jobs.last_claim(), one.jobs.health())
        != (other.jobs.last_job(), other.jobs.last_claim(), other.jobs.health())
    {
        return Err("the journal leads to other counts or quarantines than those in force".into());
    }
    Ok(())
}

/// Two pools; a jacuzzi of two workers, and one that shares one of them.
fn definition() -> Definition {
    let pool = |name: &str, workers: &str| Pool {
        name: PoolName::parse(name).expect("a name"),
        workers: vec![WorkerRange::parse(workers).expect("a range")],
        class: WorkerClass::Spot,
        options: fleet::Options::default(),
    };
    let rule = |pattern: &str, pool: &str| BuilderRule {
        pattern: pattern.to_owned(),
        pool: PoolName::parse(pool).expect("a name"),
        requires: Default::default(),
        class: JobClass::Normal,
        options: fleet::Options::default(),
        cadence: None,
    };
    Definition {
        name: "faults".into(),
        pools: vec![pool("a", "w-{00..05}"), pool("b", "w-{06..11}")],
        builders: vec![rule("^a", "a"), rule("^b", "b")],
        ..Definition::default()
    }
}

fn allocations() -> allocator::Builders {
    let list = |builder: &str, workers: &[usize]| {
        (BuilderName::parse(builder).expect("a name"), workers.iter().map(|at| worker(*at)).collect())
    };
    [list("a1", &[0, 1]), list("a2", &[1, 2]), list("b1", &[6])].into_iter().collect()
}

/// The worker of this number.
pub fn worker(at: usize) -> WorkerName {
    WorkerName::parse(&format!("w-{at:02}")).expect("a name")
}

/// A builder of each kind: with a jacuzzi, with one that overlaps, without.
pub const BUILDERS: [&str; 5] = ["a1", "a2", "a3", "b1", "b2"];
