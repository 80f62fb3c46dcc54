//! The farm file: pools, workers, branches, builder rules and limits, as the people who run a farm write them.

use std::path::{Path, PathBuf};

use super::fault::Faults;
use super::node::Node;
use super::reader::{self, Table};
use super::values::{Read, choice, integer, parsed, seconds, text, whole, whole_in};
use super::{json, toml_file};
use crate::domain::PoolName;
use crate::domain::fleet::{
    AllocationLimits, Branch, BuilderRule, Definition, FairShare, JobClass, OnEmptySet, Options, Pool, Seconds, Warmth,
    WorkerClass, WorkerEntry, WorkerRange,
};

const WORKER_CLASSES: [(&str, WorkerClass); 3] =
    [("inhouse", WorkerClass::Inhouse), ("spot", WorkerClass::Spot), ("ondemand", WorkerClass::Ondemand)];

pub(super) const JOB_CLASSES: [(&str, JobClass); 3] =
    [("release", JobClass::Release), ("normal", JobClass::Normal), ("idle", JobClass::Idle)];

const FAIR_SHARES: [(&str, FairShare); 1] = [("project", FairShare::Project)];

const ON_EMPTY_SET: [(&str, OnEmptySet); 2] = [("hold", OnEmptySet::Hold), ("pool", OnEmptySet::Pool)];

const WARMTHS: [(&str, Warmth); 2] = [("recent_success", Warmth::RecentSuccess), ("none", Warmth::None)];

/// A farm file without faults.
#[derive(Debug, Clone, PartialEq)]
pub struct FarmFile {
    pub definition: Definition,
    /// A history to import once, into an empty data folder.
    pub import: Option<PathBuf>,
}

impl FarmFile {
    /// Reads a TOML file. The path of `import` is taken from the file's folder.
    pub fn read(path: &Path) -> Result<Self, Faults> {
        Self::from_node(&toml_file::read(path)?, path.parent())
    }

    /// The same for TOML text; `path` is where it stands, or would stand.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, Faults> {
        Self::from_node(&toml_file::parse(text, &path.display().to_string())?, path.parent())
    }

    /// The same keys as JSON. `import` stays as it is given.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, Faults> {
        Self::from_node(&json::parse(value), None)
    }

    pub(super) fn from_node(root: &Node, folder: Option<&Path>) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let mut file = reader::read(root, String::new(), &mut faults, farm_file);
        for problem in file.definition.problems() {
            // A stand-in has problems of its own, but no one wrote it.
            if !faults.has(&problem.path) {
                faults.add(root.place_of(&problem.path).clone(), problem.path, problem.message);
            }
        }
        file.import = file.import.map(|import| folder.map_or(import.clone(), |folder| folder.join(import)));
        faults.sort();
        faults.unless_any(file)
    }
}

fn farm_file(root: &mut Table) -> FarmFile {
    let without_file = Definition::default();
    let (import, farm) = root.table("farm", |farm| {
        let import = farm.optional("import", text).map(PathBuf::from);
        let ageing = farm.optional("ageing_seconds_per_priority", seconds).map(Seconds);
        let definition = Definition {
            name: farm.required("name", text, str::to_owned),
            default_priority: farm.optional("default_priority", integer).unwrap_or(without_file.default_priority),
            ageing_seconds_per_priority: ageing.unwrap_or(without_file.ageing_seconds_per_priority),
            fair_share_by: farm.optional("fair_share_by", choice("key of fair share", &FAIR_SHARES)),
            options: options(farm),
            ..Definition::default()
        };
        (import, definition)
    });
    let definition = Definition {
        pools: root.tables("pools", pool),
        workers: root.tables("workers", worker),
        branches: root.tables("branches", branch),
        builders: root.tables("builders", builder),
        allocations: root.table("allocations", allocations),
        ..farm
    };
    FarmFile { definition, import }
}

fn pool(pool: &mut Table) -> Pool {
    Pool {
        name: pool.required("name", parsed(PoolName::parse), stand_in_pool),
        workers: pool.list("workers", parsed(WorkerRange::parse), stand_in_worker).unwrap_or_default(),
        class: pool.optional("class", choice("worker class", &WORKER_CLASSES)).unwrap_or(WorkerClass::Inhouse),
        options: options(pool),
    }
}

fn worker(worker: &mut Table) -> WorkerEntry {
    WorkerEntry {
        name: worker.required("name", parsed(WorkerRange::parse), stand_in_worker),
        pool: worker.required("pool", parsed(PoolName::parse), stand_in_pool),
        class: worker.optional("class", choice("worker class", &WORKER_CLASSES)),
        attributes: worker.texts("attributes"),
    }
}

fn branch(branch: &mut Table) -> Branch {
    Branch { name: branch.required("name", text, str::to_owned), priority: branch.required("priority", integer, |_| 0) }
}

fn builder(builder: &mut Table) -> BuilderRule {
    BuilderRule {
        pattern: builder.required("match", text, |_| String::new()),
        pool: builder.required("pool", parsed(PoolName::parse), stand_in_pool),
        requires: builder.texts("requires"),
        class: builder.optional("class", choice("job class", &JOB_CLASSES)).unwrap_or_default(),
        options: options(builder),
        cadence: builder.optional("cadence", text),
    }
}

