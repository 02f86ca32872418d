//! Records that go into one request, each with its resource and scope.
//!
//! Invariant: a batch can be divided at any record, since a collector may refuse a large one.

use std::ops::Range;
use std::sync::Arc;

use super::encode::{bytes_field, export_request as field, field_size, length_field};
use super::state::Mark;

/// A request has at most so many records, and about so many bytes before it is compressed.
const MOST_RECORDS: usize = 4_096;
const MOST_BYTES: usize = 2 << 20;

/// Encoded records, and the places in traces that are sent with them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    pub(super) records: Vec<Record>,
    /// The places that traces are sent to when all of these records are.
    pub(super) marks: Vec<Mark>,
}

/// One record, as its place in the bytes of the batch.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) resource: Arc<[u8]>,
    pub(super) scope: Arc<str>,
    at: Range<usize>,
}

impl Batch {
    /// Adds a `LogRecord`.
    pub(super) fn push(&mut self, resource: &Arc<[u8]>, scope: &Arc<str>, record: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        let at = start..self.bytes.len();
        self.records.push(Record { resource: resource.clone(), scope: scope.clone(), at });
    }

    pub(super) fn is_full(&self) -> bool {
        self.records.len() >= MOST_RECORDS || self.bytes.len() >= MOST_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.marks.is_empty()
    }

    /// The `ExportLogsServiceRequest` of some of the records. Those of one resource and scope stay
    /// in their order.
    pub(super) fn request(&self, records: &[Record]) -> Vec<u8> {
        let mut order: Vec<&Record> = records.iter().collect();
        // Equal ones are the same ones: see `Interner`.
        order.sort_by_key(|it| (it.resource.as_ptr(), it.scope.as_ptr()));
        let mut request = Vec::with_capacity(self.bytes.len() + self.bytes.len() / 8);
        for of_resource in order.chunk_by(|one, next| Arc::ptr_eq(&one.resource, &next.resource)) {
            let resource = &of_resource[0].resource;
            let scopes: Vec<(&[&Record], usize)> = of_resource
                .chunk_by(|one, next| Arc::ptr_eq(&one.scope, &next.scope))
                .map(|records| (records, scope_size(records)))
                .collect();
            let size: usize =
                scopes.iter().map(|(_, size)| field_size(field::OF_SCOPE, *size)).sum();
            let size = size + field_size(field::RESOURCE, resource.len());
            length_field(&mut request, field::OF_RESOURCE, size);
            bytes_field(&mut request, field::RESOURCE, resource);
            for (records, size) in scopes {
                length_field(&mut request, field::OF_SCOPE, size);
                self.write_scope(records, &mut request);
            }
        }
        request
    }

    fn write_scope(&self, records: &[&Record], out: &mut Vec<u8>) {
        let name = records[0].scope.as_bytes();
        length_field(out, field::SCOPE, field_size(field::SCOPE_NAME, name.len()));
        bytes_field(out, field::SCOPE_NAME, name);
        for record in records {
            bytes_field(out, field::ITEMS, &self.bytes[record.at.clone()]);
        }
    }
}

/// The size of `ScopeLogs`.
fn scope_size(records: &[&Record]) -> usize {
    let name = field_size(field::SCOPE_NAME, records[0].scope.len());
    let records = records.iter().map(|record| field_size(field::ITEMS, record.at.len()));
    field_size(field::SCOPE, name) + records.sum::<usize>()
}
