//! What several commands take: a strategy in flags, a log of pushes, and the batch before it.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::adapters::push_log::{self, PushLog};
use crate::cli::offer;
use crate::config::read_forecast;
use crate::domain::Timestamp;
use crate::domain::batching::{Branch, Kind, Mark, Parameters, PushId, Strategy};

#[derive(Debug, Args)]
pub(super) struct StrategyFlags {
    /// The cadence
    #[arg(long, value_name = "CADENCE", value_parser = kind_parser())]
    strategy: Option<Kind>,

    /// pushes, every_nth, backstop: so many pushlog ids
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pushes: Option<u64>,

    /// time, backstop: so many hours
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    hours: Option<f64>,

    /// rasb, rapb: the chance of a regression; their linear forms: the sum of the risks
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    threshold: Option<f64>,

    /// rapb, rapb_la: how fast risks grow, an hour
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    aging: Option<f64>,

    /// rdb, rdb_steady: what a batch costs, in risk-hours
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    price: Option<f64>,

    /// rdb, rdb_steady: what pushes will come, as `jacuzzi batching forecast` writes it
    #[arg(long, value_name = "FILE")]
    forecast: Option<PathBuf>,

    /// backstop, expanded: where the pushes go to
    #[arg(long, value_name = "KIND")]
    branch: Option<BranchFlag>,

    /// Begin a new chain of batches in each block of so many ids, so that a lost state mends itself
    #[arg(long, value_name = "IDS")]
    anchor: Option<NonZeroU64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BranchFlag {
    /// Batches as the backstop says
    Integration,
    /// Every push is a batch
    Other,
    /// No push is one
    Try,
}

impl From<BranchFlag> for Branch {
    fn from(flag: BranchFlag) -> Self {
        match flag {
            BranchFlag::Integration => Self::Integration,
            BranchFlag::Other => Self::Other,
            BranchFlag::Try => Self::Try,
        }
    }
}

/// Clap says which name comes closest to one that is none.
fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).map(|name| {
        let named = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        named.expect("clap passes none but possible values")
    })
}

impl StrategyFlags {
    /// `None` without any of the flags.
    ///
    /// # Errors
    /// A forecast that cannot be read, parameters that the cadence refuses, or parameters of none.
    pub fn strategy(self) -> anyhow::Result<Option<Strategy>> {
        let forecast = self.forecast.as_deref().map(read_forecast).transpose().map_err(|fault| anyhow!(fault))?;
        let parameters = Parameters {
            pushes: self.pushes,
            hours: self.hours,
            threshold: self.threshold,
            aging: self.aging,
            price: self.price,
            forecast,
            branch: self.branch.map(Into::into),
            anchor: self.anchor,
        };
        match self.strategy {
            Some(kind) => Ok(Some(Strategy::new(kind, parameters).context("this is no strategy")?)),
            None if parameters == Parameters::default() => Ok(None),
            None => bail!("these are parameters of a cadence: say which with --strategy"),
        }
    }
}

/// `ID@DATE`: the batch that a replay starts from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start(pub Mark);

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, date) = text.split_once('@').ok_or("give ID@DATE, such as 100@2015-06-09T12:00:00Z")?;
        let id = id.parse().map_err(|_| format!("{id:?} is no pushlog id"))?;
        let date = Timestamp::parse(date).map_err(|error| error.to_string())?;
        Ok(Self(Mark { id: PushId(id), at: date.unix_micros().div_euclid(1_000_000) }))
    }
}

/// Reads a log of pushes; `-` is stdin.
pub(super) fn read_log(path: &Path) -> anyhow::Result<PushLog> {
    let shown = path.display();
    let bytes = offer::bytes(path).with_context(|| format!("cannot read {shown}"))?;
    push_log::parse(&bytes).with_context(|| format!("{shown} is no log of pushes"))
}