/// What may stand in `[farm]`, in a pool and in a builder rule.
fn options(place: &mut Table) -> Options {
    let mut span = |key| place.optional(key, seconds).map(Seconds);
    Options {
        overflow_after: span("overflow_after"),
        lend_after: span("lend_after"),
        inhouse_wait: span("inhouse_wait"),
        lease: span("lease"),
        prefer: place.list("prefer", choice("worker class", &WORKER_CLASSES), |_| WorkerClass::Inhouse),
        reserve: place.optional("reserve", small),
        on_empty_set: place.optional("on_empty_set", choice("way to treat an empty set", &ON_EMPTY_SET)),
        warmth: place.optional("warmth", choice("kind of warmth", &WARMTHS)),
        max_attempts: place.optional("max_attempts", small),
        quarantine_after: place.optional("quarantine_after", small),
    }
}

fn small(node: &Node) -> Read<u32> {
    whole_in(0..=u64::from(u32::MAX))(node).map(|number| number as u32)
}

fn allocations(allocations: &mut Table) -> AllocationLimits {
    let without_file = AllocationLimits::default();
    let mut number = |key, default| allocations.optional(key, whole).unwrap_or(default);
    AllocationLimits {
        max_builders_per_machine: number("max_builders_per_machine", without_file.max_builders_per_machine),
        max_shrink_percent: number("max_shrink_percent", without_file.max_shrink_percent),
        keep_generations: number("keep_generations", without_file.keep_generations),
        isolation_groups: allocations.list("isolation_groups", text, str::to_owned),
    }
}

fn stand_in_pool(path: &str) -> PoolName {
    PoolName::parse(path).expect("the path of a key is a name")
}

fn stand_in_worker(path: &str) -> WorkerRange {
    WorkerRange::parse(path).expect("the path of a key is a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FARM: &str = r#"
[farm]
name = "small"
import = "history.jsonl"
ageing_seconds_per_priority = "1m"

[[pools]]
name = "linux"
workers = ["linux-{01..10}"]
class = "spot"
overflow_after = "1h30m"

[[workers]]
name = "linux-{09..10}"
pool = "linux"
class = "ondemand"
attributes = { trust = "core" }

[[branches]]
name = "main"
priority = 3

[[builders]]
match = '^Linux (?!try)'
pool = "linux"
requires = { trust = "core" }

[allocations]
max_shrink_percent = 20
isolation_groups = ["main"]
keep_generations = 50
"#;

    fn faults(text: &str) -> Vec<String> {
        let faults = FarmFile::from_toml(text, Path::new("farm.toml")).unwrap_err();
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_farm_file_becomes_a_definition() {
        let file = FarmFile::from_toml(FARM, Path::new("some/farm.toml")).unwrap();
        assert_eq!(file.import.as_deref(), Some(Path::new("some/history.jsonl")));
        let farm = file.definition;
        assert_eq!((farm.name.as_str(), farm.default_priority), ("small", 5));
        assert_eq!(farm.ageing_seconds_per_priority, Seconds(60.0));
        assert_eq!(farm.pools[0].options.overflow_after, Some(Seconds(5_400.0)));
        assert_eq!(farm.pools[0].class, WorkerClass::Spot);
        assert_eq!(farm.workers[0].class, Some(WorkerClass::Ondemand));
        assert_eq!(farm.workers[0].attributes["trust"], "core");
        assert_eq!(farm.builders[0].class, JobClass::Normal);
        assert_eq!(farm.allocations.max_shrink_percent, 20);
        assert_eq!(farm.allocations.max_builders_per_machine, 2);
        assert_eq!(farm.allocations.keep_generations, 50);
    }

    #[test]
    fn json_says_the_same_as_toml() {
        let toml = FarmFile::from_toml(FARM, Path::new("farm.toml")).unwrap();
        let json: serde_json::Value = toml::from_str(FARM).unwrap();
        assert_eq!(FarmFile::from_json(&json).unwrap(), toml);
        let faults = FarmFile::from_json(&serde_json::json!({ "farm": { "name": null }, "pools": [{}] })).unwrap_err();
        assert_eq!(
            faults.to_string(),
            "#/farm/name: farm.name: a text in quotes, not null\n#/pools/0: pools[0].name: is missing"
        );
    }

    #[test]
    fn faults_of_form_and_of_meaning_stand_together_in_file_order() {
        let text = FARM
            .replace("class = \"spot\"", "class = \"spotty\"")
            .replace("linux-{01..10}", "linux-{10..01}")
            .replace("pool = \"linux\"\nrequires", "pool = \"lunix\"\nrequired")
            .replace("(?!try)", "(?!try")
            .replace("= 20", "= 120");
        assert_eq!(
            faults(&text),
            [
                "farm.toml:9:12: pools[0].workers[0]: \"linux-{10..01}\": the range 10..1 runs backwards",
                "farm.toml:10:9: pools[0].class: \"spotty\" is not a worker class (inhouse, spot or ondemand)",
                "farm.toml:24:9: builders[0].match: \"^Linux (?!try\" is not a regular expression: Parsing error at \
                 position 13: Opening parenthesis without closing parenthesis",
                "farm.toml:25:8: builders[0].pool: there is no pool \"lunix\" (the pools are: linux)",
                "farm.toml:26:1: builders[0].required: there is no such key; did you mean requires?",
                "farm.toml:29:22: allocations.max_shrink_percent: a percentage from 0 to 100, not 120",
            ]
        );
    }

    #[test]
    fn a_missing_key_is_one_fault_at_its_table() {
        assert_eq!(
            faults("[farm]\nname = 'x'\n[[pools]]\n[[builders]]\nmatch = 'x'\n[[branches]]\n"),
            [
                "farm.toml:3:1: pools[0].name: is missing",
                "farm.toml:4:1: builders[0].pool: is missing",
                "farm.toml:6:1: branches[0].name: is missing",
                "farm.toml:6:1: branches[0].priority: is missing",
            ]
        );
        assert_eq!(faults(""), ["farm.toml: farm.name: is missing"]);
    }
}
