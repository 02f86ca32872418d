//! The way from chunks to the file as it is, with a file that remembers what it was given.

mod packets;
mod stream;

use loom::sync::Arc;
use protolog_shmem::Buffer;

pub(crate) mod arbiter {
    //! The parts of a session that the drain uses.

    /// The parts of a session that the drain uses.
    pub(crate) mod session_arbiter {
        /// A buffer.
        pub(crate) struct Core {
            pub(crate) buffer: super::super::Arc<super::super::Buffer>,
        }

        impl Core {
            /// Here nobody waits.
            pub(crate) fn announce_freed(&self) {
                let _ = self;
            }
        }
    }
}

pub(crate) mod recording {
    /// The buffer is in no recording here.
    pub(crate) mod progress {
        use crate::loss::LossCount;
        use protolog_core::recorder::Position;
        use std::path::Path;

        /// A type without values.
        #[derive(Debug)]
        pub(crate) enum Progress {}

        impl Progress {
            pub(crate) fn set_file(&mut self, _: &Path, _: &[LossCount]) {
                match *self {}
            }

            pub(crate) fn set_position(&mut self, _: u16, _: Position) {
                match *self {}
            }

            pub(crate) fn set_lost(&self, _: u64, _: u64) {
                match *self {}
            }

            pub(crate) fn has_changed(&self) -> bool {
                match *self {}
            }

            pub(crate) fn commit(&mut self, _: u64) {
                match *self {}
            }
        }
    }
}

pub(crate) mod file {
    /// The parts of a file that the drain uses.
    pub(crate) mod trace_file {
        use crate::cells::{Cells, Packet};

        /// The packets, each with its sequence.
        pub(crate) struct TraceFile {
            pub(crate) cells: Cells,
            pub(crate) packets: Vec<Packet>,
            pub(crate) lost: Lost,
        }

        /// No messages.
        #[derive(Default)]
        pub(crate) struct Lost;

        impl Lost {
            pub(crate) fn messages(&self) -> u64 {
                0
            }
        }

        impl TraceFile {
            pub(crate) fn packet(&mut self, sequence: u32, bytes: &[u8]) {
                self.packets.push(self.cells.read(sequence, bytes));
            }

            pub(crate) fn copy(&mut self, sequence: u32, bytes: &[u8]) -> bool {
                self.packet(sequence, bytes);
                true
            }

            /// By nobody.
            pub(crate) fn removed_messages(&self) -> u64 {
                0
            }

            /// Nothing is gathered.
            pub(crate) fn is_flushed(&self) -> bool {
                true
            }

            pub(crate) fn flush(&mut self) {}

            pub(crate) fn position(&self) -> u64 {
                0
            }

            pub(crate) fn path(&self) -> &std::path::Path {
                std::path::Path::new("")
            }

            /// Never.
            pub(crate) fn has_failed(&self) -> bool {
                false
            }

            /// It need not be.
            pub(crate) fn can_be_completed(&self) -> bool {
                false
            }

            /// For everything.
            pub(crate) fn has_room(&self, _: impl FnOnce() -> usize, _: usize) -> bool {
                true
            }

            pub(crate) fn packets(&mut self, sequence: u32, sized: &[u8], count: u16) -> u64 {
                let mut rest = sized;
                for _ in 0..count {
                    let Some((packet, after)) = crate::session::packets::copied::split(rest) else {
                        break;
                    };
                    if !packet.is_empty() {
                        self.packet(sequence, packet);
                    }
                    rest = after;
                }
                0
            }
        }
    }
}

/// The session's thread.
pub(crate) struct Reader {
    drain: stream::drain::Drain,
    pub(crate) file: file::trace_file::TraceFile,
}

impl Reader {
    pub(crate) fn new(cells: crate::cells::Cells) -> Self {
        let file = file::trace_file::TraceFile {
            cells,
            packets: Vec::new(),
            lost: file::trace_file::Lost,
        };
        Self { drain: stream::drain::Drain::default(), file }
    }

    pub(crate) fn copy(&mut self, core: &arbiter::session_arbiter::Core, unfinished_too: bool) {
        assert!(self.drain.copy(core, &mut self.file, unfinished_too), "there is room");
    }
}
