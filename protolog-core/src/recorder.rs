//! The layout of a recording: a file that a process maps and logs into, so that its messages
//! survive a kill.
//!
//! ```text
//! 0       header, one page of 4096 bytes
//! 4096    stream: 2 × { u16 length, path of the trace file; u16 number, that many { u32 group, u32 cause, u64 count }: losses that
//!         earlier files of the trace report }, 4096 bytes each
//! 12288   path of trigger files, marks of fatal signals: see `recorder/signals.rs`
//! 20480   place of the pinned ring, counters of its writers: see `recorder/pinned.rs`
//! 28672   addresses of the parts of a recording without a file: see `recorder/parts.rs`; the space up to the ring is unused
//! 65536   ring: pages and chunks as in crate::chunk
//! …       pinned ring, if there is one: the same
//! …       stream: 2 × 32768 × u64 position, by writer id
//! …       metadata: the session's own packets, mostly the dictionary; it grows
//! ```
//!
//! The header, in the byte order of the machine; fields marked + change while the process runs, by
//! atomic operations:
//!
//! ```text
//!    0 u8[8] magic; stored last, so a file without it is incomplete
//!    8 u32 version            12 u32 order: 0x0a0b0c0d        16 u32 pid
//!   20 u32 size of a page     24 u32 number of pages          28 u32 clock source: 1 kernel, 2 CPU counter
//!   32 u64 offset of the ring 40 u64 offset of the metadata
//!   48 u64 realtime           56 u64 monotonic                64 u64 boottime    in ns, read at the same moment
//!   72 u8[16] boot id         88 u32 size of the build id     92 u8[32] build id
//!  128 u64 + bytes of metadata
//!  136 u64 + packets that did not fit the metadata
//!  144 u64 + messages in all chunks ever completed, of writers without a counter of their own
//!  152 u64 + stream: generation; 0 until a trace file was begun
//!  160 2 × u64 + stream: valid bytes of the trace file, in an even and in an odd generation
//!  176 u64 offset of the positions; 0 if the session does not stream
//!  184 u8[16] + id of the session; 0 once nobody needs the recording
//!  200 u64 + messages that another program removed from the trace file
//!  208 u64 + losses by cause 10 that have no counter below
//!  256 64 × { u64 + key, u64 + count } losses by group and cause; key: bit 63 set, group << 8 | cause
//! 1280 8 × u64 + losses that have no counter above, by cause - 1
//! 1344 344 × u64 + messages in all chunks ever completed, by writer id - 1
//! ```
//!
//! The metadata is a sequence of records: u32 size, u32 checksum (the low half of [`crate::hash`]),
//! then the bytes of a packet. The header says how many bytes of it are valid; a record is written
//! before it counts.
//!
//! The buffer of a session that streams is no ring: its chunks are freed once they are in the trace
//! file. The generation tells exactly what was written when the process died: the file, its
//! valid bytes, and each writer's [`Position`], all from the copy for even or odd generations. A
//! new generation is written to the other copy before it counts, and chunks are freed after that,
//! so that each packet is in the valid bytes of the trace file or in a chunk from its writer's
//! position on.
//!
//! Invariants: nothing here touches memory; every function is total. Offsets up to 48 stay in later
//! versions.

mod losses;
mod parts;
mod pinned;
mod signals;

pub use losses::{
    LIMITED_AT, LOSSES, LOSSES_AT, OTHER_LOSSES, OTHER_LOSSES_AT, PASSED_OVER_AT, REMOVED_AT,
    REPEATED_AT, loss_key, other_losses_at, parse_loss_key,
};
pub use parts::{
    HEADER_ADDRESS_AT, MAX_PARTS, MemoryPart, PART_COUNT_AT, WRITER_ENTRY_SIZE,
    WRITER_LOSS_SLOT_SIZE, WRITER_LOSS_SLOTS, WRITER_LOSSES_SIZE, WRITERS, WRITERS_ADDRESS_AT,
    add_losses, add_messages, header_address, memory_part_at, memory_parts, writer_losses,
};
pub use pinned::{
    PINNED_COUNTS, PINNED_COUNTS_AT, PINNED_RING_AT, PinnedRing, pinned_message_count_at,
};
pub use signals::{
    EVENT_FILES_AT, FATAL_SIGNALS, MAX_EVENT_PATH, SIGNAL_MARK_WORDS, SIGNAL_MARKS,
    SIGNAL_MARKS_AT, SignalKind, SignalMark, event_path,
};

