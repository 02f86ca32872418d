//! The form of a recording: its buffers, and where they stand in the file.

use crate::clock;
use crate::session::filter::Filter;
use crate::sys::modules;
use crate::sys::process::asked_id;
use crate::sys::time::boot_id;
use protolog_core::FillPolicy;
use protolog_core::recorder::{
    BuildId, ClockSource, Header, POSITIONS, PinnedRing, RING_AT, VERSION,
};
use protolog_shmem::{Buffer, PAGE, size};

/// Bytes of both copies of the positions of writers. Only the pages of those that there are get
/// used.
pub(super) const POSITIONS_SIZE: u64 = 2 * 8 * POSITIONS as u64;

/// The buffers of a session.
#[derive(Debug)]
pub(in crate::session) struct Buffers {
    pub(in crate::session) main: Buffer,
    /// The ring of pinned messages.
    pub(in crate::session) pinned: Option<Buffer>,
}

/// The buffers of a recording.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct BufferForm<'a> {
    /// The least size, in bytes.
    pub(in crate::session) bytes: usize,
    /// That of a ring of pinned messages, if there is to be one.
    pub(in crate::session) pinned_bytes: Option<usize>,
    pub(in crate::session) fill_policy: FillPolicy,
    /// The id of the session.
    pub(in crate::session) session_id: [u8; 16],
    /// Its filter.
    pub(in crate::session) filter: &'a Filter,
}

/// The layout of a recording.
pub(super) struct Layout {
    pub(super) header: Header,
    /// Bytes of the ring.
    pub(super) ring: usize,
    pub(super) pinned: Option<PinnedRing>,
}

impl Layout {
    /// That of a recording with these buffers, which begins now.
    pub(super) fn of(form: BufferForm<'_>) -> Self {
        let ring = size(form.bytes);
        let ring_end = (RING_AT + ring) as u64;
        let pinned = form.pinned_bytes.map(|bytes| {
            let pages = (size(bytes) / PAGE) as u32;
            PinnedRing { at: ring_end, pages }
        });
        let pinned_bytes = pinned.map_or(0, |pinned| pinned.pages as u64 * PAGE as u64);
        let is_stream = form.fill_policy == FillPolicy::Stream;
        let positions = if is_stream { POSITIONS_SIZE } else { 0 };
        let [(_, realtime), (_, monotonic), (_, boottime)] = clock::snapshot();
        let header = Header {
            version: VERSION,
            pid: asked_id(),
            page: PAGE as u32,
            pages: (ring / PAGE) as u32,
            clock: if clock::uses_tsc() { ClockSource::Counter } else { ClockSource::Kernel },
            ring_at: RING_AT as u64,
            metadata_at: ring_end + pinned_bytes + positions,
            realtime,
            monotonic,
            boottime,
            boot_id: boot_id().unwrap_or_default(),
            build_id: BuildId::new(&modules::build_id_of_program().unwrap_or_default()),
            positions_at: if is_stream { ring_end } else { 0 },
            session_id: form.session_id,
        };
        Self { header, ring, pinned }
    }
}
