//! Perfetto's own SDK for Rust: track events with the arguments as annotations, and a data source
//! that writes the packets that protolog writes. The tracing service is in the process, or another
//! process.

use harness::{Joined, Logger};
use perfetto_sdk::data_source::{
    DataSource, DataSourceArgsBuilder, DataSourceBufferExhaustedPolicy, TraceContext,
};
use perfetto_sdk::heap_buffer::HeapBuffer;
use perfetto_sdk::pb_msg::{PbMsg, PbMsgWriter};
use perfetto_sdk::producer::{Backends, Producer, ProducerInitArgsBuilder};
use perfetto_sdk::protos::config::data_source_config::DataSourceConfig;
use perfetto_sdk::protos::config::trace_config::{
    TraceConfig, TraceConfigBufferConfig, TraceConfigDataSource,
};
use perfetto_sdk::protos::config::track_event::track_event_config::TrackEventConfig;
use perfetto_sdk::protos::trace::trace_packet::TracePacket;
use perfetto_sdk::tracing_session::TracingSession;
use perfetto_sdk::track_event::{EventContext, TrackEvent, TrackEventDebugArg};
use perfetto_sdk::{track_event_categories, track_event_category_enabled, track_event_instant};
use protolog_core::schema::{interned_data, interned_string, message, packet, sequence_flags};
use std::cell::Cell;
use std::fs::File;
use std::io::Write as _;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

track_event_categories! {
    pub mod bench_categories {
        ( "bench", "What is measured", [ "bench" ] ),
    }
}
use bench_categories as perfetto_te_ns;

/// Size of the buffer shared with the service, in KiB: that of protolog's sessions.
const SHARED: u32 = 4096;
/// Size of the service's buffer, in KiB: nothing is to be overwritten.
const KEPT: u32 = 256 * 1024;
/// The time that a flush may take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the tracing service is.
pub(crate) trait Place {
    /// Starts what a logger needs of its own; nothing where a consumer starts the session.
    fn open(data_source: &str, register: fn(), path: &Path) -> Option<Service>;
}

/// In this process, with a session of each logger's own.
pub(crate) struct InProcess;

impl Place for InProcess {
    fn open(data_source: &str, register: fn(), path: &Path) -> Option<Service> {
        join(Backends::IN_PROCESS);
        register();
        Some(Service::start(data_source, path))
    }
}

/// Another process.
pub(crate) struct System;

impl Place for System {
    fn open(_: &str, _: fn(), _: &Path) -> Option<Service> {
        None
    }
}

/// Joins a service.
pub(crate) fn join(backends: Backends) {
    let args = ProducerInitArgsBuilder::new().backends(backends);
    Producer::init(args.shmem_size_hint_kb(SHARED).build());
}

/// A tracing session with one data source.
pub(crate) struct Service {
    session: TracingSession,
    path: PathBuf,
}

impl Service {
    fn start(data_source: &str, path: &Path) -> Self {
        let mut session = TracingSession::in_process().expect("make a tracing session");
        session.setup(&config(data_source));
        session.start_blocking();
        Self { session, path: path.to_path_buf() }
    }

    fn flush(&mut self) {
        self.session.flush_blocking(FLUSH_TIMEOUT);
    }

    fn close(mut self) {
        self.session.stop_blocking();
        let file = Mutex::new(File::create(&self.path).expect("make a trace file"));
        self.session.read_trace_blocking(move |data, _| {
            let mut file = file.lock().expect("nothing panics here");
            file.write_all(data).expect("write the trace");
        });
    }
}

/// The configuration of a session with this data source.
fn config(data_source: &str) -> Vec<u8> {
    let writer = PbMsgWriter::new();
    let heap = HeapBuffer::new(writer.stream_writer());
    let mut msg = PbMsg::new(&writer).expect("a heap buffer takes messages");
    let mut config = TraceConfig { msg: &mut msg };
    config.set_buffers(|buffer: &mut TraceConfigBufferConfig| {
        buffer.set_size_kb(KEPT);
    });
    config.set_data_sources(|sources: &mut TraceConfigDataSource| {
        sources.set_config(|source: &mut DataSourceConfig| {
            source.set_name(data_source);
            source.set_track_event_config(|config: &mut TrackEventConfig| {
                config.set_enabled_categories("bench");
            });
        });
    });
    msg.finalize();
    let mut bytes = vec![0; writer.stream_writer().get_written_size()];
    heap.copy_into(&mut bytes);
    bytes
}

/// Track events, with debug annotations.
pub(crate) struct TrackEvents<P>(Option<Service>, PhantomData<P>);

fn register_category() {
    TrackEvent::init();
    perfetto_te_ns::register().expect("register the category");
}

impl Joined for TrackEvents<System> {
    fn join() {
        join(Backends::SYSTEM);
        register_category();
    }

    fn is_enabled() -> bool {
        track_event_category_enabled!("bench")
    }
}

impl<P: Place> Logger for TrackEvents<P> {
    fn open(path: &Path) -> Self {
        Self(P::open("track_event", register_category, path), PhantomData)
    }