use crate::hash;

/// The first bytes of a recording.
pub const MAGIC: [u8; 8] = *b"protorec";
/// The version of this layout.
pub const VERSION: u32 = 2;
/// Size of the header, in bytes.
pub const HEADER_SIZE: usize = 4096;
/// Offset of the ring: a multiple of every machine's page size.
pub const RING_AT: usize = 64 * 1024;
/// Maximum length of a build id, in bytes.
pub const MAX_BUILD_ID: usize = 32;
/// Offset of the number of valid bytes of the metadata, a u64.
pub const METADATA_USED_AT: usize = 128;
/// Offset of the number of packets that did not fit the metadata, a u64.
pub const METADATA_LOST_AT: usize = 136;
/// Offset of the generation of a stream, a u64.
pub const GENERATION_AT: usize = 152;
/// Offset of the valid bytes of the trace file in an even and in an odd generation, two u64.
pub const TRACE_BYTES_AT: usize = 160;
/// Offset of the trace file's path and of the losses that earlier files report, in an even
/// generation; those in an odd one follow after [`TRACE_FILE_SIZE`] bytes.
pub const TRACE_FILE_AT: usize = HEADER_SIZE;
/// Size of a path and of losses with their lengths before them, in bytes.
pub const TRACE_FILE_SIZE: usize = 4096;
/// Size of a loss that an earlier file reports, in bytes.
pub const REPORTED_LOSS_SIZE: usize = 16;
/// Number of positions in one generation: one more than there are writers.
pub const POSITIONS: usize = 32768;
/// Offset of the number of messages in all chunks ever completed, of writers without a counter of
/// their own, a u64.
pub const OTHER_MESSAGE_COUNT_AT: usize = 144;
/// Offset of the same numbers of the other writers, one u64 each.
pub const MESSAGE_COUNTS_AT: usize = OTHER_LOSSES_AT + 8 * OTHER_LOSSES;
/// Number of writers with a message counter of their own, from id 1 up.
pub const MESSAGE_COUNTS: usize = (HEADER_SIZE - MESSAGE_COUNTS_AT) / 8;
/// Size of a metadata record's header, in bytes.
pub const RECORD_HEADER_SIZE: usize = 8;

/// Offset of the offset of the positions, a u64; the id of the session follows.
const POSITIONS_AT_AT: usize = 176;
/// Offset of the id of the session.
pub const SESSION_ID_AT: usize = POSITIONS_AT_AT + 8;
/// The id in a recording that nobody needs any more, and that its process was not allowed to
/// remove.
pub const NEEDLESS: [u8; 16] = [0; 16];
const ORDER: u32 = 0x0a0b_0c0d;

/// The constant part of a recording's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The layout's version.
    pub version: u32,
    /// The process id.
    pub pid: u32,
    /// Size of a page of the ring, in bytes.
    pub page: u32,
    /// Number of pages of the ring.
    pub pages: u32,
    /// The clock source of the process.
    pub clock: ClockSource,
    /// Offset of the ring in the file, in bytes.
    pub ring_at: u64,
    /// Offset of the metadata in the file, in bytes.
    pub metadata_at: u64,
    /// The wall clock at the start, in nanoseconds since 1970.
    pub realtime: u64,
    /// MONOTONIC at the same moment, in nanoseconds.
    pub monotonic: u64,
    /// BOOTTIME at the same moment, in nanoseconds.
    pub boottime: u64,
    /// The id of the machine's boot; zero if it is not known.
    pub boot_id: [u8; 16],
    /// The program's build id.
    pub build_id: BuildId,
    /// Offset of the positions of writers in the file, in bytes; 0 if the session does not stream.
    pub positions_at: u64,
    /// The id of the session; [`NEEDLESS`] in a recording that nobody needs.
    pub session_id: [u8; 16],
}

