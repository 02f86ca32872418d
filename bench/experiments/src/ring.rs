//! A ring of chunks that one thread fills with packets as the runtime's.

use crate::machine;
use protolog_core::schema::{message, packet};
use protozero::wire::{varint_len, zigzag};
use protozero::{Fixed, Message, Writer};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the packet that a chunk begins with: clock, flags, thread.
const STATE: usize = 55;
/// Bytes of a chunk's header.
const HEADER: usize = 8;
/// Bytes for the size of a packet.
pub(crate) const SIZE: usize = 2;
/// A message's id; any will do.
const ID: u64 = 0x9e37_79b9_7f4a_7c15;

/// See the module.
pub(crate) struct Ring {
    pub(crate) memory: Vec<u8>,
    chunk: usize,
    /// The distance ahead at which lines are asked for; 0 for not at all.
    ahead: usize,
    /// Where the next packet goes, and where the chunk ends.
    pub(crate) position: usize,
    end: usize,
    /// Chunks taken so far.
    pub(crate) taken: u64,
    /// The shared part of a chunk's state.
    shared: AtomicU64,
    last: u64,
    /// Bytes of all packets, with their sizes and the chunks' beginnings, without what chunks have
    /// left at their ends.
    pub(crate) bytes: u64,
}

impl Ring {
    /// A ring of `size` bytes in chunks of `chunk` bytes.
    pub(crate) fn new(size: usize, chunk: usize, ahead: usize) -> Self {
        Self {
            memory: vec![1; size],
            chunk,
            ahead,
            position: 0,
            end: 0,
            taken: 0,
            shared: AtomicU64::new(0),
            last: machine::ticks(),
            bytes: 0,
        }
    }

    /// Takes the next chunk: compare-and-swap for it, its first packet.
    pub(crate) fn take(&mut self) {
        for step in 0..2 {
            let swap = |state: u64| Some(state + step);
            let _ = self.shared.fetch_update(Ordering::AcqRel, Ordering::Acquire, swap);
        }
        let chunks = self.memory.len() / self.chunk;
        let start = self.taken as usize % chunks * self.chunk;
        self.taken += 1;
        self.end = start + self.chunk;
        self.position = start + HEADER + STATE;
        self.bytes += STATE as u64;
        if let Some(state) = self.memory.get_mut(start..self.position) {
            state.fill(black_box(0x5a));
        }
    }

    /// The time since the message before.
    #[inline]
    pub(crate) fn delta(&mut self) -> u64 {
        let now = machine::ticks();
        let delta = now.wrapping_sub(self.last);
        self.last = now;
        delta
    }

    /// Writes one packet; false where the chunk has no room for it.
    #[inline]
    pub(crate) fn packet(&mut self, fill: impl FnOnce(&mut Message<'_, Fixed<'_>>)) -> bool {
        let Some(free) = self.memory.get_mut(self.position + SIZE..self.end) else { return false };
        let mut writer = Writer::new(Fixed::new(free));
        fill(&mut writer.message());
        let Ok(done) = writer.finish() else { return false };
        let size = done.length as usize;
        if let Some([low, high]) = self.memory.get_mut(self.position..self.position + SIZE) {
            (*low, *high) = (size as u8 | 0x80, (size >> 7) as u8);
        }
        self.position += SIZE + size;
        self.bytes += (SIZE + size) as u64;
        if self.ahead > 0 {
            machine::prefetch(&self.memory, self.position + self.ahead);
        }
        true
    }

    /// Logs two integers.
    #[inline]
    pub(crate) fn two_ints(&mut self, number: u64) {
        let delta = self.delta();
        let fill = |to: &mut Message<'_, Fixed<'_>>| {
            let size = 9 + 1 + varint_len(zigzag(number as i64)) + 2;
            to.uint64(packet::TIMESTAMP, delta);
            to.nested_exact(packet::PROTOLOG_MESSAGE, size)
                .fixed64(message::MESSAGE_ID, ID)
                .sint64(message::SINT64_PARAMS, number as i64)
                .sint64(message::SINT64_PARAMS, 7);
        };
        if !self.packet(fill) {
            self.take();
            self.packet(fill);
        }
    }

    /// The id of all messages.
    pub(crate) const fn id() -> u64 {
        ID
    }
}
