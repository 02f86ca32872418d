//! Field numbers of the messages that protolog reads and writes, one module per message.
//!
//! Numbers below 1000 are those of Perfetto's public protos. Numbers from 1000 up are protolog's
//! own, which all other readers of Perfetto traces skip; `docs/design/wire-format.md` has the
//! table.

/// `Trace`: a file.
pub mod trace {
    /// repeated `TracePacket`
    pub const PACKET: u32 = 1;
}

/// `TracePacket`
pub mod packet {
    /// `ClockSnapshot`; never in one packet with a message
    pub const CLOCK_SNAPSHOT: u32 = 6;
    /// uint64, in the unit and relative to the base of its clock
    pub const TIMESTAMP: u32 = 8;
    /// uint32, set by the writer of the file
    pub const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    /// `TrackEvent`
    pub const TRACK_EVENT: u32 = 11;
    /// `InternedData`
    pub const INTERNED_DATA: u32 = 12;
    /// uint32, see [`super::sequence_flags`]
    pub const SEQUENCE_FLAGS: u32 = 13;
    /// `TraceStats`
    pub const TRACE_STATS: u32 = 35;
    /// bool, the older form of the flag in `SEQUENCE_FLAGS`
    pub const INCREMENTAL_STATE_CLEARED: u32 = 41;
    /// uint32; 1: packets of this sequence were lost before this one
    pub const PREVIOUS_PACKET_DROPPED: u32 = 42;
    /// `ProcessDescriptor`
    pub const PROCESS_DESCRIPTOR: u32 = 43;
    /// `ThreadDescriptor`
    pub const THREAD_DESCRIPTOR: u32 = 44;
    /// bytes: a zlib or gzip stream of a `Trace`
    pub const COMPRESSED_PACKETS: u32 = 50;
    /// uint32
    pub const TIMESTAMP_CLOCK_ID: u32 = 58;
    /// `TracePacketDefaults`
    pub const TRACE_PACKET_DEFAULTS: u32 = 59;
    /// `TrackDescriptor`
    pub const TRACK_DESCRIPTOR: u32 = 60;
    /// bool
    pub const FIRST_PACKET_ON_SEQUENCE: u32 = 87;
    /// `ProtoLogMessage`
    pub const PROTOLOG_MESSAGE: u32 = 104;
    /// `ProtoLogViewerConfig`
    pub const PROTOLOG_VIEWER_CONFIG: u32 = 105;
    /// Ours, see [`super::sequence_info`]: the thread that the sequence belongs to.
    pub const SEQUENCE_INFO: u32 = 1000;
    /// Ours, repeated, see [`super::loss`]: messages that were lost before this packet.
    pub const LOSS: u32 = 1001;
    /// Ours, bool: the packet repeats other packets, for Perfetto's UI, and may be left out.
    pub const FOR_UI: u32 = 1002;
    /// Ours, uint32: the number of slices that the thread was in, beside a begin and an end. Where
    /// ends and begins were lost, it says which. Not in the `TrackEvent`, whose unknown fields
    /// trace_processor counts as errors.
    pub const SLICE_DEPTH: u32 = 1003;
    /// Ours, uint64, from 1: the span of a slice, beside its begin and end. A span has one slice
    /// for each time that a thread is in it.
    pub const SPAN_NUMBER: u32 = 1004;
    /// Ours, uint64, beside the end of a slice of a span with several: nanoseconds of all of them
    /// so far.
    pub const SPAN_BUSY: u32 = 1005;
    /// Ours, uint64, beside the same: nanoseconds since the span was made.
    pub const SPAN_AGE: u32 = 1006;
    /// Ours, uint32, beside the descriptor of a process or thread with a pid of several processes:
    /// the true pid, in place of that in the descriptor.
    pub const LOCAL_PID: u32 = 1007;
    /// Ours, bool: the timestamp is a guess, as in traces that are made of archives.
    pub const TIME_IS_GUESS: u32 = 1008;
    /// Ours, repeated, see [`super::passed_over`]: messages that sampling passed over before this
    /// packet.
    pub const PASSED_OVER: u32 = 1009;
    /// Ours, see [`super::refusal`]: a program that was asked to record this trace's session does
    /// not.
    pub const REFUSAL: u32 = 1010;
    /// Ours, fixed64, beside the begin of a slice: the id of the span's template in the dictionary.
    pub const SPAN_MESSAGE: u32 = 1011;
    /// Ours, see [`super::request`]: the request that the messages of the sequence belong to from
    /// here on, until the next such packet or until the state is cleared.
    pub const REQUEST: u32 = 1012;
    /// Ours, see [`super::filtered`]: messages that were left out of the trace on purpose.
    pub const FILTERED: u32 = 1013;
}