/// A writer's place in its packets up to which they are in the trace file of a session that
/// streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The first chunk that is not wholly in the file.
    pub chunk: u32,
    /// Number of packets of that chunk that are in the file.
    pub packets: u16,
    /// True if the file lacks the state that the following packets of that chunk build on.
    pub is_stale: bool,
}

/// The clock source of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ClockSource {
    /// The kernel, at each message.
    Kernel = 1,
    /// The CPU's counter, which is compared with the kernel's clock all the time.
    Counter = 2,
}

/// The build id of a program; empty if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildId {
    bytes: [u8; MAX_BUILD_ID],
    length: usize,
}

/// The ways in which bytes can fail to be a readable recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// They do not begin with the magic number.
    WrongMagic,
    /// The file was created, but its header is not complete.
    Unfinished,
    /// They end within the header.
    Truncated,
    /// It was written on a machine with another byte order.
    ByteOrder,
    /// A field has an impossible value.
    Corrupt,
}

impl Position {
    /// The position as the file has it.
    pub const fn to_word(self) -> u64 {
        (self.chunk as u64) << 32 | (self.is_stale as u64) << 16 | self.packets as u64
    }

    /// The position that `word` stands for.
    pub const fn from_word(word: u64) -> Self {
        Self { chunk: (word >> 32) as u32, packets: word as u16, is_stale: word & 1 << 16 != 0 }
    }
}

impl BuildId {
    /// The id, truncated to [`MAX_BUILD_ID`] bytes.
    pub fn new(id: &[u8]) -> Self {
        let length = id.len().min(MAX_BUILD_ID);
        let mut bytes = [0; MAX_BUILD_ID];
        for (to, from) in bytes.iter_mut().zip(id) {
            *to = *from;
        }
        Self { bytes, length }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Header {
    /// The constant part of the header, with zeros in place of the magic number.
    pub fn to_bytes(&self) -> [u8; LOSSES_AT] {
        let mut bytes = [0; LOSSES_AT];
        let mut at = MAGIC.len();
        let mut put = |part: &[u8]| put_at(&mut bytes, &mut at, part);
        let clock = self.clock as u32;
        for word in [self.version, ORDER, self.pid, self.page, self.pages, clock] {
            put(&word.to_ne_bytes());
        }
        let times = [self.realtime, self.monotonic, self.boottime];
        for word in [self.ring_at, self.metadata_at].into_iter().chain(times) {
            put(&word.to_ne_bytes());
        }
        put(&self.boot_id);
        put(&(self.build_id.length as u32).to_ne_bytes());
        put(&self.build_id.bytes);
        at = POSITIONS_AT_AT;
        put_at(&mut bytes, &mut at, &self.positions_at.to_ne_bytes());
        put_at(&mut bytes, &mut at, &self.session_id);
        bytes
    }

    /// Parses the header of a recording. The ring and the metadata may lie beyond the end of
    /// `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let Some((magic, _)) = bytes.split_first_chunk() else {
            return Err(HeaderError::WrongMagic);
        };
        if *magic == [0; 8] && read_u32(bytes, 12) == Some(ORDER) {
            return Err(HeaderError::Unfinished);
        }
        if *magic != MAGIC {
            return Err(HeaderError::WrongMagic);
        }
        let u32_at = |at| read_u32(bytes, at).ok_or(HeaderError::Truncated);
        let u64_at = |at| read_u64(bytes, at).ok_or(HeaderError::Truncated);
        match u32_at(12)? {
            ORDER => {}
            order if order == ORDER.swap_bytes() => return Err(HeaderError::ByteOrder),
            _ => return Err(HeaderError::Corrupt),
        }
        let (page, pages) = (u32_at(20)?, u32_at(24)?);
        let clock = if u32_at(28)? == ClockSource::Counter as u32 {
            ClockSource::Counter
        } else {
            ClockSource::Kernel
        };
        let (ring_at, metadata_at) = (u64_at(32)?, u64_at(40)?);
        let ring_end = ring_at.checked_add(page as u64 * pages as u64);
        let possible = page.is_power_of_two() && (4096..=32 * 1024).contains(&page);
        if !possible || ring_at < HEADER_SIZE as u64 || ring_end.is_none_or(|end| end > metadata_at)
        {
            return Err(HeaderError::Corrupt);
        }
        let part = |at: usize, size| bytes.get(at..at + size).ok_or(HeaderError::Truncated);
        let mut boot_id = [0; 16];
        boot_id.copy_from_slice(part(72, 16)?);
        let build_id = part(92, MAX_BUILD_ID)?;
        let build_id = BuildId::new(build_id.get(..u32_at(88)? as usize).unwrap_or(build_id));
        // Layouts of version 1 have zeros there.
        let mut session_id = [0; 16];
        session_id.copy_from_slice(part(SESSION_ID_AT, 16)?);
        Ok(Self {
            version: u32_at(8)?,
            pid: u32_at(16)?,
            page,
            pages,
            clock,
            ring_at,
            metadata_at,
            realtime: u64_at(48)?,
            monotonic: u64_at(56)?,
            boottime: u64_at(64)?,
            boot_id,
            build_id,
            positions_at: u64_at(POSITIONS_AT_AT)?,
            session_id,
        })
    }
}

