//! What Mozilla built in 2014: its branches and the builders of each, by the names that they had.
//!
//! The names are those of the allocations that were published then, and of the
//! rules that went with them (`config/mozilla.toml`). The shares of the
//! branches and the times of the builds are ours; only their proportions count.

use Project::{Android, B2g, Firefox, Release, Thunderbird};
use Trigger::{Nightly, Push};

use crate::domain::fleet::{JobClass, WorkerClass};

/// What a builder builds; the projects of a farm share its machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Project {
    Firefox,
    Android,
    B2g,
    Thunderbird,
    Release,
}

impl Project {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Firefox => "firefox",
            Self::Android => "android",
            Self::B2g => "b2g",
            Self::Thunderbird => "thunderbird",
            Self::Release => "release",
        }
    }
}

/// A line of development that people push to.
#[derive(Debug)]
pub(super) struct Branch {
    pub name: &'static str,
    /// Its part of all pushes.
    pub pushes: u32,
    pub priority: i64,
    pub projects: &'static [Project],
    /// Nightly builds are made of it.
    pub nightlies: bool,
}

/// When a builder gets jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// By so many of 1,000 pushes.
    Push(u32),
    /// By the clock, once a day, a job for each language.
    Nightly,
}

/// A builder that branches of its project have.
#[derive(Debug)]
pub(super) struct Family {
    pub project: Project,
    /// `{}` stands for the branch.
    pub name: &'static str,
    pub trigger: Trigger,
    /// Mean time of a cold run.
    pub minutes: u32,
}

/// How a builder's name decides its pool and the class of its jobs.
pub(super) struct Rule {
    pub pattern: &'static str,
    pub pool: &'static str,
    pub class: JobClass,
}

/// The machines of one kind, as they are bought: the name goes on with a number of so many digits.
pub(super) struct Series {
    pub prefix: &'static str,
    pub digits: usize,
    pub class: WorkerClass,
}

/// The workers of one kind: of the second series, if there is one, is one in eight.
pub(super) struct Pool {
    pub name: &'static str,
    pub series: &'static [Series],
}

pub(super) const POOLS: [Pool; 3] = [
    Pool {
        name: "bld-linux64",
        series: &[
            Series { prefix: "bld-linux64-spot-", digits: 3, class: WorkerClass::Spot },
            Series { prefix: "bld-linux64-ec2-", digits: 3, class: WorkerClass::Ondemand },
        ],
    },
    Pool {
        name: "b-2008",
        series: &[
            Series { prefix: "b-2008-ix-", digits: 4, class: WorkerClass::Inhouse },
            Series { prefix: "b-2008-spot-", digits: 3, class: WorkerClass::Spot },
        ],
    },
    Pool { name: "bld-lion-r5", series: &[Series { prefix: "bld-lion-r5-", digits: 3, class: WorkerClass::Inhouse }] },
];

const TRUNK: &[Project] = &[Firefox, Android, B2g];

/// The first ones have the most builders.
pub(super) const BRANCHES: [Branch; 25] = [
    branch("mozilla-inbound", 36, 3, TRUNK, false),
    branch("b2g-inbound", 22, 3, TRUNK, false),
    branch("fx-team", 16, 3, TRUNK, false),
    branch("mozilla-central", 8, 3, TRUNK, true),
    branch("mozilla-aurora", 6, 4, TRUNK, true),
    branch("mozilla-beta", 2, 2, &[Release], false),
    branch("mozilla-b2g37_v2_2", 4, 4, &[B2g], false),
    branch("comm-central", 3, 5, &[Thunderbird], true),
    branch("cedar", 2, 6, TRUNK, false),
    branch("comm-aurora", 1, 5, &[Thunderbird], true),
    branch("birch", 2, 6, TRUNK, false),
    branch("mozilla-release", 1, 1, &[Release], false),
    branch("alder", 1, 6, TRUNK, false),
    branch("ash", 1, 6, TRUNK, false),
    branch("cypress", 1, 6, TRUNK, false),
    branch("date", 1, 6, TRUNK, false),
    branch("elm", 1, 6, TRUNK, false),
    branch("fig", 1, 6, TRUNK, false),
    branch("gum", 1, 6, TRUNK, false),
    branch("holly", 1, 6, TRUNK, false),
    branch("jamun", 1, 6, TRUNK, false),
    branch("larch", 1, 6, TRUNK, false),
    branch("maple", 1, 6, TRUNK, false),
    branch("oak", 1, 6, TRUNK, false),
    branch("pine", 1, 6, TRUNK, false),
];

