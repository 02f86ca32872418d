//! gzip around the JSON form. Reproducible: no time, no name, no system in the header.

use crate::ReadError;
use flate2::{Compression, GzBuilder, bufread::MultiGzDecoder};
use std::io::{Read, Write};

/// The most that a compressed dictionary may expand to, in bytes: some three million messages, and an end to what a
/// small malicious file can ask for.
const MAX_EXPANDED: u64 = 512 << 20;

pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let write = encoder.write_all(bytes);
    write.and_then(|()| encoder.finish()).expect("a vector takes every write")
}

pub(crate) fn expand(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut expanded = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(MAX_EXPANDED + 1);
    decoder.read_to_end(&mut expanded).map_err(|error| ReadError::Gzip(error.to_string()))?;
    if expanded.len() as u64 > MAX_EXPANDED {
        return Err(ReadError::Gzip(format!("more than {MAX_EXPANDED} bytes")));
    }
    Ok(expanded)
}