/// Copies `part` to `at`, and moves `at` behind it.
fn put_at(bytes: &mut [u8], at: &mut usize, part: &[u8]) {
    for byte in part {
        bytes[*at] = *byte;
        *at += 1;
    }
}

/// The header of a packet's metadata record.
pub fn record_header(packet: &[u8]) -> [u8; RECORD_HEADER_SIZE] {
    let (size, sum) = ((packet.len() as u32).to_ne_bytes(), (hash(packet) as u32).to_ne_bytes());
    [size[0], size[1], size[2], size[3], sum[0], sum[1], sum[2], sum[3]]
}

/// Offset of the message counter of writer `id`, if it has one of its own.
pub const fn message_count_at(id: u16) -> Option<usize> {
    let index = (id as usize).wrapping_sub(1);
    if index < MESSAGE_COUNTS { Some(MESSAGE_COUNTS_AT + 8 * index) } else { None }
}

/// The packet of the first record in `metadata`, and the rest. None at the end, and if the record
/// is incomplete or its checksum is wrong.
pub fn next_record(metadata: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, sum) = (read_u32(metadata, 0)?, read_u32(metadata, 4)?);
    let (packet, rest) = metadata.get(RECORD_HEADER_SIZE..)?.split_at_checked(size as usize)?;
    (hash(packet) as u32 == sum).then_some((packet, rest))
}

