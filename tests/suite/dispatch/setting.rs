//! What a scenario's farm file means to the oracle: who works where, which rule a builder falls under, how jobs are ordered.

use serde_json::{Map, Value};

use super::outcome::{Micros, micros, text};
use super::terms::Terms;

pub struct Setting {
    pub workers: Vec<Listed>,
    rules: Vec<Rule>,
    /// Name and priority.
    branches: Vec<(String, i64)>,
    default_priority: i64,
    ageing: Micros,
    /// Projects share the workers.
    pub fair: bool,
}

/// A worker as the farm file has it.
#[derive(Clone)]
pub struct Listed {
    pub name: String,
    pub pool: String,
    /// Of workers: `inhouse`, `spot` or `ondemand`.
    pub class: String,
    pub attributes: Map<String, Value>,
}

pub struct Rule {
    pattern: String,
    pub pool: String,
    pub requires: Map<String, Value>,
    pub terms: Terms,
    class: Class,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Release,
    Normal,
    Idle,
}

#[derive(Debug, Clone)]
pub struct Job {
    pub id: String,
    pub builder: String,
    pub class: Class,
    pub priority: i64,
    pub project: Option<String>,
    pub submitted_at: Micros,
    pub service: Option<Micros>,
    /// Counted up as jobs are submitted.
    pub number: usize,
    /// From 1.
    pub attempt: u64,
}

impl Setting {
    pub fn new(farm: &Value) -> Self {
        let list = |key: &str| farm[key].as_array().into_iter().flatten();
        let pool = |name: &Value| list("pools").find(|pool| pool["name"] == *name).unwrap();
        let mut workers: Vec<Listed> = Vec::new();
        let class = |worker: &Value, pool: &Value| {
            let class = worker.get("class").or(pool.get("class"));
            class.map_or_else(|| "inhouse".to_owned(), text)
        };
        for pool in list("pools") {
            let names = pool["workers"].as_array().into_iter().flatten();
            workers.extend(names.map(|name| Listed {
                name: text(name),
                pool: text(&pool["name"]),
                class: class(name, pool),
                attributes: Map::new(),
            }));
        }
        for worker in list("workers") {
            workers.retain(|listed| worker["name"] != listed.name.as_str());
            workers.push(Listed {
                name: text(&worker["name"]),
                pool: text(&worker["pool"]),
                class: class(worker, pool(&worker["pool"])),
                attributes: table(&worker["attributes"]),
            });
        }
        let rule = |rule: &Value| Rule::new(rule, Terms::new([rule, pool(&rule["pool"]), &farm["farm"]]));
        Self {
            workers,
            rules: list("builders").map(rule).collect(),
            branches: list("branches").map(|branch| (text(&branch["name"]), whole(&branch["priority"]))).collect(),
            default_priority: farm["farm"].get("default_priority").map_or(5, whole),
            ageing: farm["farm"].get("ageing_seconds_per_priority").map_or(0, micros),
            fair: farm["farm"].get("fair_share_by").is_some_and(|key| key == "project"),
        }
    }

    /// The first rule whose pattern fits the builder's name.
    pub fn rule(&self, builder: &str) -> &Rule {
        let rule = self.rules.iter().find(|rule| match rule.pattern.strip_suffix('$') {
            Some(whole) => builder == whole,
            None => builder.starts_with(&rule.pattern),
        });
        rule.unwrap_or_else(|| panic!("no rule for {builder}"))
    }

    /// Smaller is first.
    pub fn key(&self, job: &Job) -> (Class, i64, Micros, usize) {
        let rank = if self.ageing == 0 { job.priority } else { job.submitted_at + self.ageing * job.priority };
        (job.class, rank, job.submitted_at, job.number)
    }

    /// A job as it is submitted at this moment.
    pub fn job(&self, submitted: &Value, number: usize, now: Micros) -> Job {
        let builder = text(&submitted["builder"]);
        let class = submitted.get("class").map_or_else(|| self.rule(&builder).class, Class::read);
        let branch = submitted.get("branch").map(text);
        Job {
            id: text(&submitted["id"]),
            class,
            priority: submitted.get("priority").map_or_else(|| self.priority(branch.as_deref(), &builder), whole),
            submitted_at: submitted.get("submitted_at").map_or(now, micros),
            project: submitted.get("project").map(text),
            service: submitted.get("service").map(micros),
            builder,
            number,
            attempt: 1,
        }
    }

    /// Of a job that was given none: its branch's, or that of the longest branch that its builder's name holds.
    fn priority(&self, branch: Option<&str>, builder: &str) -> i64 {
        let named = self.branches.iter().find(|(name, _)| Some(name.as_str()) == branch);
        let held = self.branches.iter().filter(|(name, _)| builder.contains(name)).max_by_key(|(name, _)| name.len());
        named.or(held).map_or(self.default_priority, |(_, priority)| *priority)
    }
}

impl Rule {
    /// The oracle knows two kinds of pattern, `^text` and `^text$`.
    fn new(rule: &Value, terms: Terms) -> Self {
        let pattern = text(&rule["match"]);
        let pattern = pattern.strip_prefix('^').unwrap_or_else(|| panic!("not ^text: {pattern}"));
        let text_alone = pattern.strip_suffix('$').unwrap_or(pattern);
        assert!(text_alone.chars().all(|sign| sign.is_alphanumeric() || sign == '-'), "not ^text: ^{pattern}");
        Self {
            pattern: pattern.to_owned(),
            pool: text(&rule["pool"]),
            requires: table(&rule["requires"]),
            terms,
            class: rule.get("class").map_or(Class::Normal, Class::read),
        }
    }
}

impl Class {
    fn read(class: &Value) -> Self {
        match text(class).as_str() {
            "release" => Self::Release,
            "normal" => Self::Normal,
            "idle" => Self::Idle,
            other => panic!("no such class: {other}"),
        }
    }
}

fn table(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("a whole number, not {value}"))
}
