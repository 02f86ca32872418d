//! Packets in bundles, each a zlib stream in a packet of its own: `TracePacket.compressed_packets`.
//!
//! ```text
//! 0a n  92 03 m  78 …          m bytes of zlib: packets as they would stand in the file
//! ```
//!
//! A bundle holds whole packets and is read alone, so that a file that is cut off lacks its last
//! bundle and no more. Without the feature `compression` there are no bundles.

#[cfg(feature = "compression")]
pub(in crate::session) use self::zlib::Bundles;

/// Returns a compressor for the packets of one file, if there is a compression level.
#[cfg(feature = "compression")]
pub(in crate::session) fn bundles(level: Option<u32>) -> Option<Bundles> {
    level.map(Bundles::new)
}

/// Returns none.
#[cfg(not(feature = "compression"))]
pub(in crate::session) fn bundles(_: Option<u32>) -> Option<Bundles> {
    None
}

/// Returns none.
#[cfg(not(feature = "compression"))]
pub(in crate::session) fn unpack(_: &[u8]) -> Option<Vec<u8>> {
    None
}

/// A type without values.
#[cfg(not(feature = "compression"))]
#[derive(Debug)]
pub(in crate::session) enum Bundles {}

#[cfg(not(feature = "compression"))]
impl Bundles {
    /// Never called.
    pub(in crate::session) fn pack(&mut self, _: &[u8]) -> std::io::Result<&[u8]> {
        match *self {}
    }
}

/// Returns the packets of a bundle, in a file's form; none if they can't be had.
#[cfg(feature = "compression")]
pub(in crate::session) fn unpack(stream: &[u8]) -> Option<Vec<u8>> {
    zlib::unpack(stream)
}

#[cfg(feature = "compression")]
mod zlib {
    use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
    use protolog_core::schema::{packet, trace};
    use protozero::wire::{WireType, packed_varint, tag};
    use std::io;

    const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
    const COMPRESSED_PACKETS: u64 = tag(packet::COMPRESSED_PACKETS, WireType::Bytes) as u64;

    /// The most bytes of packets in a bundle that is read, as of a packet that
    /// `protolog_recording` looks into. Sessions gather less than 1 MiB, and a longer bundle is one
    /// packet; but somebody else may have put a stream into the file that expands a thousandfold.
    const MAX_PACKETS: usize = 64 << 20;

    /// Room for tags and sizes before the stream.
    const HEAD: usize = 16;

    /// Makes bundles, one after the other.
    #[derive(Debug)]
    pub(in crate::session) struct Bundles {
        compress: Compress,
        bundle: Vec<u8>,
    }

    impl Bundles {
        /// A compressor with zlib's `level`, from 1 to 9.
        pub(in crate::session) fn new(level: u32) -> Self {
            let compress = Compress::new(Compression::new(level.clamp(1, 9)), true);
            Self { compress, bundle: Vec::new() }
        }

        /// Compresses `packets`, in a file's form, into one packet; no bytes become no packet.
        pub(in crate::session) fn pack(&mut self, packets: &[u8]) -> io::Result<&[u8]> {
            self.bundle.clear();
            if packets.is_empty() {
                return Ok(&self.bundle);
            }
            self.compress.reset();
            self.bundle.resize(HEAD, 0);
            // How much incompressible bytes grow is up to the compressor and its level.
            let mut room = packets.len() + packets.len() / 1024 + 64;
            loop {
                self.bundle.reserve(room);
                let rest = &packets[self.compress.total_in() as usize..];
                let finish = FlushCompress::Finish;
                match self.compress.compress_vec(rest, &mut self.bundle, finish)? {
                    Status::StreamEnd => return Ok(self.head()),
                    Status::Ok | Status::BufError => room = packets.len() / 8 + 64,
                }
            }
        }

