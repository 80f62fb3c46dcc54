//! Small farms at random, on which much happens: every kind of event, in bursts, with ties wherever there can be one.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::suite::dice::Dice;

const MOST_JOBS: usize = 12;
const CLASSES: [&str; 3] = ["inhouse", "spot", "ondemand"];

/// What a farm file can say beyond who works where and which job goes first.
pub const OPTIONS: [&str; 11] = [
    "overflow_after",
    "lend_after",
    "prefer",
    "inhouse_wait",
    "reserve",
    "fair_share_by",
    "on_empty_set",
    "warmth",
    "lease",
    "max_attempts",
    "quarantine_after",
];

/// A scenario of at most eight workers; the same seed makes the same one.
/// Half of them have no option, the others in turn each one alone, each two
/// together, and some of them all.
pub fn scenario(seed: u64) -> Value {
    let mut dice = Dice::of(seed);
    let mixes = OPTIONS.iter().enumerate().flat_map(|(at, one)| OPTIONS[at..].iter().map(move |other| [*one, *other]));
    let mixes: Vec<[&str; 2]> = mixes.collect();
    let turn = seed as usize % (2 * (mixes.len() + 1));
    let options = match mixes.get(turn) {
        Some(mix) => BTreeSet::from(*mix),
        None if turn == mixes.len() => OPTIONS.into_iter().filter(|_| dice.one_in(2)).collect(),
        None => BTreeSet::new(),
    };
    Maker::new(&mut dice, options).scenario()
}

/// The same where nobody says this option, nor one that means nothing without it.
pub fn without(option: &str, scenario: &Value) -> Value {
    let mut scenario = scenario.clone();
    let unsay = |place: &mut Value| {
        let said = place.as_object_mut().unwrap();
        said.retain(|key, _| key != option && (key.as_str(), option) != ("inhouse_wait", "prefer"));
    };
    unsay(&mut scenario["farm"]["farm"]);
    for list in ["pools", "builders"] {
        scenario["farm"][list].as_array_mut().unwrap().iter_mut().for_each(unsay);
    }
    scenario
}

struct Maker<'d> {
    dice: &'d mut Dice,
    pools: usize,
    /// Name and pool.
    workers: Vec<(String, usize)>,
    builders: Vec<(String, usize)>,
    removed: BTreeSet<String>,
    ids: Vec<String>,
    /// Workers that fail again and again.
    grumpy: bool,
    options: BTreeSet<&'static str>,
}

impl<'d> Maker<'d> {
    fn new(dice: &'d mut Dice, options: BTreeSet<&'static str>) -> Self {
        let pools = dice.one_of([1, 1, 1, 2, 3]);
        let workers = (0..dice.within(1..9)).map(|worker| (format!("w{worker}"), dice.within(0..pools) as usize));
        let workers = workers.collect();
        let pools = pools as usize;
        let kinds = ["x-1", "x-2", "y-1", "y-2", "z"];
        let builders = (0..pools).flat_map(|pool| kinds.map(|kind| (format!("p{pool}-{kind}"), pool)));
        let mut builders: Vec<_> = builders.filter(|_| dice.one_in(2)).collect();
        builders.push(("p0-z-last".to_owned(), 0));
        let grumpy = dice.one_in(4) || options.contains("quarantine_after");
        Self { dice, pools, workers, builders, removed: BTreeSet::new(), ids: Vec::new(), grumpy, options }
    }

    fn scenario(mut self) -> Value {
        let farm = self.farm();
        let allocations = self.allocations();
        let history: Vec<Value> = (0..self.dice.within(0..8)).map(|_| self.past_run()).collect();
        let mut events = Vec::new();
        match self.dice.within(0..4) {
            0 => events.extend((0..self.dice.within(1..4)).map(|_| json!({"at": 0, "claim": self.claim()}))),
            1 => {}
            _ => events.push(json!({"at": 0, "idle": self.workers.iter().map(|(name, _)| name).collect::<Vec<_>>()})),
        }
        let first_jobs = if self.options.is_empty() { 0..5 } else { 3..9 };
        for _ in 0..self.dice.within(first_jobs) {
            events.push(json!({"at": 0, "submit": self.job(0.0)}));
        }
        let mut now = 0.0;
        let moments = if self.dice.one_in(6) { 24 } else { 8 };
        for _ in 0..self.dice.within(3..moments) {
            for _ in 0..self.dice.one_of([1, 1, 2, 4]) {
                events.push(self.event(now));
            }
            now += self.dice.one_of([0.5, 1.0, 1.0, 5.0, 5.0, 10.0, 30.0, 60.0]);
        }
        let until = now + self.dice.one_of([-1.0, 10.0, 100.0, 4_000.0]);
        json!({"farm": farm, "allocations": allocations, "events": events, "history": history, "until": until})
    }