/// Our `TracePacket.REQUEST`. Without a number: no request.
pub mod request {
    /// uint64, from 1: no other request of the process has it.
    pub const NUMBER: u32 = 1;
    /// string, the program's name of the request; several may have the same one
    pub const ID: u32 = 2;
}

/// Our `TracePacket.FILTERED`.
pub mod filtered {
    /// uint64: the messages of other requests, and of none, that were left out
    pub const MESSAGES: u32 = 1;
}

/// Our `TracePacket.REFUSAL`.
pub mod refusal {
    /// string, for people: why
    pub const REASON: u32 = 1;
    /// uint32: the process
    pub const PID: u32 = 2;
    /// string: its program
    pub const PROGRAM: u32 = 3;
}

/// Bits of `TracePacket.sequence_flags`
pub mod sequence_flags {
    /// Interned data and packet defaults of the sequence are reset with this packet.
    pub const INCREMENTAL_STATE_CLEARED: u32 = 1;
    /// The packet can't be read without the strings interned before.
    pub const NEEDS_INCREMENTAL_STATE: u32 = 2;
}

/// `TracePacketDefaults`
pub mod packet_defaults {
    /// uint32
    pub const TIMESTAMP_CLOCK_ID: u32 = 58;
    /// `TrackEventDefaults`
    pub const TRACK_EVENT_DEFAULTS: u32 = 11;
}

/// `TrackEventDefaults`
pub mod track_event_defaults {
    /// uint64: the track of events that name none
    pub const TRACK_UUID: u32 = 11;
}

/// `InternedData`
pub mod interned_data {
    /// repeated `EventCategory`, which has the fields of an `InternedString`
    pub const EVENT_CATEGORIES: u32 = 1;
    /// repeated `EventName`, as above
    pub const EVENT_NAMES: u32 = 2;
    /// repeated `DebugAnnotationName`, as above
    pub const DEBUG_ANNOTATION_NAMES: u32 = 3;
    /// repeated `InternedString`
    pub const PROTOLOG_STRING_ARGS: u32 = 36;
    /// repeated `InternedString`
    pub const PROTOLOG_STACKTRACE: u32 = 37;
}

/// `InternedString`
pub mod interned_string {
    /// uint64, not 0
    pub const IID: u32 = 1;
    /// bytes
    pub const STR: u32 = 2;
}

/// `ProtoLogMessage`. Repeated fields are not packed: trace_processor misreads packed ones.
pub mod message {
    /// fixed64
    pub const MESSAGE_ID: u32 = 1;
    /// repeated uint32
    pub const STR_PARAM_IIDS: u32 = 2;
    /// repeated sint64
    pub const SINT64_PARAMS: u32 = 3;
    /// repeated double
    pub const DOUBLE_PARAMS: u32 = 4;
    /// repeated int32
    pub const BOOLEAN_PARAMS: u32 = 5;
    /// uint32
    pub const STACKTRACE_IID: u32 = 6;
    /// Ours, uint32: bit `i` is set where argument `i` is an unsigned integer that would print
    /// otherwise as a signed one.
    pub const UNSIGNED: u32 = 1000;
    /// Ours, uint32: the message was sampled, one of so many, or [`RATE_KEPT`] of them. It stands
    /// for `RATE_OF / RATE_KEPT` messages.
    pub const RATE_OF: u32 = 1001;
    /// Ours, uint32: absent for 1
    pub const RATE_KEPT: u32 = 1002;
    /// Ours, uint32: all messages were kept, or none, that have the value of the argument with this
    /// number, from 1; absent where each was kept by chance for itself
    pub const RATE_BY: u32 = 1003;
}

