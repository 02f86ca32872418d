//! `tracing` through tracing-perfetto, which encodes and writes on the calling thread.

use harness::Logger;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use tracing_perfetto::PerfettoLayer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// See the module.
pub(crate) struct Layer;

impl Logger for Layer {
    fn open(path: &Path) -> Self {
        let file = Mutex::new(File::create(path).expect("make a trace file"));
        let layer = PerfettoLayer::new(file).with_debug_annotations(true);
        tracing_subscriber::registry().with(layer).init();
        Self
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
