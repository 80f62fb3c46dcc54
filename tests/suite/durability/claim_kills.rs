//! A server that is killed while masters submit, claim and finish has forgotten no job and no claim that it acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::load::{Client, Heard, serve};
use super::verify;
use crate::suite::dice::{Dice, number_from};
use crate::suite::server::{Home, Server};

/// Workers of their own for each master; jobs go to whoever is first.
const FARM: &str = r#"
[farm]
name = "claims"

[[pools]]
name = "linux"
workers = ["w0-{0..7}", "w1-{0..7}", "w2-{0..7}", "w3-{0..7}"]

[[builders]]
match = '^build '
pool = "linux"
"#;

const MASTERS: u64 = 4;
const WORKERS: u64 = 8;

/// So that starts read a snapshot and replay what is behind it, too.
const SNAPSHOT_EVERY: u32 = 150;

/// About so many calls of each kind are made again after a kill.
const REPEATED: u64 = 10;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A call, and what came back.
#[derive(Debug, Clone)]
struct Said {
    call: Call,
    heard: Heard,
}

#[derive(Debug, Clone)]
enum Call {
    Submit { keys: Vec<String> },
    Claim { offer: Value },
    Finish { claim: Claim, result: &'static str },
}

/// What a master knows of a claim.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    id: String,
    token: String,
    job: String,
    worker: String,
}

impl Claim {
    fn all_in(answer: &Value) -> Vec<Self> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let one = |claim: &Value| Self {
            id: text(&claim["id"]),
            token: text(&claim["token"]),
            job: text(&claim["job"]["id"]),
            worker: text(&claim["worker"]),
        };
        answer["claims"].as_array().unwrap().iter().map(one).collect()
    }

    fn call(&self, client: &Client, what: &str, mut body: Value) -> Heard {
        body["token"] = json!(self.token);
        client.write("POST", &format!("/v1/claims/{}/{what}", self.id), body.to_string().as_bytes())
    }
}

impl Call {
    fn make(&self, client: &Client) -> Heard {
        match self {
            Self::Submit { keys } => {
                let job = |key| json!({"builder": "build x", "idempotency_key": key, "payload": key});
                let jobs: Vec<_> = keys.iter().map(job).collect();
                client.write("POST", "/v1/jobs", json!(jobs).to_string().as_bytes())
            }
            Self::Claim { offer } => client.write("POST", "/v1/claims", offer.to_string().as_bytes()),
            Self::Finish { claim, result } => claim.call(client, "finish", json!({"result": result})),
        }
    }
}

/// Which of its workers a master believes to be idle, and what it does next.
struct Master {
    number: u64,
    client: Client,
    dice: Dice,
    tag: String,
    calls: u64,
    running: Vec<Claim>,
}

impl Master {
    fn next(&mut self) -> Call {
        self.calls += 1;
        let key = format!("{}-{}-{}", self.tag, self.number, self.calls);
        if !self.running.is_empty() && self.dice.one_in(2) {
            let claim = self.running.swap_remove(self.dice.within(0..self.running.len() as u64) as usize);
            return Call::Finish { claim, result: self.dice.one_of(["success", "failure", "retry"]) };
        }
        let busy: BTreeSet<_> = self.running.iter().map(|claim| claim.worker.as_str()).collect();
        let workers = (0..WORKERS).map(|worker| format!("w{}-{worker}", self.number));
        let idle: Vec<_> = workers.filter(|worker| !busy.contains(worker.as_str())).collect();
        if idle.is_empty() || self.dice.one_in(2) {
            let keys = (0..self.dice.within(1..6)).map(|job| format!("{key}-{job}"));
            return Call::Submit { keys: keys.collect() };
        }
        let session = format!("master-{}", self.number);
        let (max, wait) = (self.dice.within(1..4), self.dice.one_of([0.0, 0.02]));
        Call::Claim {
            offer: json!({"workers": idle, "session": session, "idempotency_key": key, "max": max, "wait": wait}),
        }
    }

