//! Numbers about the server, for Prometheus.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::App;
use super::activity::Activity;
use super::problem::Problem;
use crate::engine::Stats;
use crate::engine::views::Views;

/// The hot reads, by what they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    Builder,
    Machine,
    Collection,
    Blob,
}

impl Read {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Builder, "builder"),
        (Self::Machine, "machine"),
        (Self::Collection, "collection"),
        (Self::Blob, "blob"),
    ];
}

/// The statuses of hot reads; they have no others.
const STATUSES: [u16; 3] = [200, 304, 404];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReadLabels {
    read: &'static str,
    status: u16,
}

/// The registry, and counters that a hot read bumps without looking them up.
pub struct Metrics {
    registry: Registry,
    reads: [[Counter; STATUSES.len()]; Read::ALL.len()],
}

impl Metrics {
    pub fn new(stats: Arc<Stats>, views: Views, activity: Activity) -> Self {
        let mut registry = Registry::with_prefix("jacuzzi");
        let family = Family::<ReadLabels, Counter>::default();
        registry.register("reads", "Reads of allocations, by what was read and the status", family.clone());
        let reads = Read::ALL
            .map(|(_, read)| STATUSES.map(|status| family.get_or_create(&ReadLabels { read, status }).clone()));
        registry.register("claims", "Jobs given to workers by this run", activity.claims().clone());
        let help = "Runs that ended, by result; lost: the lease ran out, or the worker was offered again";
        registry.register("runs_ended", help, activity.ended().clone());
        registry.register_collector(Box::new(EngineNumbers { stats, views, activity }));
        Self { registry, reads }
    }

    pub fn count_read(&self, read: Read, status: StatusCode) {
        if let Some(column) = STATUSES.iter().position(|known| *known == status.as_u16()) {
            self.reads[read as usize][column].inc();
        }
    }
}

/// `GET /metrics`
pub async fn metrics(app: web::Data<App>) -> Result<HttpResponse, Problem> {
    let mut text = String::new();
    encode(&mut text, &app.metrics.registry).map_err(anyhow::Error::from)?;
    Ok(HttpResponse::Ok().content_type("application/openmetrics-text; version=1.0.0; charset=utf-8").body(text))
}

/// Reads the engine's numbers when somebody asks.
#[derive(Debug)]
struct EngineNumbers {
    stats: Arc<Stats>,
    views: Views,
    activity: Activity,
}

impl Collector for EngineNumbers {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let view = self.views.current();
        let gauges = [
            ("generation", "The generation in force", view.generation().0),
            ("allocated_builders", "Builders with an allocation", view.builder_count() as u64),
            ("allocated_machines", "Machines in at least one allocation", view.worker_count() as u64),
            ("pending_jobs", "Jobs that wait", self.activity.pending()),
            ("running_claims", "Claims whose lease lives", self.activity.running()),
            ("journal_last_record", "The last durable journal record", self.stats.last_seq.load(Ordering::Acquire)),
            (
                "runs_recorded_seq",
                "The journal record up to which the run history reaches",
                self.stats.runs_recorded.load(Ordering::Acquire),
            ),
            (
                "snapshot_record",
                "The record of the newest snapshot of this run",
                self.stats.last_snapshot.load(Ordering::Acquire),
            ),
            (
                "read_only",
                "1 after a failed append: writes are refused until a restart",
                u64::from(self.stats.read_only().is_some()),
            ),
        ];
        for (name, help, value) in gauges {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        let records = ConstCounter::new(self.stats.records.load(Ordering::Relaxed));
        records.encode(encoder.encode_descriptor(
            "journal_records",
            "Records appended by this run",
            None,
            records.metric_type(),
        )?)?;

        let buckets = self.stats.append.buckets();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let name = ("journal_append", "Time of an append with its sync; its count is the number of group commits");
        let kind = prometheus_client::metrics::MetricType::Histogram;
        let mut histogram = encoder.encode_descriptor(name.0, name.1, Some(&Unit::Seconds), kind)?;
        histogram.encode_histogram::<NoLabelSet>(self.stats.append.total_seconds(), count, &buckets, None)
    }
}