/// `ProtoLogViewerConfig`: the dictionary
pub mod viewer_config {
    /// repeated `MessageData`
    pub const MESSAGES: u32 = 1;
    /// repeated `Group`
    pub const GROUPS: u32 = 2;
    /// Ours, repeated fixed64: hashes of the dictionaries that hold what was stripped from the
    /// program.
    pub const STRIPPED: u32 = 1000;
}

/// `ProtoLogViewerConfig.MessageData`
pub mod message_data {
    /// fixed64
    pub const MESSAGE_ID: u32 = 1;
    /// string: the bare form of the template
    pub const MESSAGE: u32 = 2;
    /// enum, [`crate::Level::wire`]
    pub const LEVEL: u32 = 3;
    /// uint32
    pub const GROUP_ID: u32 = 4;
    /// string: `path:line`, several lines as `path:12,40`
    pub const LOCATION: u32 = 5;
    /// Ours, see [`super::message_hints`]: details that the bare form can't express.
    pub const HINTS: u32 = 1000;
}

/// Ours: hints in `MessageData`
pub mod message_hints {
    /// string: the template, if it differs from its bare form
    pub const TEMPLATE: u32 = 1;
    /// uint32: bit `i` is set where argument `i` is an unsigned integer
    pub const UNSIGNED: u32 = 2;
    /// string: the place that goes into the id (see [`crate::message_id`]), if it is not the path
    /// of the location
    pub const PLACE: u32 = 3;
    /// string: the names of the arguments, if one has a name (see [`crate::ArgumentNames`])
    pub const NAMES: u32 = 4;
}

/// `ProtoLogViewerConfig.Group`
pub mod group {
    /// uint32
    pub const ID: u32 = 1;
    /// string: the full name
    pub const NAME: u32 = 2;
    /// string
    pub const TAG: u32 = 3;
}

/// `TraceStats`
pub mod trace_stats {
    /// repeated `BufferStats`
    pub const BUFFER_STATS: u32 = 1;
    /// uint64
    pub const CHUNKS_DISCARDED: u32 = 8;
    /// uint64
    pub const PATCHES_DISCARDED: u32 = 9;
    /// uint64
    pub const INVALID_PACKETS: u32 = 10;
}

/// `TraceStats.BufferStats`; all are uint64
pub mod buffer_stats {
    /// In chunks, headers included
    pub const BYTES_WRITTEN: u32 = 1;
    /// Chunks that writers completed
    pub const CHUNKS_WRITTEN: u32 = 2;
    /// Chunks of a ring that were reused before they were read
    pub const CHUNKS_OVERWRITTEN: u32 = 3;
    /// Packets that could not be completed
    pub const PATCHES_FAILED: u32 = 6;
    /// Of the buffer, in bytes
    pub const BUFFER_SIZE: u32 = 12;
    /// In chunks, headers included
    pub const BYTES_OVERWRITTEN: u32 = 13;
    /// In chunks, headers included
    pub const BYTES_READ: u32 = 14;
    /// Chunks that went into a file
    pub const CHUNKS_READ: u32 = 17;
    /// Chunks that were discarded
    pub const CHUNKS_DISCARDED: u32 = 18;
    /// Packets that writers could not write
    pub const TRACE_WRITER_PACKET_LOSS: u32 = 19;
    /// Ours: the most bytes in chunks that waited at any one time. If it is present, the buffer
    /// belonged to a session, not to the tracing service.
    pub const HIGH_WATER: u32 = 1000;
}

/// `ClockSnapshot`
pub mod clock_snapshot {
    /// repeated `Clock`
    pub const CLOCKS: u32 = 1;
    /// enum, one of [`super::clock_id`]
    pub const PRIMARY_TRACE_CLOCK: u32 = 2;
}

