//! Writes packets to a trace file: all of them, or up to the last one that fits.
//!
//! Invariant: the file ends with a whole packet, whether there was room or not; each packet is
//! written, or counted as lost.

use super::{OnFull, TraceFile};
use crate::session::packets::copied::OWN_SEQUENCE;
use crate::session::packets::for_file::Seal;
use crate::sys::thread::without_write_signals;
use protozero::Reader;
use std::io::{self, Seek, SeekFrom, Write};
use std::time::Instant;

impl TraceFile {
    /// Writes packets, and counts those that the file lacks.
    pub(super) fn write_out(&mut self, bytes: &[u8]) {
        let lacking = if self.error.is_none() { self.write_fitting(bytes) } else { bytes };
        if !lacking.is_empty() {
            let lost = self.gap.add_packets(lacking, Seal::new(OWN_SEQUENCE).bytes());
            self.lost.add(&lost);
        }
    }

    /// Writes packets up to the last one that fits, if there is an end of the room. Returns those
    /// that could not be written.
    fn write_fitting<'a>(&mut self, packets: &'a [u8]) -> &'a [u8] {
        if self.try_write(packets) {
            self.on_full = OnFull::Fill;
            return &[];
        }
        let is_full = self.error.as_ref().is_some_and(|error| is_no_room(error.kind()));
        let fills = self.on_full == OnFull::Fill;
        let (mut rest, mut most) = (packets, packets.len() / 2);
        while self.can_continue && is_full && fills && !rest.is_empty() {
            let size = prefix(rest, most);
            if self.try_write(&rest[..size]) {
                rest = &rest[size..];
            } else if size <= most {
                most = size / 2;
            } else {
                // It is one packet.
                break;
            }
        }
        rest
    }

    /// Writes packets. After an error, which is kept, the file is cut back, so that it ends with a
    /// whole packet and holds nothing that is counted as dropped.
    fn try_write(&mut self, packets: &[u8]) -> bool {
        let packed = match &mut self.bundles {
            Some(bundles) => bundles.pack(packets),
            None => Ok(packets),
        };
        let file = &mut self.file;
        let mut write = |packed: &[u8]| {
            let file = file.get_mut()?;
            without_write_signals(|| file.write_all(packed))
        };
        match packed.and_then(|packed| write(packed).map(|()| packed.len())) {
            Ok(length) => {
                self.written += length as u64;
                true
            }
            Err(error) => {
                self.error = Some(error);
                self.failed_at = Instant::now();
                self.can_continue = self.start.is_none() && self.cut().is_ok();
                false
            }
        }
    }

    /// Takes away a packet that was written in part.
    fn cut(&mut self) -> io::Result<u64> {
        let file = self.file.get_mut()?;
        file.set_len(self.written)?;
        file.seek(SeekFrom::Start(self.written))
    }
}

/// Returns whether an error says that there is no room for more in the file, on its disk or within
/// its user's quota.
fn is_no_room(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(kind, FileTooLarge | QuotaExceeded | StorageFull)
}

/// Returns the size of the longest prefix of whole packets of at most `most` bytes, or that of the
/// first packet.
fn prefix(packets: &[u8], most: usize) -> usize {
    let mut reader = Reader::new(packets);
    let mut size = 0;
    while let Some(Ok(_)) = reader.next() {
        let end = packets.len() - reader.rest().len();
        if size > 0 && end > most {
            break;
        }
        size = end;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn prefixes_are_whole_packets() {
        let packets = [&[0x0a, 2, 1, 1][..], &[0x0a, 4, 2, 2, 2, 2], &[0x0a, 0]].concat();
        let sizes: Vec<usize> = (0..13).map(|most| prefix(&packets, most)).collect();
        assert_eq!(sizes, [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 10, 10, 12]);
        assert_eq!(prefix(&[], 5), 0);
    }
}
