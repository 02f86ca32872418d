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
//! Invariants: any bytes can be read, without a panic and within [`Limits`]; everything that is left out of a log is counted
//! in [`Stats`]; nothing is printed.
#![forbid(unsafe_code)]

mod ago;
mod ahead;
mod blocks;
mod choice;
mod clock;
mod collect;
mod collision;
mod compact;
mod count;
mod decode;
mod dictionary;
mod empty;
mod entry;
mod error;
mod expansion;
mod fast_values;
mod filter;
mod fit;
mod fixed;
mod follow;
mod hole;
mod inflate;
mod inputs;
mod items;
mod json;
mod lenient;
mod limits;
mod log;
mod looks;
mod loss;
mod merge;
mod message_fields;
mod order;
mod packet;
mod page_options;
mod pages;
mod perfetto_ui;
mod plain;
mod plan;
mod printable;
mod render;
mod resync;
mod segment;
mod sequence;
mod sessions;
mod slices;
mod snippet;
mod source;
mod span_slice;
mod stats;
mod summary;
mod survey;
mod text;
mod thread;
mod time_writer;
mod times;
mod trace;
mod unfinished;
mod values;
mod wall_times;
mod winscope;
mod zstd;

pub use dictionary::{Dictionary, Group, Message};
pub use entry::Entry;
pub use error::{ReadError, ReadErrorKind};
pub use follow::Follower;
pub use inflate::{decompress, inflated};
pub use items::{Item, Items};
pub use json::JsonWriter;
pub use limits::Limits;
pub use log::Log;
pub use looks::Looks;
pub use loss::{Loss, LossCause, LossReason};
pub use merge::{MergeError, MergeInput, Merged, merge, merge_within};
pub use page_options::{Decompressed, PageOptions};
pub use pages::Pages;
pub use perfetto_ui::{AddedForUi, CounterArg, for_perfetto_ui, perfetto_ui_packets};
pub use printable::{printable, printable_json};
pub use protolog_core::{Arg, Level};
pub use protolog_recording::{
    Flaw, FoundRecording, Recording, RecordingError, Recovered, Tail, TraceFile, TraceSurvey,
};
pub use protolog_recording::{
    find as find_recording, find_in as find_recordings_in, places as places_of_recording,
};
pub use render::Rendering;
pub use source::{ByteSource, FileBytes, SourceReader};
pub use span_slice::{SpanArg, SpanSlice};
pub use stats::{BufferStats, EndReason, EndedEarly, ServiceLosses, Stats};
pub use summary::Summary;
pub use text::TextWriter;
pub use thread::Thread;
pub use time_writer::{TimeFormat, TimeWriter};
pub use times::{TimePoint, Times};
pub use trace::Trace;
pub use unfinished::{TraceHead, complete, session_id};
pub use values::{Values, beginning, shortened};
pub use winscope::{is_winscope_log, trace_of_winscope_log};
