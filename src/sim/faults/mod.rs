//! Masters, workers and a server on which everything goes wrong that can: to see that every job ends all the same, and runs once at a time.
//!
//! The server loses its memory at any append, before or after the records are
//! durable, and comes back from its journal. Calls and answers are lost,
//! heartbeats come late, masters forget what they run, clocks jump. All of it
//! follows from a seed.

mod master;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use std::time::Duration;

use serde::Serialize;

use super::Chance;
use crate::domain::Timestamp;
use crate::domain::dispatcher::{ClaimId, JobId, Token};
use master::Master;
use server::Server;

const MASTERS: usize = 4;
const WORKERS_EACH: usize = 3;
const JOBS_EACH: u64 = 12;

/// Nothing goes wrong any more from here on, so that all can end.
const CALM_AFTER: Duration = Duration::from_secs(1_800);

/// By then every job has ended, or never will.
const HORIZON: Duration = Duration::from_secs(48 * 3_600);

/// What happened under one seed, or under several.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    pub seeds: u64,
    pub jobs: u64,
    pub runs: u64,
    pub crashes: u64,
    pub lost_messages: u64,
    pub leases_lost: u64,
    pub clock_jumps: u64,
}

impl AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.jobs += other.jobs;
        self.runs += other.runs;
        self.crashes += other.crashes;
        self.lost_messages += other.lost_messages;
        self.leases_lost += other.leases_lost;
        self.clock_jumps += other.clock_jumps;
    }
}

/// A promise that was broken, with the seed that shows it again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, at {at}: {what}")]
pub struct Broken {
    pub seed: u64,
    pub at: Timestamp,
    pub what: String,
}

/// How often things go wrong, in thousandths.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    crash: u32,
    lost: u32,
    late_heartbeat: u32,
    forgetful_master: u32,
    clock_jump: u32,
}

impl Trouble {
    const NONE: Self = Self { crash: 0, lost: 0, late_heartbeat: 0, forgetful_master: 0, clock_jump: 0 };

    /// Some runs see a little of everything, some a lot of one thing.
    fn of(chance: &mut Chance) -> Self {
        let mut upto = |most: u32| chance.bits() as u32 % (most + 1);
        Self {
            crash: upto(50),
            lost: upto(200),
            late_heartbeat: upto(250),
            forgetful_master: upto(8),
            clock_jump: upto(12),
        }
    }
}

/// Plays one seed.
///
/// # Errors
/// The first promise that is broken.
pub fn run(seed: u64) -> Result<Report, Broken> {
    World::new(seed).play()
}

struct World {
    seed: u64,
    now: Timestamp,
    chance: Chance,
    trouble: Trouble,
    server: Server,
    masters: Vec<Master>,
    /// When each master wants to do something.
    agenda: BTreeSet<(Timestamp, usize)>,
    report: Report,
    /// What masters were told, which must stay true.
    told: Told,
}