/// `ClockSnapshot.Clock`
pub mod clock {
    /// uint32
    pub const CLOCK_ID: u32 = 1;
    /// uint64
    pub const TIMESTAMP: u32 = 2;
    /// bool: timestamps in this clock are deltas to the one before
    pub const IS_INCREMENTAL: u32 = 3;
    /// uint64
    pub const UNIT_MULTIPLIER_NS: u32 = 4;
}

/// Clock ids. 64 to 127 belong to one sequence, 128 and up to the whole trace.
pub mod clock_id {
    /// Wall clock
    pub const REALTIME: u32 = 1;
    /// Does not count suspended time
    pub const MONOTONIC: u32 = 3;
    /// Counts suspended time; the clock of a trace unless it says otherwise
    pub const BOOTTIME: u32 = 6;
    /// The clock of protolog's sequences: nanoseconds, each timestamp a delta to the one before.
    pub const SEQUENCE: u32 = 64;
}

/// `ProcessDescriptor`
pub mod process_descriptor {
    /// int32
    pub const PID: u32 = 1;
    /// repeated string
    pub const CMDLINE: u32 = 2;
    /// string
    pub const PROCESS_NAME: u32 = 6;
}

/// `ThreadDescriptor`
pub mod thread_descriptor {
    /// int32
    pub const PID: u32 = 1;
    /// int32
    pub const TID: u32 = 2;
    /// string
    pub const THREAD_NAME: u32 = 5;
}

/// `TrackDescriptor`
pub mod track_descriptor {
    /// uint64
    pub const UUID: u32 = 1;
    /// `ProcessDescriptor`
    pub const PROCESS: u32 = 3;
    /// `ThreadDescriptor`
    pub const THREAD: u32 = 4;
}

/// `TrackEvent`
pub mod track_event {
    /// `DebugAnnotation`
    pub const DEBUG_ANNOTATIONS: u32 = 4;
    /// repeated uint64: interned
    pub const CATEGORY_IIDS: u32 = 3;
    /// uint64: interned
    pub const NAME_IID: u32 = 10;
    /// enum
    pub const TYPE: u32 = 9;
    /// uint64
    pub const TRACK_UUID: u32 = 11;
    /// string
    pub const CATEGORIES: u32 = 22;
    /// string
    pub const NAME: u32 = 23;
    /// repeated fixed64: slices with one id are tied together
    pub const FLOW_IDS: u32 = 47;
    /// A value of [`TYPE`]: a slice begins.
    pub const TYPE_SLICE_BEGIN: u32 = 1;
    /// A value of [`TYPE`]: the innermost slice ends.
    pub const TYPE_SLICE_END: u32 = 2;
    /// A value of [`TYPE`]: a moment without duration.
    pub const TYPE_INSTANT: u32 = 3;
}

/// `DebugAnnotation`
pub mod debug_annotation {
    /// uint64: interned
    pub const NAME_IID: u32 = 1;
    /// bool
    pub const BOOL_VALUE: u32 = 2;
    /// uint64
    pub const UINT_VALUE: u32 = 3;
    /// int64
    pub const INT_VALUE: u32 = 4;
    /// double
    pub const DOUBLE_VALUE: u32 = 5;
    /// string
    pub const STRING_VALUE: u32 = 6;
    /// string
    pub const NAME: u32 = 10;
}

/// Ours: `TracePacket.SEQUENCE_INFO`, in the first packet of each chunk
pub mod sequence_info {
    /// uint32
    pub const PID: u32 = 1;
    /// uint32
    pub const TID: u32 = 2;
    /// string
    pub const THREAD_NAME: u32 = 3;
    /// uint64: messages of the sequence before this packet, including those that are no longer in
    /// the trace
    pub const MESSAGES: u32 = 4;
    /// bytes: the kernel's id of the machine's boot (16 bytes); on the session's own sequence
    pub const BOOT_ID: u32 = 5;
    /// fixed64: differs between processes of one boot that have the same pid; on the session's own
    /// sequence
    pub const PROCESS: u32 = 6;
    /// bytes: a random id that all traces and the recording of one session have (16 bytes); on the
    /// session's own sequence
    pub const SESSION_ID: u32 = 7;
    /// [`super::filter`]: the levels that the session records; on the session's own sequence
    pub const FILTER: u32 = 8;
    /// string: the file name that a session with segments was given, in each of them; on the
    /// session's own sequence
    pub const SEGMENTS_OF: u32 = 9;
}

