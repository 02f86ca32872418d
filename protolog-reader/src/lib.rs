//! Reads the log in a trace: bytes to packets, packets to entries, entries to text.
//!
//! ```no_run
//! use protolog_reader::{Item, Rendering, Trace};
//!
//! let log = Trace::open("app.pftrace")?.read()?;
//! for entry in log.entries() {
//!     println!("{} {}", entry.time(), entry.values().text(Rendering::Full));
//! }
//! # Ok::<(), protolog_reader::ReadError>(())
//! ```
//!
//! Invariants: any bytes can be read, without a panic and within [`Limits`]; everything that is
//! left out of a log is counted in [`Stats`]; nothing is printed.
#![forbid(unsafe_code)]

mod bytes;
mod clocks;
mod damage;
mod decode;
mod dictionary;
mod formatting;
mod inputs;
mod log;
mod losses;
mod merge;
mod output;
mod packets;
mod pages;
mod sequences;
mod spans;
mod times;
mod traces;

pub use bytes::inflate::{decompress, inflated};
pub use bytes::looks::Looks;
pub use bytes::source::{ByteSource, FileBytes, SourceReader};
pub use damage::limits::Limits;
pub use dictionary::{Dictionary, Group, Message};
pub use formatting::printable::{printable, printable_json};
pub use log::Log;
pub use log::entry::Entry;
pub use log::log_items::{Item, Items};
pub use log::render::Rendering;
pub use log::values::{Values, beginning, shortened};
pub use losses::loss::{Loss, LossCause, LossReason};
pub use losses::passed_over::PassedOver;
pub use losses::refusal::Refusal;
pub use losses::stats::{BufferStats, EndReason, EndedEarly, ServiceLosses, Stats};
pub use merge::{MergeError, MergeInput, Merged, merge, merge_with_dictionaries, merge_within};
pub use output::earlier_ui::CounterArg;
pub use output::json::JsonWriter;
pub use output::perfetto_ui::{AddedForUi, for_perfetto_ui, perfetto_ui_packets};
pub use output::summary::Summary;
pub use output::text::TextWriter;
pub use pages::Pages;
pub use pages::page_options::{Decompressed, PageOptions};
pub use protolog_core::control::rate::Rate;
pub use protolog_core::{Arg, Level};
pub use protolog_recording::{
    CoreRecording, FatalSignal, Flaw, FoundHeader, FoundRecording, ProcessMemory, Recording,
    RecordingError, Recovered, Tail, TraceFile, TraceSurvey,
};
pub use protolog_recording::{
    find as find_recording, find_in as find_recordings_in, is_recording_name,
    places as places_of_recording,
};
pub use sequences::thread::Thread;
pub use spans::around::{SpanAround, spans_text};
pub use spans::span_slice::{SpanArg, SpanSlice};
pub use times::time_writer::{TimeFormat, TimeWriter};
pub use times::{TimePoint, Times};
pub use traces::follow::Follower;
pub use traces::read_error::{ReadError, ReadErrorKind};
pub use traces::unfinished::{TraceHead, complete, session_id};
pub use traces::whole_trace::Trace;
pub use traces::winscope::{is_winscope_log, trace_of_winscope_log};
