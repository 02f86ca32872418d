//! Packets of a trace, put together from the slices that the service sends.
//!
//! Invariant: a packet takes no more memory than it may have bytes, whatever the service sends.

use crate::error::Error;
use protozero::wire::{WireType, packed_varint, tag};
use protozero::{DecodeError, Reader};

/// The most bytes of a packet: those of a message that Perfetto's own writers can make.
pub(crate) const MAX_PACKET: usize = (256 << 20) - 1;

/// The field of packets in `Trace`.
const PACKET: u32 = 1;

/// See the module.
#[derive(Debug)]
pub(crate) struct PacketBuffer {
    bytes: Vec<u8>,
    most: usize,
}

impl PacketBuffer {
    /// Creates a buffer for packets of at most so many bytes.
    pub(crate) fn with_limit(most: usize) -> Self {
        Self { bytes: Vec::new(), most }
    }

    /// Appends a slice, and returns the packet that it ends, as a field of `Trace`.
    pub(crate) fn push(&mut self, slice: Reader<'_>) -> Result<Option<Vec<u8>>, Error> {
        let malformed = |error: DecodeError| Error::Frame(error.into());
        let mut is_last = false;
        for field in slice {
            let field = field.map_err(malformed)?;
            match field.number {
                1 => {
                    let data = field.as_bytes().map_err(malformed)?;
                    if data.len() > self.most - self.bytes.len() {
                        return Err(Error::PacketTooLong { most: self.most });
                    }
                    self.bytes.extend_from_slice(data);
                }
                2 => is_last = field.as_bool().map_err(malformed)?,
                _ => {}
            }
        }
        if !is_last {
            return Ok(None);
        }
        let (size, size_len) = packed_varint(self.bytes.len() as u64);
        let mut field = Vec::with_capacity(1 + size_len + self.bytes.len());
        field.push(tag(PACKET, WireType::Bytes) as u8);
        field.extend_from_slice(&size.to_le_bytes()[..size_len]);
        field.append(&mut self.bytes);
        Ok(Some(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::message;

    fn slice(data: &[u8], is_last: bool) -> Vec<u8> {
        message(|to| _ = to.bytes(1, data).bool(2, is_last))
    }

    #[test]
    fn slices_become_packets() {
        let mut buffer = PacketBuffer::with_limit(400);
        let mut push = |data: &[u8], is_last| buffer.push(Reader::new(&slice(data, is_last)));
        assert_eq!(push(b"a", true).unwrap(), Some(b"\x0a\x01a".to_vec()));
        assert_eq!(push(&[7; 150], false).unwrap(), None);
        let whole = message(|to| _ = to.bytes(1, &[7; 300]));
        assert_eq!(push(&[7; 150], true).unwrap(), Some(whole));
        assert_eq!(push(b"", true).unwrap(), Some(vec![0x0a, 0]));
        assert!(buffer.push(Reader::new(&[0x0a, 9])).is_err());
    }

    #[test]
    fn a_packet_without_an_end_is_refused() {
        let mut buffer = PacketBuffer::with_limit(400);
        for _ in 0..4 {
            assert!(buffer.push(Reader::new(&slice(&[7; 100], false))).unwrap().is_none());
        }
        let error = buffer.push(Reader::new(&slice(&[7], true))).unwrap_err();
        assert_eq!(error.to_string(), "the service sent a packet of more than 400 bytes");
    }
}