/// Ours: `SEQUENCE_INFO.FILTER`, the levels that a session records. A set of levels has a bit for
/// each, [`crate::Level::severity`].
pub mod filter {
    /// uint32: the levels of groups that the filter does not name
    pub const DEFAULT_LEVELS: u32 = 1;
    /// repeated [`super::filter_group`]: groups that it names
    pub const GROUP: u32 = 2;
    /// bool: groups may come with their first message, since the program has a bridge from another
    /// logger
    pub const IS_OPEN: u32 = 3;
}

/// Ours: a group in a session's filter
pub mod filter_group {
    /// string, as the program wrote it: a full name, the end of one, or the beginning of several
    pub const NAME: u32 = 1;
    /// uint32: the set of its levels; absent if the name is for stack traces
    pub const LEVELS: u32 = 2;
}

/// Ours: `TracePacket.LOSS`, a count of lost messages of one group for one cause
pub mod loss {
    /// uint32; absent or 0 if the group is not known
    pub const GROUP_ID: u32 = 1;
    /// enum, one of [`super::loss_cause`]
    pub const CAUSE: u32 = 2;
    /// uint64: number since the last record on this sequence
    pub const COUNT: u32 = 3;
    /// uint64: nanoseconds when the first of them was lost, if that is known
    pub const FIRST: u32 = 4;
    /// uint64: the same of the last
    pub const LAST: u32 = 5;
    /// uint32: the clock of these times; absent for BOOTTIME
    pub const CLOCK_ID: u32 = 6;
    /// fixed64: the id of the message that they repeat, the last one of the sequence before the
    /// first of them; absent if they are of several
    pub const MESSAGE_ID: u32 = 7;
}

/// Ours: `TracePacket.PASSED_OVER`, a count of messages of one group and level that sampling passed
/// over
pub mod passed_over {
    /// uint32; absent or 0 if the group is not known
    pub const GROUP_ID: u32 = 1;
    /// enum, [`crate::Level::wire`]; absent if it is not known
    pub const LEVEL: u32 = 2;
    /// uint64: number since the last record on this sequence
    pub const COUNT: u32 = 3;
}

/// Ours: causes of losses; [`crate::LossCause`] has their meaning
pub mod loss_cause {
    /// The buffer had no free chunk.
    pub const BUFFER_FULL: u32 = 1;
    /// A ring buffer reused the chunk before it was read.
    pub const OVERWRITTEN: u32 = 2;
    /// The thread was inside another log call.
    pub const REENTRANT: u32 = 3;
    /// An argument was truncated.
    pub const TRUNCATED: u32 = 4;
    /// The thread had destroyed its thread-local state.
    pub const THREAD_EXIT: u32 = 5;
    /// The process was forked in the middle of a call.
    pub const FORKED: u32 = 6;
    /// There were too many distinct messages without a dictionary entry.
    pub const TEMPLATE_LIMIT: u32 = 7;
    /// The file could not be written.
    pub const WRITE_FAILED: u32 = 8;
    /// Another program emptied, cut or deleted the file that had the message.
    pub const REMOVED: u32 = 9;
    /// A rule limits such messages, and there were more.
    pub const LIMITED: u32 = 10;
    /// A rule merges messages that say the same as the one before.
    pub const REPEATED: u32 = 11;
    /// In traces that are made of archives, in place of what a reader found itself: packets did not
    /// reach the trace, and nobody knows how many.
    pub const FOUND_DROPPED: u32 = 100;
    /// The same of messages whose strings were lost.
    pub const FOUND_MISSING_STATE: u32 = 101;
    /// The same of packets that could not be decoded.
    pub const FOUND_MALFORMED: u32 = 102;
}
