//! Spans of `tracing` that are requests: those with a field `request_id`.
#![cfg(feature = "tracing")]

mod common;

use common::record;
use protolog_reader::Rendering;
use protolog_rt::{Builder, Request, bridge};
use std::collections::BTreeMap;
use tracing::Instrument as _;
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt as _;

fn with_tracing(f: impl FnOnce()) {
    with_default(tracing_subscriber::registry().with(bridge::tracing_layer()), f);
}

async fn work(request: &str) {
    for _ in 0..20 {
        tracing::info!("in {request}");
        tokio::task::yield_now().await;
        tracing::info_span!("step", number = 7).in_scope(|| tracing::info!("in {request}"));
    }
}

#[test]
fn a_span_with_the_id_is_a_request() {
    let session = record(Builder::enable_all);
    with_tracing(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("tokio");
        runtime.block_on(async {
            let text = tracing::info_span!("http", request_id = "GET /cart/17");
            let number = tracing::info_span!("http", request_id = 42);
            let other = tracing::info_span!("http", id = 7);
            let late = tracing::info_span!("http", request_id = tracing::field::Empty);
            late.record("request_id", tracing::field::display("late"));
            tokio::join!(
                work("GET /cart/17").instrument(text),
                work("42").instrument(number),
                work("none").instrument(other),
                work("late").instrument(late)
            );
        });
        // Exited in another order.
        let one = tracing::info_span!("one", request_id = "one");
        let two = tracing::info_span!("two", request_id = "two");
        let (in_one, in_two) = (one.enter(), two.enter());
        assert_eq!(Request::current().expect("a request").id(), "two");
        drop(in_one);
        tracing::info!("in two");
        drop(in_two);
        tracing::info!("in none");
    });
    let log = session.stop().log();
    let mut counts = BTreeMap::new();
    for entry in log.entries() {
        let text = entry.values().text(Rendering::Bare);
        let expected = text.strip_prefix("in ").expect("a request");
        assert_eq!(entry.request().unwrap_or("none"), expected);
        *counts.entry(expected.to_owned()).or_insert(0) += 1;
    }
    let expected = [("42", 40), ("GET /cart/17", 40), ("late", 40), ("none", 41), ("two", 1)];
    assert_eq!(counts, expected.map(|(id, count)| (id.to_owned(), count)).into());
}