    fn is_on(&self, option: &str) -> bool {
        self.options.contains(option)
    }

    fn farm(&mut self) -> Value {
        let mut pools = Vec::new();
        for pool in 0..self.pools {
            let workers = self.workers.iter().filter(|(_, of)| *of == pool).map(|(name, _)| name);
            let said = json!({"name": format!("p{pool}"), "workers": workers.collect::<Vec<_>>()});
            let class = self.dice.one_of(CLASSES);
            pools.push(self.with_options(said));
            pools[pool]["class"] = json!(class);
        }
        let attributes =
            [json!({}), json!({"trust": "core"}), json!({"trust": "low"}), json!({"trust": "core", "ram": "big"})];
        let mut workers = Vec::new();
        for (name, pool) in &self.workers {
            if self.dice.one_in(2) {
                let attributes = &attributes[self.dice.within(0..4) as usize];
                let mut worker = json!({"name": name, "pool": format!("p{pool}"), "attributes": attributes});
                if self.dice.one_in(2) {
                    worker["class"] = json!(self.dice.one_of(CLASSES));
                }
                workers.push(worker);
            }
        }
        let mut builders = Vec::new();
        for pool in 0..self.pools {
            let classes = ["normal", "normal", "normal", "normal", "idle", "release"];
            let requires = &attributes[self.dice.one_of([0, 0, 1, 3])];
            let (class, other_class) = (self.dice.one_of(classes), self.dice.one_of(classes));
            let pattern = format!("^p{pool}");
            let pool = format!("p{pool}");
            let rules = [
                json!({"match": format!("{pattern}-x"), "pool": pool, "requires": requires, "class": class}),
                json!({"match": pattern, "pool": pool, "class": other_class}),
            ];
            builders.extend(rules.map(|rule| self.with_options(rule)));
        }
        let mut farm = json!({"name": "random", "default_priority": self.dice.within(0..4)});
        farm = self.with_options(farm);
        if self.is_on("fair_share_by") {
            farm["fair_share_by"] = json!("project");
        } else {
            farm["ageing_seconds_per_priority"] = json!(self.dice.one_of([0.0, 0.0, 0.5, 1.0, 10.0, 300.0]));
        }
        if self.is_on("inhouse_wait") {
            farm["prefer"] = self.value("prefer");
        }
        json!({
            "farm": farm,
            "pools": pools,
            "workers": workers,
            "branches": [{"name": "z", "priority": 1}, {"name": "z-last", "priority": 2}, {"name": "other", "priority": 0}],
            "builders": builders,
            "allocations": {"max_builders_per_machine": 100, "max_shrink_percent": 100},
        })
    }

    /// This place of the farm file says some of the options.
    fn with_options(&mut self, mut place: Value) -> Value {
        for option in self.options.clone() {
            if option != "fair_share_by" && self.dice.one_in(2) {
                place[option] = self.value(option);
            }
        }
        place
    }

    fn value(&mut self, option: &str) -> Value {
        match option {
            "overflow_after" | "inhouse_wait" => json!(self.dice.one_of([0.0, 0.5, 1.0, 5.0, 5.0, 10.0, 30.0, 60.0])),
            "lend_after" => json!(self.dice.one_of([0.0, 0.5, 1.0, 5.0, 5.0, 10.0, 30.0])),
            "prefer" => {
                let orders: [&[&str]; 4] =
                    [&["spot"], &["inhouse", "spot"], &["ondemand", "inhouse"], &["spot", "ondemand", "inhouse"]];
                json!(self.dice.one_of(orders))
            }
            "reserve" => json!(self.dice.within(0..4)),
            "on_empty_set" => json!(self.dice.one_of(["pool", "pool", "hold"])),
            "warmth" => json!(self.dice.one_of(["none", "none", "recent_success"])),
            "lease" => json!(self.dice.one_of([1, 5, 10, 100])),
            "max_attempts" => json!(self.dice.one_of([1, 2, 3, 7])),
            "quarantine_after" => json!(self.dice.one_of([1, 2, 4])),
            other => panic!("no such option: {other}"),
        }
    }

    /// Each builder's, with some chance: some of its pool's workers.
    fn allocations(&mut self) -> Value {
        let mut lists = Map::new();
        // Few workers each, so that they are not enough, or gone.
        let few = self.is_on("overflow_after") || self.is_on("on_empty_set");
        let share = if few { 1 } else { self.dice.one_of([2, 3, 100]) };
        for (builder, pool) in &self.builders {
            let width = self.dice.one_of(if few { [3, 4, 8] } else { [1, 2, 3] });
            let own = self.workers.iter().filter(|(name, of)| of == pool && !self.removed.contains(name));
            let list: Vec<&String> = own.map(|(name, _)| name).filter(|_| self.dice.one_in(width)).collect();
            if self.dice.one_in(share) && !list.is_empty() {
                lists.insert(builder.clone(), json!(list));
            }
        }
        Value::Object(lists)
    }

