//! Packets of the models, with a cell for each place where one may be.
//!
//! A writer has the cell for itself while it writes the packet there, a reader shares it while it
//! copies the packet: where nothing orders the two, loom says so.

use loom::cell::UnsafeCell;
use protolog_core::schema::packet;
use protolog_shmem::PAGE;
use protozero::wire::{WireType, tag};
use std::sync::Arc;

/// The most packets that a model writes into one chunk.
const PLACES: usize = 4;
/// Cells of a page: one chunk of any layout that the models use may begin in each quarter.
const CELLS: usize = 4 * PLACES;

/// Bytes of a packet in a chunk: its size, the first field's tag, the message's number, its cell.
pub(crate) const SPAN: usize = 4;

/// A message that arrived: its sequence and its number.
pub(crate) type Packet = (u32, u8);

/// See the module.
#[derive(Clone)]
pub(crate) struct Cells(Arc<Vec<UnsafeCell<()>>>);

impl Cells {
    pub(crate) fn new() -> Self {
        Self(Arc::new((0..CELLS).map(|_| UnsafeCell::new(())).collect()))
    }

    /// Passes the bytes of message `number` to `store`, which writes them as packet `place` of the
    /// chunk that begins at `start` and is its own.
    pub(crate) fn write(
        &self,
        start: *mut u8,
        place: usize,
        number: u8,
        store: impl FnOnce([u8; SPAN]),
    ) {
        assert!(place < PLACES);
        // Places of all layouts begin at the same offset of their quarter or half.
        let quarter = start.addr() % PAGE * 4 / PAGE;
        let cell = quarter * PLACES + place;
        let first = tag(packet::TIMESTAMP, WireType::Varint) as u8;
        self.0[cell].with_mut(|_| store([SPAN as u8 - 1, first, number, cell as u8]));
    }

    /// Reads a packet that was found in a chunk.
    pub(crate) fn read(&self, sequence: u32, bytes: &[u8]) -> Packet {
        let [_, number, cell] = bytes else { panic!("a torn packet: {bytes:?}") };
        self.0[*cell as usize].with(|_| (sequence, *number))
    }
}
