//! Small farms at random, on which much happens: every kind of event, in bursts, with ties wherever there can be one.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::suite::dice::Dice;

const MOST_JOBS: usize = 12;

/// A scenario of at most eight workers; the same dice make the same one.
pub fn scenario(dice: &mut Dice) -> Value {
    Maker::new(dice).scenario()
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
}

impl<'d> Maker<'d> {
    fn new(dice: &'d mut Dice) -> Self {
        let pools = dice.one_of([1, 1, 1, 2, 3]);
        let workers = (0..dice.within(1..9)).map(|worker| (format!("w{worker}"), dice.within(0..pools) as usize));
        let workers = workers.collect();
        let pools = pools as usize;
        let kinds = ["x-1", "x-2", "y-1", "y-2", "z"];
        let builders = (0..pools).flat_map(|pool| kinds.map(|kind| (format!("p{pool}-{kind}"), pool)));
        let mut builders: Vec<_> = builders.filter(|_| dice.one_in(2)).collect();
        builders.push(("p0-z-last".to_owned(), 0));
        let grumpy = dice.one_in(4);
        Self { dice, pools, workers, builders, removed: BTreeSet::new(), ids: Vec::new(), grumpy }
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
        for _ in 0..self.dice.within(0..5) {
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

    fn farm(&mut self) -> Value {
        let of_pool = |pool: usize| self.workers.iter().filter(move |(_, of)| *of == pool).map(|(name, _)| name);
        let pools: Vec<Value> = (0..self.pools)
            .map(|pool| json!({"name": format!("p{pool}"), "workers": of_pool(pool).collect::<Vec<_>>()}))
            .collect();
        let attributes =
            [json!({}), json!({"trust": "core"}), json!({"trust": "low"}), json!({"trust": "core", "ram": "big"})];
        let mut workers = Vec::new();
        for (name, pool) in &self.workers {
            if self.dice.one_in(2) {
                let attributes = &attributes[self.dice.within(0..4) as usize];
                workers.push(json!({"name": name, "pool": format!("p{pool}"), "attributes": attributes}));
            }
        }
        let mut builders = Vec::new();
        for pool in 0..self.pools {
            let classes = ["normal", "normal", "normal", "normal", "idle", "release"];
            let requires = &attributes[self.dice.one_of([0, 0, 1, 3])];
            let (class, other_class) = (self.dice.one_of(classes), self.dice.one_of(classes));
            let pattern = format!("^p{pool}");
            let pool = format!("p{pool}");
            builders.push(json!({"match": format!("{pattern}-x"), "pool": pool, "requires": requires, "class": class}));
            builders.push(json!({"match": pattern, "pool": pool, "class": other_class}));
        }
        json!({
            "farm": {
                "name": "random",
                "default_priority": self.dice.within(0..4),
                "ageing_seconds_per_priority": self.dice.one_of([0.0, 0.0, 0.5, 1.0, 10.0, 300.0]),
            },
            "pools": pools,
            "workers": workers,
            "branches": [{"name": "z", "priority": 1}, {"name": "z-last", "priority": 2}, {"name": "other", "priority": 0}],
            "builders": builders,
            "allocations": {"max_builders_per_machine": 100, "max_shrink_percent": 100},
        })
    }

    /// Each builder's, with some chance: some of its pool's workers.
    fn allocations(&mut self) -> Value {
        let mut lists = Map::new();
        let share = self.dice.one_of([2, 3, 100]);
        for (builder, pool) in &self.builders {
            let width = self.dice.one_of([1, 2, 3]);
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
            12..14 if !self.ids.is_empty() => json!({"at": at, "cancel": [self.id()]}),
            14 => json!({"at": at, "lost": self.some_workers()}),
            26..30 => json!({"at": at, "claim": self.claim()}),
            15 => json!({"at": at, "allocate": self.allocations()}),
            16 if self.dice.one_in(2) => json!({"at": at, "drain": [self.worker()]}),
            16 => {
                let worker = self.worker();
                self.removed.insert(worker.clone());
                json!({"at": at, "remove": [worker]})
            }
            _ => json!({"at": at, "finish": {"worker": self.worker(), "result": self.result()}}),
        }
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
            job["priority"] = json!(self.dice.within(0..4) as i64 - 1);
        }
        if self.dice.one_in(8) {
            job["branch"] = json!(self.dice.one_of(["other", "unknown"]));
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
