//! A program that joins Perfetto's tracing service, and makes a track event.

use perfetto_sdk::producer::{Backends, Producer, ProducerInitArgsBuilder};
use perfetto_sdk::track_event::{EventContext, TrackEvent, TrackEventDebugArg};
use perfetto_sdk::{track_event_categories, track_event_instant};

track_event_categories! {
    pub mod categories {
        ( "net", "The network", [ "net" ] ),
    }
}
use categories as perfetto_te_ns;

fn main() {
    Producer::init(ProducerInitArgsBuilder::new().backends(Backends::SYSTEM).build());
    TrackEvent::init();
    perfetto_te_ns::register().expect("register the category");
    let (bytes, host) = (512, "example.org");
    track_event_instant!("net", "sent", |event: &mut EventContext| {
        event.add_debug_arg("bytes", TrackEventDebugArg::Uint64(bytes));
        event.add_debug_arg("host", TrackEventDebugArg::String(host));
    });
}
