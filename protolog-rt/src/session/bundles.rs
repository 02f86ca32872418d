//! Packets in bundles, each a zlib stream in a packet of its own: `TracePacket.compressed_packets`.
//!
//! ```text
//! 0a n  92 03 m  78 …          m bytes of zlib: packets as they would stand in the file
//! ```
//!
//! A bundle holds whole packets and is read alone, so that a file that is cut off lacks its last bundle and no more.
//! Without the feature `compression` there are no bundles.

#[cfg(feature = "compression")]
pub(super) use self::zlib::Bundles;

/// Returns a compressor for the packets of one file, if there is a compression level.
#[cfg(feature = "compression")]
pub(super) fn bundles(level: Option<u32>) -> Option<Bundles> {
    level.map(Bundles::new)
}

/// Returns none.
#[cfg(not(feature = "compression"))]
pub(super) fn bundles(_: Option<u32>) -> Option<Bundles> {
    None
}

/// A type without values.
#[cfg(not(feature = "compression"))]
#[derive(Debug)]
pub(super) enum Bundles {}

#[cfg(not(feature = "compression"))]
impl Bundles {
    /// Never called.
    pub(super) fn pack(&mut self, _: &[u8]) -> &[u8] {
        match *self {}
    }
}

#[cfg(feature = "compression")]
mod zlib {
    use flate2::{Compress, Compression, FlushCompress};
    use protolog_core::schema::{packet, trace};
    use protozero::wire::{WireType, packed_varint, tag};

    const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
    const COMPRESSED_PACKETS: u64 = tag(packet::COMPRESSED_PACKETS, WireType::Bytes) as u64;

    /// Room for tags and sizes before the stream.
    const HEAD: usize = 16;

    /// Makes bundles, one after the other.
    #[derive(Debug)]
    pub(in super::super) struct Bundles {
        compress: Compress,
        bundle: Vec<u8>,
    }

    impl Bundles {
        /// A compressor with zlib's `level`, from 1 to 9.
        pub(super) fn new(level: u32) -> Self {
            let compress = Compress::new(Compression::new(level.clamp(1, 9)), true);
            Self { compress, bundle: Vec::new() }
        }

        /// Compresses `packets`, in a file's form, into one packet; no bytes become no packet.
        pub(in super::super) fn pack(&mut self, packets: &[u8]) -> &[u8] {
            self.bundle.clear();
            if packets.is_empty() {
                return &self.bundle;
            }
            self.compress.reset();
            // Incompressible bytes grow by a few in each 16 KiB.
            self.bundle.reserve(HEAD + packets.len() + packets.len() / 1024 + 64);
            self.bundle.resize(HEAD, 0);
            let done = self.compress.compress_vec(packets, &mut self.bundle, FlushCompress::Finish);
            debug_assert!(
                matches!(done, Ok(flate2::Status::StreamEnd)),
                "{done:?}, {} bytes",
                packets.len()
            );
            self.head()
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
}
