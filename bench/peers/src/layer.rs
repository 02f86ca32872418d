//! `tracing` through layers: tracing-perfetto, which encodes and writes on the calling thread, and
//! tracing-perfetto-sdk, which makes track events of Perfetto's SDK.

use crate::perfetto::join;
use harness::{Joined, Logger};
use perfetto_sdk::producer::Backends;
use perfetto_sdk::track_event::TrackEvent;
use perfetto_sdk::track_event_category_enabled;
use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Mutex;
use tracing_perfetto::PerfettoLayer;
use tracing_perfetto_sdk::perfetto_te_ns;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// See the module.
pub(crate) struct Layer<K>(PhantomData<K>);

/// A layer.
pub(crate) trait Kind {
    /// Installs it, with the trace in the file `path`.
    fn open(path: &Path);
}

/// tracing-perfetto.
pub(crate) struct Writing;

impl Kind for Writing {
    fn open(path: &Path) {
        let file = Mutex::new(File::create(path).expect("make a trace file"));
        let layer = PerfettoLayer::new(file).with_debug_annotations(true);
        tracing_subscriber::registry().with(layer).init();
    }
}

/// tracing-perfetto-sdk, which is installed once a process.
pub(crate) struct Sdk;

impl Kind for Sdk {
    fn open(_: &Path) {}
}

impl Joined for Layer<Sdk> {
    fn join() {
        // As `tracing_perfetto_sdk::init_system`, with memory as large as that of the others.
        join(Backends::SYSTEM);
        TrackEvent::init();
        perfetto_te_ns::register().expect("register the category");
        tracing_subscriber::registry().with(tracing_perfetto_sdk::PerfettoLayer::new()).init();
    }

    fn is_enabled() -> bool {
        track_event_category_enabled!("tracing")
    }
}

impl<K: Kind> Logger for Layer<K> {
    fn open(path: &Path) -> Self {
        K::open(path);
        Self(PhantomData)
    }

    fn two_ints(&self, number: u64, of: u64) {
        tracing::info!(number, of, "of");
    }

    fn int_and_text(&self, number: u64, of: &str) {
        tracing::info!(number, of, "of");
    }

    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        tracing::info!(number, of, time, "of in");
    }

    fn long_text(&self, text: &str) {
        tracing::info!(text, "text");
    }
}