/// Acknowledged facts.
#[derive(Default)]
struct Told {
    jobs: BTreeMap<String, JobId>,
    claims: BTreeMap<ClaimId, (Token, JobId)>,
    finished: BTreeSet<ClaimId>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut chance = Chance::seeded(seed);
        let trouble = Trouble::of(&mut chance);
        let now = Timestamp::from_unix_seconds(1_400_000_000);
        let masters: Vec<_> = (0..MASTERS).map(|at| Master::new(at, chance.split())).collect();
        let agenda = (0..MASTERS).map(|at| (now, at)).collect();
        let server = Server::new(now);
        let report = Report { seeds: 1, ..Report::default() };
        Self { seed, now, chance, trouble, server, masters, agenda, report, told: Told::default() }
    }

    fn play(mut self) -> Result<Report, Broken> {
        let begun = self.now;
        while !self.is_over() {
            if self.now > begun.after(CALM_AFTER) {
                self.trouble = Trouble::NONE;
            }
            if self.now > begun.after(HORIZON) {
                return Err(self.broken(format!("{} jobs have not ended", self.server.farm().jobs.all().count())));
            }
            self.step()?;
        }
        let stats = self.server.stats();
        Ok(Report { jobs: self.told.jobs.len() as u64, runs: stats.runs, leases_lost: stats.lost, ..self.report })
    }

    fn is_over(&self) -> bool {
        self.masters.iter().all(Master::has_submitted_all) && self.server.farm().jobs.all().next().is_none()
    }

    /// The next thing that is due: the server's deadline or a master's turn.
    fn step(&mut self) -> Result<(), Broken> {
        let (turn, master) = *self.agenda.first().expect("every master is on the agenda");
        let deadline = self.server.deadline().filter(|deadline| *deadline < turn);
        self.now = self.now.max(deadline.unwrap_or(turn));
        if self.chance.in_thousand(self.trouble.clock_jump) {
            self.report.clock_jumps += 1;
            self.server.jump(self.chance.bits() as i64 % 120_000_000);
        }
        if deadline.is_some() {
            self.server.tick(self.now);
        } else {
            self.agenda.pop_first();
            let next = self.turn(master)?;
            self.agenda.insert((next, master));
        }
        if self.chance.in_thousand(self.trouble.crash) {
            self.report.crashes += 1;
            // What was decided and not yet synced is lost, or was synced before anybody was told.
            let is_durable = self.chance.in_thousand(500);
            self.server.crash(self.now, is_durable, &mut self.chance).map_err(|what| self.broken(what))?;
        } else {
            self.server.sync();
        }
        self.deliver()?;
        self.check()
    }

    /// Lets a master act; answers when it wants to act again.
    fn turn(&mut self, at: usize) -> Result<Timestamp, Broken> {
        let master = &mut self.masters[at];
        if self.chance.in_thousand(self.trouble.forgetful_master) {
            master.forget();
        }
        let late = self.trouble.late_heartbeat;
        for call in master.calls(self.now, late) {
            // A call that is lost never reaches the server.
            if self.chance.in_thousand(self.trouble.lost) {
                self.report.lost_messages += 1;
            } else {
                self.server.call(self.now, at, call);
            }
        }
        Ok(self.masters[at].next_turn(self.now))
    }

    /// Hands out the answers that are durable, save those that are lost on the way.
    fn deliver(&mut self) -> Result<(), Broken> {
        for (at, answer) in self.server.answers() {
            if self.chance.in_thousand(self.trouble.lost) {
                self.report.lost_messages += 1;
                continue;
            }
            let checked = self.told.take(&answer);
            checked.map_err(|what| self.broken(what))?;
            self.masters[at].hear(self.now, answer);
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Broken> {
        self.told.holds(&self.server).map_err(|what| self.broken(what))?;
        let live = self.masters.iter().flat_map(Master::held);
        let jobs = &self.server.farm().jobs;
        let mut running = BTreeSet::new();
        for (claim, token) in live {
            if let Some(run) = jobs.claim(claim).filter(|run| run.token == token)
                && !running.insert(run.job)
            {
                return Err(self.broken(format!("job {} runs twice under live tokens", run.job)));
            }
        }
        Ok(())
    }

    fn broken(&self, what: String) -> Broken {
        Broken { seed: self.seed, at: self.now, what }
    }
}

impl Told {
    /// Notes what an answer says; it must not contradict an earlier one.
    fn take(&mut self, answer: &server::Answer) -> Result<(), String> {
        match answer {
            server::Answer::Submitted { key, job } => match self.jobs.insert(key.clone(), *job) {
                Some(other) if other != *job => Err(format!("key {key} is job {other}, and then job {job}")),
                _ => Ok(()),
            },
            server::Answer::Claimed { claims, .. } => {
                for claim in claims {
                    let now = (claim.token, claim.job);
                    if self.claims.insert(claim.id, now).is_some_and(|before| before != now) {
                        return Err(format!("claim {} was another one before", claim.id));
                    }
                }
                Ok(())
            }
            server::Answer::Finished { claim, ok: true } if !self.finished.insert(*claim) => {
                Err(format!("claim {claim} was finished twice"))
            }
            server::Answer::Finished { .. } | server::Answer::Heartbeat { .. } | server::Answer::Nothing { .. } => {
                Ok(())
            }
        }
    }

    /// Whatever was acknowledged is there, or has ended.
    fn holds(&self, server: &Server) -> Result<(), String> {
        let jobs = &server.farm().jobs;
        for job in self.jobs.values() {
            if jobs.job(*job).is_none() && !server.has_ended(*job) {
                return Err(format!("job {job} was acknowledged, and is gone"));
            }
        }
        for (claim, (token, job)) in &self.claims {
            match jobs.claim(*claim) {
                Some(run) if (run.token, run.job) != (*token, *job) => {
                    return Err(format!("claim {claim} is not what was acknowledged"));
                }
                Some(_) if self.finished.contains(claim) => {
                    return Err(format!("claim {claim} was finished, and runs again"));
                }
                None if !server.has_run(*claim) => return Err(format!("claim {claim} was acknowledged, and is gone")),
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few seeds, without optimisation; `tests/run simulate` plays many.
    #[test]
    fn every_promise_holds() {
        let seeds = 60;
        let mut sum = Report::default();
        for seed in 0..seeds {
            sum += run(seed).unwrap_or_else(|broken| panic!("{broken}"));
        }
        // The trouble was really there.
        assert_eq!(sum.jobs, seeds * JOBS_EACH * MASTERS as u64);
        assert!(sum.runs > sum.jobs && sum.crashes > seeds && sum.leases_lost > seeds && sum.lost_messages > seeds);
        assert!(sum.clock_jumps > 0);
    }

    #[test]
    fn a_seed_is_played_the_same_way_again() {
        assert_eq!(run(7), run(7));
    }
}
