//! Metrics as data points of OTLP: cumulative, with the time at which counting began.
//!
//! Field numbers are those of `opentelemetry/proto/metrics/v1/metrics.proto` at version 1; the
//! tests decode all of it with the official protobufs.

use protolog_core::Arg;

use super::super::encode::{
    attribute, bytes_field, export_request, field_size, fixed64_field, length_field, varint_field,
};
use super::super::resource::Labels;
use super::counts::{BOUNDS, Counts, Histogram};
use super::rows::{Kind, Row, Table};

/// `Metric`, `Sum` and `Histogram`.
mod field {
    /// Of `Metric`.
    pub(super) const NAME: u32 = 1;
    /// Of `Metric`.
    pub(super) const DESCRIPTION: u32 = 2;
    /// Of `Metric`.
    pub(super) const UNIT: u32 = 3;
    /// Of `Metric`.
    pub(super) const SUM: u32 = 7;
    /// Of `Metric`.
    pub(super) const HISTOGRAM: u32 = 9;
    /// Of `Sum` and of `Histogram`.
    pub(super) const DATA_POINTS: u32 = 1;
    /// Of `Sum` and of `Histogram`.
    pub(super) const TEMPORALITY: u32 = 2;
    /// Of `Sum`.
    pub(super) const IS_MONOTONIC: u32 = 3;
}

/// `NumberDataPoint` and `HistogramDataPoint`, as far as they are the same.
mod point {
    pub(super) const START: u32 = 2;
    pub(super) const TIME: u32 = 3;
}

/// `NumberDataPoint`
mod number {
    pub(super) const INT: u32 = 6;
    pub(super) const ATTRIBUTES: u32 = 7;
}

/// `HistogramDataPoint`
mod histogram {
    pub(super) const COUNT: u32 = 4;
    pub(super) const SUM: u32 = 5;
    pub(super) const BUCKETS: u32 = 6;
    pub(super) const BOUNDS: u32 = 7;
    pub(super) const ATTRIBUTES: u32 = 9;
}

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`
const CUMULATIVE: u64 = 2;

/// The name of the scope.
const SCOPE: &str = "protolog";

/// The attribute of the row `other`, as the SDKs of OpenTelemetry have it.
const OVERFLOW: &str = "otel.metric.overflow";

/// A data point, and what it belongs to.
#[derive(Debug)]
pub(super) struct Point {
    kind: Kind,
    service: Option<String>,
    bytes: Vec<u8>,
}

/// The time at which counting began, and that of the counts; in nanoseconds since 1970.
pub(super) type Times = (u64, u64);

/// The data points of all rows in which something is counted: those of one service and kind follow
/// on each other.
pub(super) fn points(
    counters: &Table,
    histograms: &Table,
    sum: &Counts,
    times: Times,
) -> Vec<Point> {
    let of_row = |row: &Row, bytes| Point { kind: row.kind, service: row.service.clone(), bytes };
    let counted = counters.rows().iter().zip(&sum.rows).filter(|(_, count)| **count > 0);
    let mut points: Vec<Point> =
        counted.map(|(row, count)| of_row(row, number_point(row, *count, times))).collect();
    let observed = histograms.rows().iter().zip(&sum.histograms);
    points.extend(
        observed
            .filter(|(_, histogram)| histogram.count() > 0)
            .map(|(row, histogram)| of_row(row, histogram_point(row, histogram, times))),
    );
    points.sort_by(|one, next| (&one.service, one.kind).cmp(&(&next.service, next.kind)));
    points
}

fn number_point(row: &Row, count: u64, times: Times) -> Vec<u8> {
    let mut point = begin_point(times);
    fixed64_field(&mut point, number::INT, count.min(i64::MAX as u64));
    put_labels(&mut point, number::ATTRIBUTES, row);
    point
}

fn histogram_point(row: &Row, of: &Histogram, times: Times) -> Vec<u8> {
    let mut point = begin_point(times);
    fixed64_field(&mut point, histogram::COUNT, of.count());
    if let Some(sum) = of.sum() {
        fixed64_field(&mut point, histogram::SUM, sum.to_bits());
    }
    let packed = |values: &mut dyn Iterator<Item = u64>| -> Vec<u8> {
        values.flat_map(u64::to_le_bytes).collect()
    };
    let buckets = packed(&mut of.buckets().iter().copied());
    bytes_field(&mut point, histogram::BUCKETS, &buckets);
    let bounds = packed(&mut BOUNDS.iter().map(|bound| bound.to_bits()));
    bytes_field(&mut point, histogram::BOUNDS, &bounds);
    put_labels(&mut point, histogram::ATTRIBUTES, row);
    point
}

fn begin_point((start, time): Times) -> Vec<u8> {
    let mut point = Vec::new();
    fixed64_field(&mut point, point::START, start);
    fixed64_field(&mut point, point::TIME, time.max(start));
    point
}

fn put_labels(out: &mut Vec<u8>, number: u32, row: &Row) {
    if row.service.is_none() {
        attribute(out, number, OVERFLOW, Arg::Bool(true));
    }
    for (name, value) in &row.labels {
        attribute(out, number, name, Arg::Str(value));
    }
}

/// The `ExportMetricsServiceRequest` of some of the points.
pub(super) fn request(points: &[Point], labels: &Labels) -> Vec<u8> {
    let mut request = Vec::new();
    for of_service in points.chunk_by(|one, next| one.service == next.service) {
        let resource = labels.resource(of_service[0].service.as_deref(), None, None);
        let mut scope = Vec::new();
        let version = env!("CARGO_PKG_VERSION");
        let size = field_size(export_request::SCOPE_NAME, SCOPE.len())
            + field_size(export_request::SCOPE_VERSION, version.len());
        length_field(&mut scope, export_request::SCOPE, size);
        bytes_field(&mut scope, export_request::SCOPE_NAME, SCOPE.as_bytes());
        bytes_field(&mut scope, export_request::SCOPE_VERSION, version.as_bytes());
        for of_kind in of_service.chunk_by(|one, next| one.kind == next.kind) {
            bytes_field(&mut scope, export_request::ITEMS, &metric(of_kind));
        }
        let size = field_size(export_request::RESOURCE, resource.len())
            + field_size(export_request::OF_SCOPE, scope.len());
        length_field(&mut request, export_request::OF_RESOURCE, size);
        bytes_field(&mut request, export_request::RESOURCE, &resource);
        bytes_field(&mut request, export_request::OF_SCOPE, &scope);
    }
    request
}

/// The `Metric` with points of one kind.
fn metric(points: &[Point]) -> Vec<u8> {
    let (mut metric, kind) = (Vec::new(), points[0].kind);
    bytes_field(&mut metric, field::NAME, kind.dotted_name().as_bytes());
    bytes_field(&mut metric, field::DESCRIPTION, kind.help().as_bytes());
    bytes_field(&mut metric, field::UNIT, kind.unit().as_bytes());
    let mut data = Vec::new();
    for point in points {
        bytes_field(&mut data, field::DATA_POINTS, &point.bytes);
    }
    varint_field(&mut data, field::TEMPORALITY, CUMULATIVE);
    let number = if kind == Kind::Argument {
        field::HISTOGRAM
    } else {
        varint_field(&mut data, field::IS_MONOTONIC, 1);
        field::SUM
    };
    bytes_field(&mut metric, number, &data);
    metric
}
