//! Rules with conditions on arguments, for events of `tracing`, whose fields are arguments.
#![cfg(feature = "tracing")]

use protolog_reader::{Rendering, Trace};
use protolog_rt::{Level, Session, bridge};
use protolog_testkit::temp_dir;
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt as _;

/// The field `message` is the first argument; a field that is formatted is no integer.
#[test]
fn events_are_switched_by_their_fields() {
    let dir = temp_dir();
    let path = dir.path().join("a.pftrace");
    let session = Session::builder()
        .file(&path)
        .log_from(Level::Info)
        .site("\"code=\" and arg2 == 1337", "off")
        .site("\"x=\" and arg2 == 1 and arg3 == -2", "on")
        .start()
        .expect("a session");
    with_default(tracing_subscriber::registry().with(bridge::tracing_layer()), || {
        for code in [1336, 1337] {
            tracing::info!(code, "a number");
            tracing::info!(code = ?code, "formatted");
        }
        for (x, y) in [(1_u8, -2_i32), (1, 2), (2, -2)] {
            tracing::debug!(x, y, "both");
        }
    });
    session.stop().expect("stop");
    let log = Trace::open(&path).expect("a trace").read().expect("a log");
    let texts: Vec<_> = log.entries().map(|it| it.values().text(Rendering::Full)).collect();
    let expected =
        ["a number code=1336", "formatted code=1336", "formatted code=1337", "both x=1 y=-2"];
    assert_eq!(texts, expected);
}