        /// Puts tags and sizes before the stream.
        fn head(&mut self) -> &[u8] {
            let stream = self.bundle.len() - HEAD;
            let (field, field_len) = packed_varint(COMPRESSED_PACKETS);
            let (size, size_len) = packed_varint(stream as u64);
            let inner = field_len + size_len;
            let (outer, outer_len) = packed_varint((inner + stream) as u64);
            let start = HEAD - inner - outer_len - 1;
            let parts =
                [(PACKET as u128, 1), (outer, outer_len), (field, field_len), (size, size_len)];
            let mut at = start;
            for (bits, length) in parts {
                self.bundle[at..at + length].copy_from_slice(&bits.to_le_bytes()[..length]);
                at += length;
            }
            &self.bundle[start..]
        }
    }

    /// See above.
    pub(in crate::session) fn unpack(stream: &[u8]) -> Option<Vec<u8>> {
        let mut packets = Vec::new();
        unpack_into(&mut packets, stream).map(|()| packets)
    }

    /// Inflates a bundle into `packets`, which is empty. None if that fails, or is too much.
    fn unpack_into(packets: &mut Vec<u8>, stream: &[u8]) -> Option<()> {
        let mut inflate = Decompress::new(true);
        loop {
            // Twice as many as before, and one byte too many at most.
            let room = packets.len().max(2 * stream.len() + 64);
            packets.try_reserve_exact(room.min(MAX_PACKETS + 1 - packets.len())).ok()?;
            let (rest, before) = (&stream[inflate.total_in() as usize..], inflate.total_out());
            let status = inflate.decompress_vec(rest, packets, FlushDecompress::Finish).ok()?;
            if packets.len() > MAX_PACKETS {
                return None;
            }
            match status {
                Status::StreamEnd => return Some(()),
                Status::Ok | Status::BufError if inflate.total_out() > before => {}
                _ => return None,
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// The zlib stream of a bundle.
        fn stream(bundle: &[u8]) -> &[u8] {
            fn only(message: &[u8]) -> &[u8] {
                let mut fields = protozero::Reader::new(message);
                let field = fields.next().expect("a field").expect("a field that is whole");
                assert!(fields.next().is_none());
                field.as_bytes().expect("bytes")
            }
            only(only(bundle))
        }

        /// The bytes of a bundle.
        fn unpacked(bundle: &[u8]) -> Vec<u8> {
            assert_eq!(unpack(&stream(bundle)[..8]), None, "a part of a stream");
            unpack(stream(bundle)).expect("a bundle")
        }

        #[test]
        fn a_bundle_that_expands_too_far_is_refused_before_it_is_in_memory() {
            let zeros = vec![0; MAX_PACKETS + 1];
            for (size, is_read) in [(MAX_PACKETS, true), (MAX_PACKETS + 1, false)] {
                let mut bundles = Bundles::new(1);
                let bundle = bundles.pack(&zeros[..size]).expect("a bundle");
                assert!(bundle.len() < size / 100, "{size}");
                let mut packets = Vec::new();
                let read = unpack_into(&mut packets, stream(bundle));
                assert_eq!(read.is_some(), is_read, "{size}");
                assert!(packets.capacity() <= MAX_PACKETS + 1, "{size}: {}", packets.capacity());
            }
        }

        /// Texts in scripts of three bytes a character grow more than random bytes do.
        #[test]
        fn whatever_grows_is_whole() {
            let mut state = 88_172_645_463_325_252_u64;
            let mut random = move || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state
            };
            let bytes: Vec<u8> = (0..300_000).map(|_| random() as u8).collect();
            let text: String = (0..700_000)
                .map(|_| char::from_u32(0x4e00 + (random() % 0x5200) as u32).expect("a character"))
                .collect();
            for level in 1..=9 {
                let mut bundles = Bundles::new(level);
                for packets in [&bytes[..], text.as_bytes(), &text.as_bytes()[..3_000], b"x"] {
                    let bundle = bundles.pack(packets).expect("a bundle");
                    assert!(unpacked(bundle) == packets, "level {level}");
                }
            }
        }
    }
}
