//! Spans of `tracing` in all the ways in which programs enter and exit them.
#![cfg(feature = "tracing")]

mod common;

use common::{Trace, record};
use protolog_control::Program;
use protolog_core::control::protocol::Request;
use protolog_reader::Log;
use protolog_rt::control::serve_in;
use protolog_rt::{Builder, Level, bridge};
use protolog_testkit::temp_dir_for_sockets;
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt as _;

fn with_tracing(f: impl FnOnce()) {
    with_default(tracing_subscriber::registry().with(bridge::tracing_layer()), f);
}

fn read(trace: &Trace) -> Log {
    let bytes = std::fs::read(&trace.path).expect("read the trace");
    protolog_reader::Trace::from_bytes(bytes).with_slices().read().expect("a log")
}

/// Name and fields of each slice at its end.
fn ends(trace: &Trace) -> Vec<String> {
    let log = read(trace);
    let line = |slice: &protolog_reader::SpanSlice| {
        let fields = slice.fields(true).into_iter();
        let fields = fields.map(|field| format!(" {}={}", field.name, field.value));
        format!("{}{}", slice.name, fields.collect::<String>())
    };
    log.slices().iter().map(line).collect()
}

#[test]
fn a_long_value_is_cut_and_no_superseded_one_is_shown() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        let span = tracing::info_span!("request", status = "pending", sql = tracing::field::Empty);
        span.in_scope(|| {
            span.record("status", format!("failed:{}", "e".repeat(1500)));
            span.record("sql", "s".repeat(1500));
        });
        span.in_scope(|| ());
    });
    let all = ends(&recording.stop());
    for line in &all {
        assert!(
            line.starts_with("request status=failed:eee") && !line.contains("pending"),
            "{line}"
        );
        assert!(line.contains("e… sql=sss") && line.ends_with("s…"), "{line}");
    }
    assert_eq!(all.len(), 2);
}

#[test]
fn a_span_that_is_exited_early_keeps_what_was_recorded_in_it() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        let outer = tracing::info_span!("outer", status = tracing::field::Empty);
        let entered = outer.enter();
        let inner = tracing::info_span!("inner").entered();
        outer.record("status", 200);
        drop(entered);
        // It is closed before the end of its slice is written.
        drop(outer);
        drop(inner);
    });
    assert_eq!(ends(&recording.stop()), ["outer status=200", "inner"]);
}

#[test]
fn an_end_is_written_where_its_begin_was() {
    let dir = temp_dir_for_sockets();
    let server = serve_in(dir.path().join("run")).expect("a server");
    let mut operator = Program::connect(server.path()).expect("a connection");
    let mut set =
        |setting: &str| drop(operator.request(&Request::Set(setting)).expect("a setting"));
    let recording = record(|session| session.log_from(Level::Info));
    with_tracing(|| {
        let outer = tracing::info_span!(target: "ends", "outer").entered();
        tracing::info_span!(target: "ends", "inner").in_scope(|| set("ends=off"));
        tracing::info_span!(target: "ends", "off").in_scope(|| ());
        set("ends=verbose");
        tracing::info_span!(target: "ends", "next").in_scope(|| ());
        drop(outer);
    });
    let log = read(&recording.stop());
    let found = log.slices().iter().map(|it| (&*it.name, it.depth, it.end.is_some()));
    let expected = [("outer", 0, true), ("inner", 1, true), ("next", 1, true)];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(log.slices_without_begin(), 0);
}

#[test]
fn one_span_may_be_entered_more_often_than_slices_nest() {
    fn enter(span: &tracing::Span, times: u32) {
        let _entered = span.enter();
        if times > 1 {
            enter(span, times - 1);
        } else {
            tracing::info!("innermost");
        }
        tracing::info!("out of {}", times);
    }
    let recording = record(Builder::enable_all);
    with_tracing(|| enter(&tracing::info_span!("deep"), 70));
    let trace = recording.stop();
    let log = read(&trace);
    let last = log.entries().last().unwrap().time();
    // The outer 64 end from the inside out, the outermost after all messages.
    let ends: Vec<_> = log.slices().iter().map(|slice| slice.end.unwrap()).collect();
    assert_eq!(ends.len(), 64);
    assert!(ends.is_sorted_by(|outer, inner| outer > inner) && ends[0] >= last, "{ends:?} {last}");
}

#[test]
fn spans_of_two_registries_with_one_id_are_told_apart() {
    let recording = record(Builder::enable_all);
    let spans = [(); 2].map(|()| {
        let mut span = tracing::Span::none();
        with_tracing(|| span = tracing::info_span!("one", of = tracing::field::Empty));
        span
    });
    assert_eq!(spans[0].id(), spans[1].id());
    let [first, second] = spans.each_ref().map(tracing::Span::enter);
    spans[0].record("of", "first");
    drop(first);
    spans[1].record("of", "second");
    drop(second);
    assert_eq!(ends(&recording.stop()), ["one of=first", "one of=second"]);
}

#[test]
fn slices_of_one_span_have_its_number() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        let spans = [1, 2].map(|id| tracing::info_span!("request", id));
        for _ in 0..3 {
            for span in &spans {
                span.in_scope(|| ());
            }
        }
    });
    let trace = recording.stop();
    // Perfetto draws an arrow from each to the next.
    let flows = "select o.ts as ts from flow join slice o on slice_out = o.id join slice i on slice_in = i.id \
        where o.ts < i.ts and o.name = 'request' and i.name = 'request'";
    if let Some(flows) = trace.query(flows) {
        assert_eq!(flows.texts("ts").len(), 4);
    }
    let log = read(&trace);
    let slices = log.slices();
    let numbers: Vec<_> = slices.iter().map(|slice| slice.number().unwrap()).collect();
    let [one, other] = [numbers[0], numbers[1]];
    assert_eq!(numbers, [one, other, one, other, one, other]);
    assert_ne!(one, other);
    assert_eq!((slices[0].busy(), slices[0].age()), (None, None));
    let last = &slices[4];
    let slices_of_one = [0, 2, 4].map(|at| slices[at].duration().unwrap());
    let (busy, age) = (last.busy().unwrap(), last.age().unwrap());
    // The clock is read beside the times of the events.
    assert!(busy <= age && busy > 0, "{busy} of {age}, {slices_of_one:?}");
    assert!(slices[5].text(true).contains(" in all) id=2"), "{}", slices[5].text(true));
}
