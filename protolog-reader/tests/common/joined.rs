//! Traces that are read as one, their bytes one after the other.

use protolog_reader::ByteSource;
use std::io;

/// Traces, one after the other.
#[derive(Debug)]
pub(crate) struct Joined {
    bytes: Vec<u8>,
    inputs: Vec<u64>,
}

impl ByteSource for Joined {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn inputs(&self) -> &[u64] {
        &self.inputs
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.bytes.read_at(offset, len)
    }
}

pub(crate) fn joined(traces: &[Vec<u8>]) -> Joined {
    let ends = traces.iter().scan(0, |end, trace| {
        let begin = *end;
        *end += trace.len() as u64;
        Some(begin)
    });
    Joined { inputs: ends.collect(), bytes: traces.concat() }
}
