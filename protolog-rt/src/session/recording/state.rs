//! The state of a recording, apart from its buffers: counters in its header, and its metadata.
//!
//! The layout is that of [`protolog_core::recorder`]. It is in a file that outlives the process
//! ([`crate::session::recording::recorder`]), or in memory that a core file of the process has
//! ([`crate::session::recording::in_memory`]).
//!
//! Invariants
//! - *metadata*: a record is whole before the header counts it; records are never changed.
//! - *order*: the magic is stored last, when everything else is there.

use crate::loss::{LossCounters, Mirror, Unwritten};
use crate::message_table::{self, RuntimeMessage};
use crate::session::filter::Filter;
use crate::session::packets::dictionary::Dictionary;
use crate::session::packets::process_packet::describe_process;
use crate::sync::{AtomicU64, Ordering};
use crate::sys::modules;
use crate::sys::process::asked_id;
use protolog_core::recorder::{
    LOSSES, LOSSES_AT, MAGIC, METADATA_LOST_AT, METADATA_USED_AT, OTHER_MESSAGE_COUNT_AT,
    WRITER_ENTRY_SIZE, loss_key, message_count_at, other_losses_at, pinned_message_count_at,
    record_header,
};
use protolog_shmem::Memory;
use protozero::Heap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The place of the metadata of a recording.
pub(super) trait MetadataStore: Debug + Send + Sync {
    /// Writes a record after the first `used` bytes of the metadata; false where it can't be. The
    /// header counts it afterwards.
    fn write(&self, header: &Memory, used: u64, record: &[u8]) -> bool;

    /// True if it outlives the process.
    fn is_file(&self) -> bool;
}

/// See the module.
#[derive(Debug)]
pub(crate) struct RecordingState {
    pid: u32,
    /// All that is before the ring.
    header: Memory,
    /// Counters in the header are those of writers of a pinned ring.
    has_pinned: bool,
    /// The positions of writers, if it is that of a stream.
    positions: Option<Memory>,
    metadata: Mutex<Metadata>,
    store: Box<dyn MetadataStore>,
    /// Where each writer counts drops and messages, by its id, if that is read there.
    writers: Option<Memory>,
}

/// The session's own packets: process and dictionary.
#[derive(Debug, Default)]
struct Metadata {
    dictionary: Dictionary,
    /// The number of modules ever loaded when their texts were written; none if it is not known.
    loads: Option<u64>,
    used: u64,
}

impl RecordingState {
    /// The state in `header`, which has all but the magic; `positions` are those of a stream.
    pub(super) fn new(
        header: Memory,
        has_pinned: bool,
        positions: Option<Memory>,
        store: Box<dyn MetadataStore>,
    ) -> Self {
        let pid = asked_id();
        let (metadata, writers) = (Mutex::default(), None);
        Self { pid, header, has_pinned, positions, metadata, store, writers }
    }

    /// The same, with a table of writers.
    pub(super) fn with_writers(self, table: Option<Memory>) -> Self {
        Self { writers: table, ..self }
    }

    /// Writes the packets of process and session, and the texts of all modules. Then it is a
    /// recording.
    pub(super) fn begin(&self, session_id: &[u8; 16], filter: &Filter) {
        let mut process = protozero::Writer::new(Heap::new());
        describe_process(&mut process.message(), self.pid, session_id, filter, None);
        self.append(&mut self.metadata(), &process.into_vec().unwrap_or_default());
        self.write_module_texts();
        self.store(0, u64::from_ne_bytes(MAGIC));
    }

    /// Returns whether drops and messages of writers are read where these count them.
    pub(in crate::session) fn reads_writers(&self) -> bool {
        self.writers.is_some()
    }

    /// Notes where a writer counts drops and messages.
    pub(in crate::session) fn note_counters(
        &self,
        id: u16,
        counters: Option<(&LossCounters, &AtomicU64)>,
    ) {
        let Some(writers) = &self.writers else { return };
        let addresses = counters.map_or([0; 2], |(losses, messages)| {
            [losses.address(), std::ptr::from_ref(messages).addr()]
        });
        for (number, address) in addresses.into_iter().enumerate() {
            let at = WRITER_ENTRY_SIZE * id as usize + size_of::<u64>() * number;
            writers.u64(at).store(address as u64, Ordering::Release);
        }
    }

    /// Makes it no recording any more, if it ends with the process: the session has ended.
    pub(in crate::session) fn end(&self) {
        if !self.store.is_file() && self.pid == asked_id() {
            self.store(0, 0);
        }
    }