    fn two_ints(&self, number: u64, of: u64) {
        track_event_instant!("bench", "of", |event: &mut EventContext| {
            event.add_debug_arg("number", TrackEventDebugArg::Uint64(number));
            event.add_debug_arg("of", TrackEventDebugArg::Uint64(of));
        });
    }

    fn int_and_text(&self, number: u64, of: &str) {
        track_event_instant!("bench", "of", |event: &mut EventContext| {
            event.add_debug_arg("number", TrackEventDebugArg::Uint64(number));
            event.add_debug_arg("of", TrackEventDebugArg::String(of));
        });
    }

    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        track_event_instant!("bench", "of in", |event: &mut EventContext| {
            event.add_debug_arg("number", TrackEventDebugArg::Uint64(number));
            event.add_debug_arg("of", TrackEventDebugArg::Uint64(of));
            event.add_debug_arg("time", TrackEventDebugArg::Double(time));
        });
    }

    fn long_text(&self, text: &str) {
        track_event_instant!("bench", "text", |event: &mut EventContext| {
            event.add_debug_arg("text", TrackEventDebugArg::String(text));
        });
    }

    fn settle(&mut self) {
        self.0.iter_mut().for_each(Service::flush);
    }

    fn close(self) {
        self.0.into_iter().for_each(Service::close);
    }
}

static SOURCE: OnceLock<DataSource<'static>> = OnceLock::new();

/// Packets as protolog's: time since the last message, id, arguments, texts with an id of their
/// own.
pub(crate) struct Packets<P> {
    service: Option<Service>,
    place: PhantomData<P>,
    last: Cell<Instant>,
    iid: Cell<u64>,
}

/// The name of the data source.
const DATA_SOURCE: &str = "dev.protolog.bench";

/// A message's id; any will do.
const ID: u64 = 0x9e37_79b9_7f4a_7c15;

impl<P> Packets<P> {
    fn packet(&self, text: Option<&str>, mut args: impl FnMut(&mut PbMsg<'_>)) {
        let Some(source) = SOURCE.get() else { return };
        source.trace(|context: &mut TraceContext<'_>| {
            let now = Instant::now();
            let delta = now.duration_since(self.last.replace(now)).as_nanos() as u64;
            let iid = self.iid.get();
            context.add_packet(|to: &mut TracePacket| {
                to.set_timestamp(delta);
                if let Some(text) = text {
                    self.iid.set(iid + 1);
                    to.msg.append_nested(packet::INTERNED_DATA, |data| {
                        data.append_nested(interned_data::PROTOLOG_STRING_ARGS, |string| {
                            string.append_type0_field(interned_string::IID, iid);
                            string.append_type2_field(interned_string::STR, text.as_bytes());
                        });
                    });
                    let needs = sequence_flags::NEEDS_INCREMENTAL_STATE.into();
                    to.msg.append_type0_field(packet::SEQUENCE_FLAGS, needs);
                }
                to.msg.append_nested(packet::PROTOLOG_MESSAGE, |of| {
                    of.append_fixed64_field(message::MESSAGE_ID, ID);
                    if text.is_some() {
                        of.append_type0_field(message::STR_PARAM_IIDS, iid);
                    }
                    args(of);
                });
            });
        });
    }
}

/// Appends an integer argument.
fn int(to: &mut PbMsg<'_>, value: u64) {
    let signed = value as i64;
    to.append_type0_field(message::SINT64_PARAMS, (signed << 1 ^ signed >> 63) as u64);
}

fn register_source() {
    let mut source = DataSource::new();
    // What is to happen when the shared memory is full, the session's configuration says.
    let args = DataSourceArgsBuilder::new()
        .buffer_exhausted_policy(DataSourceBufferExhaustedPolicy::Drop)
        .buffer_exhausted_policy_configurable(true);
    source.register(DATA_SOURCE, args.build()).expect("register the data source");
    assert!(SOURCE.set(source).is_ok(), "one data source a process");
}

impl Joined for Packets<System> {
    fn join() {
        join(Backends::SYSTEM);
        register_source();
    }

    fn is_enabled() -> bool {
        SOURCE.get().is_some_and(DataSource::is_enabled)
    }
}

impl<P: Place> Logger for Packets<P> {
    fn open(path: &Path) -> Self {
        let service = P::open(DATA_SOURCE, register_source, path);
        Self { service, place: PhantomData, last: Cell::new(Instant::now()), iid: Cell::new(1) }
    }

    fn two_ints(&self, number: u64, of: u64) {
        self.packet(None, |to| {
            int(to, number);
            int(to, of);
        });
    }

    fn int_and_text(&self, number: u64, of: &str) {
        self.packet(Some(of), |to| int(to, number));
    }

    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        self.packet(None, |to| {
            int(to, number);
            int(to, of);
            to.append_double_field(message::DOUBLE_PARAMS, time);
        });
    }

    fn long_text(&self, text: &str) {
        self.packet(Some(text), |_| ());
    }

    fn settle(&mut self) {
        self.service.iter_mut().for_each(Service::flush);
    }

    fn close(self) {
        self.service.into_iter().for_each(Service::close);
    }
}
