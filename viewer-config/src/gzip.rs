//! gzip around the JSON form. Reproducible: no time, no name, no system in the header.

use crate::ReadError;
use flate2::{Compression, GzBuilder, bufread::MultiGzDecoder};
use std::io::{Read, Write};

/// The number of times its size to which a compressed dictionary may expand; usual ones have about
/// ten.
const MAX_RATIO: u64 = 64;

/// The bytes to which any may expand, however small it is.
const LEAST_EXPANDED: u64 = 16 << 20;

pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let write = encoder.write_all(bytes);
    write.and_then(|()| encoder.finish()).expect("a vector takes every write")
}

pub(crate) fn expand(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    expand_to(bytes, (bytes.len() as u64).saturating_mul(MAX_RATIO).max(LEAST_EXPANDED))
}

fn expand_to(bytes: &[u8], limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut expanded = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(limit + 1);
    decoder.read_to_end(&mut expanded).map_err(|error| ReadError::Gzip(error.to_string()))?;
    if expanded.len() as u64 > limit {
        return Err(ReadError::Gzip(format!("it expands to more than {limit} bytes")));
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_nothing_of_time_and_place() {
        // Magic, deflate, no flags, time 0, best compression, system unknown.
        let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
        assert_eq!(compress(b"{}")[..10], header);
    }

    #[test]
    fn expansion_has_an_end() {
        let large = compress(&vec![b' '; LEAST_EXPANDED as usize + 1]);
        assert!(large.len() < 100_000 && expand(&large).is_err());
        let bomb = compress(&[b' '; 10_000]);
        assert!(bomb.len() < 100);
        assert_eq!(expand_to(&bomb, 10_000).map(|bytes| bytes.len()), Ok(10_000));
        let error = expand_to(&bomb, 9_999).unwrap_err().to_string();
        assert_eq!(error, "not a dictionary in gzip: it expands to more than 9999 bytes");
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = compress(b"{\"version\": \"2.0.0\"}");
        for end in 2..bytes.len() {
            assert!(expand(&bytes[..end]).is_err(), "cut at {end}");
        }
        let mut wrong_sum = bytes.clone();
        wrong_sum[bytes.len() - 5] ^= 1;
        assert!(expand(&wrong_sum).is_err());
    }
}