    /// Stores bytes before the ring, at a multiple of 8, and zeros up to the next one.
    pub(in crate::session) fn store_bytes(&self, at: usize, bytes: &[u8]) {
        for (index, part) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.header.u64(at + 8 * index).store(u64::from_ne_bytes(word), Ordering::Relaxed);
        }
    }

    /// Stores positions of writers, from that number on.
    pub(in crate::session) fn store_positions(&self, first: usize, words: &[u64]) {
        let Some(positions) = &self.positions else { return };
        for (number, word) in (first..).zip(words) {
            positions.u64(8 * number).store(*word, Ordering::Relaxed);
        }
    }

    /// Stores a word of the header, after all that was stored before.
    pub(in crate::session) fn store(&self, at: usize, word: u64) {
        self.header.u64(at).store(word, Ordering::Release);
    }

    /// Counts messages of a chunk that the writer of sequence `id` completed: `new` in it, `all` in
    /// it and those before.
    pub(in crate::session) fn count_messages(&self, id: u16, new: u64, all: u64) {
        if self.positions.is_some() {
            // Of a stream nothing is overwritten.
            return;
        }
        match self.message_count_at(id) {
            // A reclaimer may be later than the writer itself.
            Some(at) => _ = self.header.u64(at).fetch_max(all, Ordering::Release),
            None => _ = self.header.u64(OTHER_MESSAGE_COUNT_AT).fetch_add(new, Ordering::Relaxed),
        }
    }

    /// Counts messages of sequence `id`, of which no chunk is left, and which another writer may
    /// get.
    pub(in crate::session) fn forget(&self, id: u16, messages: u64) {
        if self.reads_writers() {
            self.header.u64(OTHER_MESSAGE_COUNT_AT).fetch_add(messages, Ordering::Relaxed);
        } else if let Some(at) = self.message_count_at(id) {
            self.header.u64(OTHER_MESSAGE_COUNT_AT).fetch_add(messages, Ordering::Relaxed);
            self.header.u64(at).store(0, Ordering::Relaxed);
        }
    }

    /// Returns the offset of the message counter of sequence `id`, if it has one of its own.
    fn message_count_at(&self, id: u16) -> Option<usize> {
        let pinned = || pinned_message_count_at(id).filter(|_| self.has_pinned);
        message_count_at(id).or_else(pinned)
    }

    /// Writes the texts of modules that were loaded since. The enums of a library are registered
    /// before they log, so its texts are there before its first message.
    pub(in crate::session) fn write_module_texts(&self) {
        self.with_metadata(|metadata, give| {
            let loads = modules::load_count();
            if loads.is_none() || loads != metadata.loads {
                metadata.dictionary.write_modules(give);
                metadata.loads = loads;
            }
        });
    }

    fn with_metadata(&self, write: impl FnOnce(&mut Metadata, &mut dyn FnMut(&[u8]))) {
        if self.pid != asked_id() {
            return;
        }
        let mut metadata = self.metadata();
        let mut packets = Vec::new();
        write(&mut metadata, &mut |packet| packets.push(packet.to_vec()));
        for packet in packets {
            self.append(&mut metadata, &packet);
        }
    }

    /// Appends a packet to the metadata, or counts it as lost.
    fn append(&self, metadata: &mut Metadata, packet: &[u8]) {
        let record = [&record_header(packet), packet].concat();
        if self.store.write(&self.header, metadata.used, &record) {
            metadata.used += record.len() as u64;
            self.header.u64(METADATA_USED_AT).store(metadata.used, Ordering::Release);
        } else {
            self.header.u64(METADATA_LOST_AT).fetch_add(1, Ordering::Relaxed);
        }
    }

    fn metadata(&self) -> MutexGuard<'_, Metadata> {
        self.metadata.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counter of `key`, if there is one or a free one.
    fn counter(&self, key: u64) -> Option<&AtomicU64> {
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let claims = |slot: &AtomicU64| match slot.compare_exchange(0, key, success, failure) {
            Ok(_) => true,
            Err(known) => known == key,
        };
        // Most are in use, and an exchange takes longer than a look.
        let holds = |slot: &AtomicU64| match slot.load(Ordering::Relaxed) {
            0 => claims(slot),
            known => known == key,
        };
        let mut slots = (0..LOSSES).map(|slot| LOSSES_AT + 16 * slot);
        let found = slots.find(|&at| holds(self.header.u64(at)))?;
        Some(self.header.u64(found + 8))
    }
}

impl message_table::MessageListener for RecordingState {
    fn on_insert(&self, new: &[RuntimeMessage]) {
        self.with_metadata(|metadata, give| metadata.dictionary.write_messages(new, give));
    }
}

impl Mirror for RecordingState {
    fn add(&self, group: u32, cause: Unwritten, count: u64) {
        if self.pid != asked_id() {
            return;
        }
        let counter = self.counter(loss_key(group, cause.number()));
        let other =
            || other_losses_at(cause.of_unknown_group().number()).map(|at| self.header.u64(at));
        if let Some(counter) = counter.or_else(other) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }
}