    /// Calls until one has no answer.
    fn work(mut self, done: &mpsc::Sender<()>) -> Vec<Said> {
        let mut all = Vec::new();
        loop {
            let call = self.next();
            let heard = call.make(&self.client);
            if let (Call::Claim { .. }, Heard::Made(answer)) = (&call, &heard) {
                self.running.extend(Claim::all_in(answer));
            }
            let is_last = matches!(heard, Heard::Nothing);
            all.push(Said { call, heard });
            if is_last {
                return all;
            }
            done.send(()).ok();
        }
    }
}

/// All that was acknowledged, as it must be found again.
#[derive(Default)]
struct Ledger {
    /// Jobs by idempotency key.
    jobs: BTreeMap<String, String>,
    /// Claim calls that were answered with claims, by their offers.
    calls: BTreeMap<String, (Value, BTreeSet<Claim>)>,
    running: BTreeSet<Claim>,
    ended: BTreeSet<String>,
    /// Calls without an answer: they were carried out, or not.
    open: Vec<Call>,
}

impl Ledger {
    fn note(&mut self, said: Vec<Said>) {
        for Said { call, heard } in said {
            match heard {
                Heard::Made(answer) => self.made(&call, &answer),
                // No job in time.
                Heard::Refused { status: 204, .. } => assert!(matches!(call, Call::Claim { .. }), "{call:?}"),
                Heard::Refused { .. } => panic!("{call:?} was refused: {heard:?}"),
                Heard::Nothing => self.open.push(call),
            }
        }
    }

    fn made(&mut self, call: &Call, answer: &Value) {
        match call {
            Call::Submit { keys } => {
                let jobs = answer["jobs"].as_array().unwrap();
                assert_eq!(jobs.len(), keys.len());
                for (key, job) in keys.iter().zip(jobs) {
                    let id = job["id"].as_str().unwrap();
                    let before = self.jobs.insert(key.clone(), id.to_owned());
                    assert!(before.as_deref().is_none_or(|before| before == id), "{key}: {before:?}, and now {id}");
                }
            }
            Call::Claim { offer } => {
                let claims: BTreeSet<_> = Claim::all_in(answer).into_iter().collect();
                let key = offer["idempotency_key"].as_str().unwrap().to_owned();
                self.running.extend(claims.iter().cloned());
                self.calls.insert(key, (offer.clone(), claims));
            }
            Call::Finish { claim, result } => {
                assert!(self.running.remove(claim), "{claim:?}");
                if *result != "retry" || answer["next"] == "given_up" {
                    self.ended.insert(claim.job.clone());
                }
            }
        }
    }

    /// Calls that got no answer are made again: whatever the first one came to, now it is known.
    fn settle(&mut self, client: &Client, server: &Server) {
        for call in std::mem::take(&mut self.open) {
            match (call.make(client), &call) {
                (Heard::Made(answer), _) => self.made(&call, &answer),
                (Heard::Refused { status: 204, .. }, Call::Claim { .. }) => {}
                // The first one was carried out; the job has ended, or waits for another attempt.
                (Heard::Refused { status: 409, .. }, Call::Finish { claim, result }) => {
                    self.running.remove(claim);
                    let is_over = server.get(&format!("/v1/jobs/{}", claim.job)).json()["state"] == "ended";
                    assert!(is_over || *result == "retry", "{claim:?} has ended, but its job has not");
                    if is_over {
                        self.ended.insert(claim.job.clone());
                    }
                }
                (heard, _) => panic!("{call:?}, made again: {heard:?}"),
            }
        }
    }

    fn check(&mut self, home: &Home, server: &Server, dice: &mut Dice) {
        let client = Client::new(home, server);
        // The leases of those who live have not run out meanwhile.
        let mut live = BTreeSet::new();
        for claim in &self.running {
            let answer = claim.call(&client, "heartbeat", json!({}));
            // A finish without an answer may have ended it, and another master may have the job by now.
            let is_unsure = |call: &Call| matches!(call, Call::Finish { claim: finished, .. } if finished == claim);
            match answer {
                Heard::Made(_) => assert!(live.insert(&claim.job), "{} runs under two tokens", claim.job),
                Heard::Refused { status: 409, .. } if self.open.iter().any(is_unsure) => {}
                Heard::Refused { .. } | Heard::Nothing => panic!("{claim:?}: {answer:?}"),
            }
        }
        self.settle(&client, server);
        let listed = all_jobs(server);
        for claim in &self.running {
            assert_eq!(listed.get(&claim.job), Some(&Some(claim.id.clone())), "{claim:?}");
        }
        for job in self.jobs.values() {
            assert_eq!(listed.contains_key(job), !self.ended.contains(job), "job {job}");
        }
        let runs = listed.values().flatten().count();
        assert_eq!(runs, self.running.len(), "nothing runs that nobody was told of");
        self.repeat(&client, dice);
    }

