//! The contestants. Each fills a slot the way an application would that wrote by hand against its
//! interface.

mod cpp;
mod floor;
mod generated;
mod ours;
mod pb_msg;
mod prost;

use crate::memory::{self, Job, Slot};
use crate::record::Records;
pub(crate) use prost::EveryField;

/// A contestant.
pub(crate) struct Writer {
    /// Its name in tables and on the command line.
    pub(crate) name: &'static str,
    /// Its work for a message.
    pub(crate) what: &'static str,
    /// True if the slots hold protobuf afterwards.
    pub(crate) encodes_to_slots: bool,
    /// Does a job; returns the bytes of all messages.
    pub(crate) run: fn(Job, &mut [Slot], &Records) -> usize,
}

/// All of them, the floor first.
pub(crate) const WRITERS: [Writer; 11] = [
    Writer {
        name: "speed of light",
        what: "copies every value to a constant, aligned offset: no encoding, no sizes, no checks",
        encodes_to_slots: false,
        run: memory::run::<floor::Floor>,
    },
    Writer {
        name: "speed of light, no gaps",
        what: "the same, but a field begins where the one before ends, as in protobuf: lengths vary, and are checked",
        encodes_to_slots: false,
        run: memory::run::<floor::Running>,
    },
    Writer {
        name: "speed of light, C++",
        what: "that of ProtoZero's own benchmark: objects in the slot append at a running pointer, the text by `strcpy`",
        encodes_to_slots: false,
        run: cpp::light,
    },
    Writer {
        name: "protozero (ours)",
        what: "a `Writer` on a `Fixed` slot, setters, `nested`, `finish`",
        encodes_to_slots: true,
        run: memory::run::<ours::Ours>,
    },
    Writer {
        name: "protozero (ours), generated",
        what: "the same by the setters that `protozero-build` makes of a schema",
        encodes_to_slots: true,
        run: memory::run::<generated::Generated>,
    },
    Writer {
        name: "C++ ProtoZero, kept",
        what: "stream writer and root message made once and reset for each message, as Perfetto's trace writer does",
        encodes_to_slots: true,
        run: cpp::kept,
    },
    Writer {
        name: "C++ ProtoZero, static",
        what: "`StaticBuffered` made for each message, as ProtoZero's own benchmark does",
        encodes_to_slots: true,
        run: cpp::made,
    },
    Writer {
        name: "prost, encode",
        what: "`encode` of a struct that was filled before: no filling, no text to allocate",
        encodes_to_slots: true,
        run: prost::encode,
    },
    Writer {
        name: "prost",
        what: "a struct is filled, its text and nested structs allocated, then `encode`",
        encodes_to_slots: true,
        run: memory::run::<prost::Whole>,
    },
    Writer {
        name: "PbMsg, heap",
        what: "`PbMsg` of perfetto-sdk in a `HeapBuffer` that takes 64 messages; nothing gets to the slot",
        encodes_to_slots: false,
        run: pb_msg::shared,
    },
    Writer {
        name: "PbMsg, slot",
        what: "the same with a `HeapBuffer` for each message, copied to the slot",
        encodes_to_slots: true,
        run: memory::run::<pb_msg::Copied>,
    },
];
