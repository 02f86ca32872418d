//! Spans of `tracing` and of `span!` on one thread, left in all orders: each has an end, and slices
//! are nested, as our reader and Perfetto's trace_processor show them.
#![cfg(feature = "tracing")]

mod common;
#[path = "common/spans.rs"]
mod spans;

use common::{Trace, record};
use protolog_rt::{Builder, ProtoLogGroup, Span, bridge, span};
use spans::{read, slices};
use tracing::span::EnteredSpan;
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt as _;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

fn with_tracing(f: impl FnOnce()) {
    with_default(tracing_subscriber::registry().with(bridge::tracing_layer()), f);
}

/// A span that is open.
enum Open {
    Native(#[expect(dead_code, reason = "its drop ends it")] Span),
    Tracing(#[expect(dead_code, reason = "its drop exits it")] EnteredSpan),
}

fn native(number: u64) -> Open {
    Open::Native(span!(Log::Net, "native %d", number))
}

fn tracing(number: u64) -> Open {
    Open::Tracing(tracing::info_span!("tracing", number).entered())
}

/// Depth and name of each slice. All have ended, and no end is without a begin.
#[track_caller]
fn nested(trace: &Trace) -> Vec<String> {
    let log = read(trace);
    for slice in log.slices() {
        assert!(slice.end.is_some() && slice.ended_by.is_none(), "{slice:?}");
    }
    assert_eq!(log.slices_without_begin(), 0);
    let lines = slices(trace).into_iter();
    lines.map(|it| it.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_span_waits_for_those_of_the_other_kind_within_it() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        let (outer, inner) = (native(1), tracing(1));
        drop(outer);
        drop(inner);
        let (outer, inner) = (tracing(2), native(2));
        drop(outer);
        drop(inner);
        // The one in the middle ends all within it that may, and then itself.
        let all = [native(3), tracing(3), native(4), native(5)];
        let [first, second, third, _fourth] = all;
        drop(second);
        drop(first);
        drop(third);
    });
    assert_eq!(
        nested(&recording.stop()),
        [
            "0 native",
            "1 tracing",
            "0 tracing",
            "1 native",
            "0 native",
            "1 tracing",
            "2 native",
            "3 native"
        ]
    );
}

/// Numbers that look random, the same in each run (Knuth's generator).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn slices_are_nested_whatever_the_order() {
    let recording = record(Builder::enable_all);
    let mut entered = 0;
    with_tracing(|| {
        for round in 0..300_u64 {
            let mut random = Random(round);
            let mut open = Vec::new();
            for _ in 0..=random.below(40) {
                if open.is_empty() || random.below(2) == 0 {
                    let make = if random.below(2) == 0 { native } else { tracing };
                    open.push(make(round));
                    entered += 1;
                } else {
                    drop(open.swap_remove(random.below(open.len())));
                }
            }
        }
        // Nothing waits that would be ended by another round.
        drop((native(1), tracing(1)));
        entered += 2;
    });
    let trace = recording.stop();
    let found = nested(&trace);
    assert_eq!(found.len(), entered);
    let last: Vec<&str> = found.iter().rev().take(2).rev().map(String::as_str).collect();
    assert_eq!(last, ["0 native", "1 tracing"]);
}