    /// Some calls that were answered are made once more, and answered the same.
    fn repeat(&self, client: &Client, dice: &mut Dice) {
        let share = |of: usize| of as u64 / REPEATED + 1;
        for (key, id) in self.jobs.iter().filter(|_| dice.one_in(share(self.jobs.len()))) {
            let Heard::Made(answer) = (Call::Submit { keys: vec![key.clone()] }).make(client) else { panic!("{key}") };
            assert_eq!((&answer["jobs"][0]["id"], &answer["jobs"][0]["known"]), (&json!(id), &json!(true)));
        }
        for (offer, claims) in self.calls.values().filter(|_| dice.one_in(share(self.calls.len()))) {
            let Heard::Made(answer) = (Call::Claim { offer: offer.clone() }).make(client) else { panic!("{offer}") };
            assert_eq!(&Claim::all_in(&answer).into_iter().collect::<BTreeSet<_>>(), claims, "{offer}");
        }
    }
}

/// Every job that has not ended, with the claim under which it runs.
fn all_jobs(server: &Server) -> BTreeMap<String, Option<String>> {
    let (mut all, mut after) = (BTreeMap::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/jobs?limit=1000{after}")).json();
        for job in page["jobs"].as_array().unwrap() {
            let claim = job["running"]["claim"].as_str().map(str::to_owned);
            let twice = all.insert(job["id"].as_str().unwrap().to_owned(), claim);
            assert!(twice.is_none(), "{job} is listed twice");
        }
        let Some(next) = page["next_after"].as_str() else { return all };
        after = format!("&after={next}");
    }
}

#[test]
fn kill_9_forgets_no_job_and_no_claim() {
    let kills = number_from("JACUZZI_CLAIM_KILLS").unwrap_or(50);
    let mut dice = Dice::seeded(7);
    let (home, mut ledger) = (Home::new(FARM), Ledger::default());
    for kill in 0..kills {
        let server = serve(&home, SNAPSHOT_EVERY).start();
        ledger.check(&home, &server, &mut dice);
        let (done, answered) = mpsc::channel();
        let masters: Vec<JoinHandle<_>> = (0..MASTERS)
            .map(|number| {
                let prefix = format!("w{number}-");
                let running = ledger.running.iter().filter(|claim| claim.worker.starts_with(&prefix)).cloned();
                let (client, tag) = (Client::new(&home, &server), kill.to_string());
                let master = Master { number, client, dice: dice.split(), tag, calls: 0, running: running.collect() };
                let done = done.clone();
                thread::spawn(move || master.work(&done))
            })
            .collect();
        for _ in 0..dice.within(0..60) {
            answered.recv_timeout(PATIENCE).expect("masters are answered");
        }
        let moment = Instant::now() + Duration::from_micros(dice.within(0..4000));
        while answered.recv_timeout(moment.saturating_duration_since(Instant::now())).is_ok() {}
        server.kill9();
        ledger.note(masters.into_iter().flat_map(|master| master.join().unwrap()).collect());
        if kill % 10 == 0 {
            verify(&home);
        }
    }
    ledger.check(&home, &serve(&home, SNAPSHOT_EVERY).start(), &mut dice);
    verify(&home);
    let Ledger { jobs, calls, running, ended, .. } = &ledger;
    let counts = [jobs.len(), calls.len(), running.len(), ended.len()];
    eprintln!("{kills} kills: jobs, claim calls, running, ended: {counts:?}");
}