    fn past_run(&mut self) -> Value {
        json!({
            "builder": self.builder(),
            "worker": self.worker(),
            "finished_at": self.dice.one_of([-300, -200, -200, -100]),
            "result": self.dice.one_of(["success", "success", "success", "failure"]),
        })
    }

    fn event(&mut self, at: f64) -> Value {
        match self.dice.within(0..30) {
            0..8 if self.ids.len() < MOST_JOBS => json!({"at": at, "submit": self.job(at)}),
            0..12 => json!({"at": at, "idle": self.some_workers()}),
            17..21 if self.is_on("lease") => json!({"at": at, "lost": self.some_workers()}),
            21..26 if self.is_on("on_empty_set") => self.remove(at),
            12..14 if !self.ids.is_empty() => json!({"at": at, "cancel": [self.id()]}),
            14 => json!({"at": at, "lost": self.some_workers()}),
            26..30 => json!({"at": at, "claim": self.claim()}),
            15 => json!({"at": at, "allocate": self.allocations()}),
            16 if self.dice.one_in(2) => json!({"at": at, "drain": [self.worker()]}),
            16 => self.remove(at),
            _ => json!({"at": at, "finish": {"worker": self.worker(), "result": self.result()}}),
        }
    }

    fn remove(&mut self, at: f64) -> Value {
        let worker = self.worker();
        self.removed.insert(worker.clone());
        json!({"at": at, "remove": [worker]})
    }

    fn claim(&mut self) -> Value {
        let width = self.dice.one_of([1, 2, 2, 3]);
        let there = self.workers.iter().filter(|(name, _)| !self.removed.contains(name));
        let mut workers: Vec<String> =
            there.map(|(name, _)| name.clone()).filter(|_| self.dice.one_in(width)).collect();
        if self.dice.one_in(20) {
            // As a rule it is in the call already, or gone.
            workers.push(self.worker());
        }
        if self.dice.one_in(2) {
            workers.reverse();
        }
        let all = workers.len() as u64;
        let mut claim = json!({"workers": workers});
        if !self.dice.one_in(4) {
            // None is refused, and more than all are all.
            claim["max"] = json!(if self.dice.one_in(2) { 1 } else { self.dice.within(0..all + 2) });
        }
        if self.dice.one_in(2) {
            claim["wait"] = json!(self.dice.one_of([0.0, 0.5, 1.0, 5.0, 5.0, 10.0, 60.0]));
        }
        claim
    }

    fn job(&mut self, at: f64) -> Value {
        // Ids sort otherwise than they are submitted.
        let id = format!("{}{}", self.dice.one_of(["a", "b", "c"]), self.ids.len());
        self.ids.push(id.clone());
        let mut job = json!({"id": id, "builder": self.builder()});
        if !self.dice.one_in(4) {
            let most = if self.is_on("fair_share_by") { 1 } else { 4 };
            job["priority"] = json!(self.dice.within(0..most) as i64 - 1);
        }
        if self.dice.one_in(8) {
            job["branch"] = json!(self.dice.one_of(["other", "unknown"]));
        }
        if self.dice.one_in(2) {
            job["project"] = json!(self.dice.one_of(["one", "two"]));
        }
        if self.dice.one_in(8) {
            job["class"] = json!(self.dice.one_of(["release", "normal", "idle"]));
        }
        if self.dice.one_in(2) {
            job["submitted_at"] = json!(self.dice.one_of([-1_000.0, -10.0, 0.0, at]));
        }
        if self.dice.one_in(2) {
            job["service"] = json!(self.dice.one_of([0.5, 1.0, 5.0, 10.0, 60.0, 100.0]));
        }
        job
    }

    fn result(&mut self) -> &'static str {
        if self.grumpy {
            self.dice.one_of([
                "exception",
                "exception",
                "exception",
                "exception",
                "exception",
                "exception",
                "retry",
                "success",
            ])
        } else {
            self.dice.one_of(["success", "success", "failure", "exception", "retry", "cancelled"])
        }
    }

    fn id(&mut self) -> String {
        self.ids[self.dice.within(0..self.ids.len() as u64) as usize].clone()
    }

    fn builder(&mut self) -> String {
        self.builders[self.dice.within(0..self.builders.len() as u64) as usize].0.clone()
    }

    fn worker(&mut self) -> String {
        self.workers[self.dice.within(0..self.workers.len() as u64) as usize].0.clone()
    }

    fn some_workers(&mut self) -> Vec<String> {
        (0..self.dice.one_of([1, 1, 2, 3])).map(|_| self.worker()).collect()
    }
}