/// The u32 at `at`.
pub fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The u64 at `at`.
pub fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn header() -> Header {
        Header {
            version: VERSION,
            pid: 4711,
            page: 4096,
            pages: 16,
            clock: ClockSource::Counter,
            ring_at: RING_AT as u64,
            metadata_at: 2 * RING_AT as u64,
            realtime: 1,
            monotonic: 2,
            boottime: 3,
            boot_id: [7; 16],
            build_id: BuildId::new(&[9; 20]),
            positions_at: 5,
            session_id: [6; 16],
        }
    }

    fn bytes() -> Vec<u8> {
        let mut bytes = header().to_bytes().to_vec();
        bytes[..8].copy_from_slice(&MAGIC);
        bytes.resize(HEADER_SIZE, 0);
        bytes
    }

    #[test]
    fn a_header_is_read_back() {
        assert_eq!(Header::parse(&bytes()), Ok(header()));
        assert_eq!(header().build_id.as_bytes(), [9; 20]);
        assert_eq!(BuildId::new(&[1; 100]).as_bytes(), [1; MAX_BUILD_ID]);
        // The fields do not overlap the counters.
        assert_eq!(header().to_bytes()[124..POSITIONS_AT_AT], [0; POSITIONS_AT_AT - 124]);
    }

    #[test]
    fn only_valid_page_sizes_are_accepted() {
        let parse = |page: u32, ring_at: u64| {
            let header =
                Header { page, pages: 1, ring_at, metadata_at: ring_at + page as u64, ..header() };
            let mut bytes = bytes();
            let fields = header.to_bytes();
            bytes[8..fields.len()].copy_from_slice(&fields[8..]);
            Header::parse(&bytes).map(|parsed| (parsed.page, parsed.ring_at))
        };
        for page in [4 << 10, 8 << 10, 16 << 10, 32 << 10] {
            assert_eq!(parse(page, HEADER_SIZE as u64), Ok((page, HEADER_SIZE as u64)));
        }
        for page in [0, 2 << 10, 12 << 10, 64 << 10] {
            assert_eq!(parse(page, HEADER_SIZE as u64), Err(HeaderError::Corrupt), "{page}");
        }
        assert_eq!(
            parse(4096, HEADER_SIZE as u64 - 1),
            Err(HeaderError::Corrupt),
            "within the header"
        );
    }

    #[test]
    fn invalid_headers_are_refused() {
        let changed = |at: usize, value: &[u8]| {
            let mut bytes = bytes();
            bytes[at..at + value.len()].copy_from_slice(value);
            Header::parse(&bytes).unwrap_err()
        };
        assert_eq!(changed(0, b"x"), HeaderError::WrongMagic);
        assert_eq!(changed(0, &[0; 8]), HeaderError::Unfinished);
        assert_eq!(changed(12, &ORDER.swap_bytes().to_ne_bytes()), HeaderError::ByteOrder);
        assert_eq!(changed(12, &[0; 4]), HeaderError::Corrupt);
        assert_eq!(changed(20, &3u32.to_ne_bytes()), HeaderError::Corrupt);
        assert_eq!(changed(32, &[0xff; 8]), HeaderError::Corrupt);
        assert_eq!(changed(24, &[0xff; 4]), HeaderError::Corrupt, "more pages than fit");
        for end in 0..200 {
            let error = Header::parse(&bytes()[..end]).unwrap_err();
            let expected = if end < 8 { HeaderError::WrongMagic } else { HeaderError::Truncated };
            assert_eq!(error, expected, "cut at {end}");
        }
    }

    #[test]
    fn any_header_can_be_parsed() {
        for at in 0..METADATA_USED_AT {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = bytes();
                bytes[at] = value;
                let _ = Header::parse(&bytes);
            }
        }
    }

    #[test]
    fn records_are_read_up_to_a_corrupt_one() {
        let mut metadata = Vec::new();
        for packet in [&b"one"[..], b"", b"three"] {
            metadata.extend(record_header(packet));
            metadata.extend(packet);
        }
        let read = |metadata: &[u8]| {
            let (mut found, mut rest) = (Vec::new(), metadata.to_vec());
            while let Some((packet, after)) = next_record(&rest) {
                found.push(packet.to_vec());
                rest = after.to_vec();
            }
            found
        };
        assert_eq!(read(&metadata), [&b"one"[..], b"", b"three"]);
        let last = metadata.len() - 1;
        metadata[last] ^= 1;
        assert_eq!(read(&metadata), [&b"one"[..], b""]);
        assert_eq!(read(&metadata[..10]), [b""; 0]);
    }

    #[test]
    fn message_counters_fill_the_header() {
        assert_eq!(
            (message_count_at(0), message_count_at(1), MESSAGE_COUNTS),
            (None, Some(1344), 344)
        );
        assert_eq!((message_count_at(344), message_count_at(345)), (Some(HEADER_SIZE - 8), None));
    }

    #[test]
    fn positions_are_read_back() {
        for (chunk, packets, is_stale) in [(0, 0, false), (u32::MAX, u16::MAX, true), (7, 3, false)]
        {
            let position = Position { chunk, packets, is_stale };
            assert_eq!(Position::from_word(position.to_word()), position);
        }
        assert_eq!(Position::from_word(0), Position::default());
    }

    #[test]
    fn keys_of_losses_are_read_back() {
        assert_eq!(parse_loss_key(loss_key(u32::MAX, 7)), Some((u32::MAX, 7)));
        assert_eq!(parse_loss_key(loss_key(0, 1)), Some((0, 1)));
        assert_eq!(parse_loss_key(0), None);
    }
}