/// The first ones of a project are on the most branches.
pub(super) const FAMILIES: [Family; 44] = [
    family(Firefox, "Linux x86-64 {} build", Push(1_000), 45),
    family(Firefox, "Linux x86-64 {} leak test build", Push(1_000), 50),
    family(Firefox, "WINNT 5.2 {} build", Push(1_000), 95),
    family(Firefox, "OS X 10.7 {} build", Push(1_000), 70),
    family(Firefox, "Linux {} build", Push(1_000), 45),
    family(Firefox, "Firefox {} linux l10n nightly", Nightly, 25),
    family(Firefox, "Firefox {} linux64 l10n nightly", Nightly, 25),
    family(Firefox, "Linux {} leak test build", Push(1_000), 50),
    family(Firefox, "WINNT 5.2 {} leak test build", Push(1_000), 90),
    family(Firefox, "WINNT 6.1 x86-64 {} build", Push(1_000), 100),
    family(Firefox, "Firefox {} win32 l10n nightly", Nightly, 30),
    family(Firefox, "Linux x86-64 {} asan build", Push(900), 65),
    family(Firefox, "Linux x86-64 {} debug static analysis build", Push(900), 80),
    family(Firefox, "Linux x86-64 Mulet {} build", Push(600), 45),
    family(Firefox, "Linux x86-64 {} non-unified", Push(150), 90),
    family(Firefox, "Linux x86-64 {} pgo-build", Push(120), 150),
    family(Firefox, "Linux x86-64 {} valgrind", Push(100), 110),
    family(Android, "Android armv7 API 11+ {} build", Push(1_000), 40),
    family(Android, "Android armv7 API 11+ {} debug build", Push(1_000), 40),
    family(Android, "Android armv7 API 9 {} build", Push(1_000), 40),
    family(Android, "Android 4.2 x86 {} build", Push(800), 40),
    family(Android, "Android armv7 API 11+ {} non-unified", Push(150), 60),
    family(B2g, "b2g_{}_emulator_dep", Push(1_000), 75),
    family(B2g, "b2g_{}_linux64_gecko build", Push(1_000), 40),
    family(B2g, "b2g_{}_emulator-debug_dep", Push(1_000), 75),
    family(B2g, "b2g_{}_flame-kk_eng_dep", Push(700), 65),
    family(B2g, "b2g_{}_emulator-jb_dep", Push(700), 80),
    family(B2g, "b2g_{}_linux32_gecko build", Push(700), 40),
    family(B2g, "b2g_{}_hamachi_eng_dep", Push(500), 55),
    family(B2g, "b2g_{}_emulator-l_dep", Push(500), 90),
    family(B2g, "b2g_{}_linux64_gecko-debug build", Push(500), 45),
    family(B2g, "b2g_{}_emulator_nonunified", Push(150), 110),
    family(B2g, "b2g_{}_emulator-debug_nonunified", Push(150), 110),
    family(Thunderbird, "TB Linux x86-64 {} build", Push(1_000), 50),
    family(Thunderbird, "Thunderbird {} linux l10n nightly", Nightly, 20),
    family(Thunderbird, "TB Linux {} build", Push(1_000), 50),
    family(Thunderbird, "Thunderbird {} linux64 l10n nightly", Nightly, 20),
    family(Thunderbird, "TB WINNT 5.2 {} build", Push(1_000), 100),
    family(Thunderbird, "Thunderbird {} win32 l10n nightly", Nightly, 25),
    family(Thunderbird, "TB Linux x86-64 {} leak test build", Push(1_000), 55),
    family(Release, "release-{}-linux64_build", Push(500), 90),
    family(Release, "release-{}-win32_build", Push(500), 180),
    family(Release, "release-{}-linux_build", Push(500), 90),
    family(Release, "release-{}-macosx64_build", Push(500), 130),
];

/// The first that matches decides.
pub(super) const RULES: [Rule; 7] = [
    rule(r"^release-\S+-win32_", "b-2008", JobClass::Release),
    rule(r"^release-\S+-macosx64_", "bld-lion-r5", JobClass::Release),
    rule(r"^release-", "bld-linux64", JobClass::Release),
    rule(r"(non-unified|nonunified|valgrind)$", "bld-linux64", JobClass::Idle),
    rule(r"^(TB )?WINNT | win32 l10n nightly$", "b-2008", JobClass::Normal),
    rule(r"^OS X 10\.7 (?!try)", "bld-lion-r5", JobClass::Normal),
    rule(r"^((TB )?Linux|Android|b2g_|Firefox|Thunderbird)(?!.* try)", "bld-linux64", JobClass::Normal),
];

/// The builders of the catalogue, those that a smaller farm has as well first:
/// a branch's first builders go before another branch's last.
pub(super) fn ranked() -> Vec<(&'static Branch, &'static Family)> {
    let mut ranked = Vec::new();
    for (branch_at, branch) in BRANCHES.iter().enumerate() {
        for project in branch.projects {
            let of_project = FAMILIES.iter().filter(|family| family.project == *project);
            let built = of_project.enumerate().filter(|(_, family)| branch.nightlies || family.trigger != Nightly);
            ranked.extend(built.map(|(at, family)| (branch_at + at, branch, family)));
        }
    }
    ranked.sort_by_key(|(rank, _, _)| *rank);
    ranked.into_iter().map(|(_, branch, family)| (branch, family)).collect()
}

const fn branch(
    name: &'static str,
    pushes: u32,
    priority: i64,
    projects: &'static [Project],
    nightlies: bool,
) -> Branch {
    Branch { name, pushes, priority, projects, nightlies }
}

const fn family(project: Project, name: &'static str, trigger: Trigger, minutes: u32) -> Family {
    Family { project, name, trigger, minutes }
}

const fn rule(pattern: &'static str, pool: &'static str, class: JobClass) -> Rule {
    Rule { pattern, pool, class }
}
