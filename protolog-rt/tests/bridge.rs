//! Calls of the crates `log` and `tracing`, in programs and their libraries, as they appear in
//! traces.
#![cfg(all(feature = "log", feature = "tracing"))]

mod common;

use common::{Trace, lock_sessions, record, record_concurrently};
use protolog_reader::{Log, Rendering, SpanSlice};
use protolog_rt::{Builder, Level, Session, bridge};
use std::cell::Cell;
use std::fmt;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use tracing::subscriber::with_default;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| bridge::install_log().expect("the first logger"));
}

fn with_tracing(f: impl FnOnce()) {
    with_default(tracing_subscriber::registry().with(bridge::tracing_layer()), f);
}

/// `file:line` of each message in the trace.
fn locations(trace: &Trace) -> Vec<String> {
    let log = trace.log();
    log.entries().filter_map(|entry| Some(entry.message()?.location.clone())).collect()
}

/// Counts how often it is formatted.
struct CountFormats<'a>(&'a Cell<u32>);

impl fmt::Display for CountFormats<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.set(self.0.get() + 1);
        f.write_str("formatted")
    }
}

#[test]
fn records_become_messages_of_their_targets() {
    install();
    let recording = record(|session| session.log_from(Level::Info).group("net", Level::Verbose));
    let line = line!() + 1;
    log::info!("ready after {} ms", 12);
    log::debug!("disabled");
    log::trace!(target: "net::dns", "100% of {:?}", ["a", "b"]);
    log::warn!(target: "net", "constant");
    log::error!(target: &String::from("made"), "é{}", "x".repeat(5000));
    let trace = recording.stop();
    let long = format!("ERROR made é{}…", "x".repeat(4096 - 2 - 3));
    let lines = trace.messages();
    assert_eq!(
        lines[..3],
        [
            "INFO bridge ready after 12 ms",
            "VERBOSE net::dns 100% of [\"a\", \"b\"]",
            "WARN net constant"
        ]
    );
    assert_eq!(lines[3..], [long]);
    let file = file!();
    let expected: Vec<String> =
        [0, 2, 3, 4].iter().map(|more| format!("{file}:{}", line + more)).collect();
    assert_eq!(locations(&trace), expected);
}

#[test]
fn key_value_pairs_follow_the_message() {
    install();
    let recording = record(Builder::enable_all);
    let (host, list) = ("example.org", [1, 2]);
    log::info!(host, bytes = 1500, list:?; "sent {}", "all");
    log::info!(shown:% = 'x', none = Option::<&str>::None; "constant");
    log::warn!(text = "y".repeat(5000).as_str(); "long");
    let lines = recording.stop().messages();
    assert_eq!(
        lines[..2],
        [
            "INFO bridge sent all host=example.org bytes=1500 list=[1, 2]",
            "INFO bridge constant shown=x none=None"
        ]
    );
    let cut = format!("WARN bridge long text={}…", "y".repeat(4096 - "long text=…".len()));
    assert_eq!(lines[2], cut);
}

#[test]
fn a_disabled_record_is_not_formatted() {
    install();
    let _lock = lock_sessions();
    let formatted = Cell::new(0);
    assert_eq!(log::max_level(), log::LevelFilter::Off);
    log::error!("{}", CountFormats(&formatted));
    let recording = record_concurrently(|session| session.group("enabled", Level::Debug));
    assert_eq!(log::max_level(), log::LevelFilter::Debug);
    log::error!("{}", CountFormats(&formatted));
    assert!(!log::log_enabled!(log::Level::Error));
    assert_eq!(formatted.get(), 0);
    log::debug!(target: "enabled", "{}", CountFormats(&formatted));
    assert!(log::log_enabled!(target: "enabled", log::Level::Debug));
    assert_eq!(formatted.get(), 1);
    recording.stop().check(&["DEBUG enabled formatted"]);
    assert_eq!(log::max_level(), log::LevelFilter::Off);
}

#[test]
fn events_become_messages_with_their_fields() {
    let recording = record(Builder::enable_all);
    let error = "no".parse::<u8>().unwrap_err();
    with_tracing(|| {
        tracing::info!("no fields");
        tracing::info!(bytes = 1500, host = "example.org", ratio = 0.25, "sent {}", "all");
        tracing::warn!(target: "net", top = u64::MAX, low = i64::MIN, on = true);
        tracing::error!(error = &error as &dyn std::error::Error, "failed");
        tracing::debug!(shown = %"a b", debugged = ?Some("x"), big = u128::MAX);
        tracing::trace!("per%cent.field" = 1, r#type = "t");
        for word in ["one", "two"] {
            tracing::info!(word, "again");
        }
    });
    let trace = recording.stop();
    let full: Vec<String> =
        trace.log().entries().map(|entry| entry.values().text(Rendering::Full)).collect();
    assert_eq!(full[2], "top=18446744073709551615 low=-9223372036854775808 on=true");
    // trace_processor has no unsigned integers.
    trace.check(&[
        "INFO bridge no fields",
        "INFO bridge sent all bytes=1500 host=example.org ratio=0.25",
        "WARN net top=-1 low=-9223372036854775808 on=true",
        "ERROR bridge failed error=invalid digit found in string",
        "DEBUG bridge shown=a b debugged=Some(\"x\") big=340282366920938463463374607431768211455",
        "VERBOSE bridge per%cent.field=1 type=t",
        "INFO bridge again word=one",
        "INFO bridge again word=two",
    ]);
}

/// A single callsite, whose field has any type.
fn generic<T: tracing::Value>(value: T, more: Option<u32>) {
    tracing::info!(value, more, "generic");
}

#[test]
fn a_callsite_has_one_message_for_each_set_of_field_types() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        generic(1, None);
        generic("text", None);
        generic(2, Some(3));
        generic(4, None);
    });
    let trace = recording.stop();
    trace.check(&[
        "INFO bridge generic value=1",
        "INFO bridge generic value=text",
        "INFO bridge generic value=2 more=3",
        "INFO bridge generic value=4",
    ]);
    let lines = locations(&trace);
    assert!(lines.iter().all(|line| *line == lines[0] && !line.is_empty()), "{lines:?}");
}

/// Each as a string of a call is, and the message is counted.
#[test]
fn long_fields_are_truncated() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        tracing::info!(first = "x".repeat(4095), second = "yyy", third = 3, "m");
        tracing::info!(first = "é".repeat(5000), second = "z");
    });
    let trace = recording.stop();
    let lines = trace.messages();
    let (xs, es) = ("x".repeat(4095), "é".repeat(2046));
    assert!(lines[0] == format!("INFO bridge m first={xs} second=yyy third=3"), "{}", lines[0]);
    assert!(lines[1] == format!("INFO bridge first={es}… second=z"), "{}", lines[1]);
    let losses = trace.losses();
    let expected = (1, protolog_rt::LossCause::Truncated);
    assert_eq!(losses.values().sum::<u64>(), expected.0);
    assert!(losses.keys().all(|(_, cause)| *cause == common::wire(expected.1)), "{losses:?}");
}

/// A layer that counts events.
struct CountingLayer<'a>(&'a AtomicU32);

impl<S: Subscriber> Layer<S> for &'static CountingLayer<'static> {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn sessions_switch_callsites_and_other_layers_still_see_every_event() {
    static EVENTS: AtomicU32 = AtomicU32::new(0);
    static LAYER: CountingLayer<'static> = CountingLayer(&EVENTS);
    let formatted = Cell::new(0);
    let log = || {
        tracing::info!(value = %CountFormats(&formatted), "one callsite");
    };
    let _lock = lock_sessions();
    with_tracing(log);
    assert_eq!(formatted.get(), 0, "no session runs");
    let subscriber = tracing_subscriber::registry().with(&LAYER).with(bridge::tracing_layer());
    with_default(subscriber, || {
        log();
        let recording = record_concurrently(|session| session.group("bridge", Level::Debug));
        log();
        recording.stop().check(&["INFO bridge one callsite value=formatted"]);
        log();
    });
    assert_eq!(formatted.get(), 1, "the other layer formats nothing");
    assert_eq!(EVENTS.load(Ordering::Relaxed), 3);
}

#[test]
fn a_session_of_a_thread_without_a_subscriber_switches_callsites_of_other_threads() {
    static EVENTS: AtomicU32 = AtomicU32::new(0);
    static LAYER: CountingLayer<'static> = CountingLayer(&EVENTS);
    let log = || tracing::info!("one callsite");
    let subscriber = tracing_subscriber::registry().with(&LAYER).with(bridge::tracing_layer());
    let dir = protolog_testkit::temp_dir();
    let path = dir.path().join("elsewhere.pftrace");
    let _lock = lock_sessions();
    with_default(subscriber, || {
        log();
        let builder = Session::builder().file(&path).group("bridge", Level::Debug);
        let session = std::thread::spawn(|| builder.start()).join().expect("no panic");
        let session = session.expect("start the session");
        log();
        let summary = std::thread::spawn(|| session.stop()).join().expect("no panic");
        log();
        assert_eq!(summary.expect("stop the session").messages, 1);
    });
    assert_eq!(EVENTS.load(Ordering::Relaxed), 3);
}

/// Name, depth, thread, category and arguments of every slice that has an end.
fn slices(trace: &Trace) -> Option<Vec<String>> {
    let sql = "select slice.name || ' ' || depth || ' ' || thread.name || ' ' || category || ' ' || ifnull((
            select group_concat(substr(key, 7) || '=' || display_value, ' ') from (
                select * from args where args.arg_set_id = slice.arg_set_id and key glob 'debug.*' order by id)), '')
            as line
        from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)
        where dur >= 0 order by slice.ts";
    let bytes = std::fs::read(&trace.path).expect("read the trace");
    let log = protolog_reader::Trace::from_bytes(bytes).with_slices().read().expect("a log");
    // That of a ring buffer may be overwritten.
    assert!(log.slices_without_begin() <= 1);
    let ended = log.slices().iter().filter(|slice| slice.end.is_some());
    let read: Vec<String> = ended.map(|slice| line_of(slice, &log)).collect();
    let lines = trace.query(sql)?.texts("line");
    assert_eq!(read, lines, "the reader has the slices of trace_processor");
    Some(lines)
}

/// A slice as it is read here: of two values of one field, the newest.
fn line_of(slice: &SpanSlice, log: &Log) -> String {
    let mut args: Vec<(&str, &str)> = Vec::new();
    for arg in &slice.args {
        match args.iter_mut().find(|(name, _)| **name == *arg.name) {
            Some(known) => known.1 = &arg.value,
            None => args.push((&arg.name, &arg.value)),
        }
    }
    let args: Vec<String> = args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let thread = log.thread_of_slice(slice).name.as_deref().unwrap_or_default();
    let SpanSlice { name, target, depth, .. } = slice;
    format!("{name} {depth} {thread} {target} {}", args.join(" "))
}

#[test]
fn spans_become_slices_of_the_threads_that_enter_them() {
    let recording = record(|session| session.log_from(Level::Info).group("net", Level::Debug));
    with_tracing(|| {
        let outer =
            tracing::info_span!("outer", number = 7, share = 0.5, late = tracing::field::Empty);
        outer.in_scope(|| {
            tracing::info!("in the outer one");
            tracing::debug_span!(target: "net", "inner", host = "a", on = true)
                .in_scope(|| tracing::info!("in the inner one"));
            tracing::debug_span!("disabled").in_scope(|| tracing::info!("in a disabled one"));
        });
        outer.record("late", "text");
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        let work = || tracing::dispatcher::with_default(&dispatch, || outer.in_scope(|| ()));
        std::thread::scope(|scope| {
            std::thread::Builder::new().name("worker".into()).spawn_scoped(scope, work).unwrap();
        });
    });
    let trace = recording.stop();
    trace.check(&[
        "INFO bridge in the outer one",
        "INFO bridge in the inner one",
        "INFO bridge in a disabled one",
    ]);
    // The kernel's name of this thread: it is the main thread if tests run one at a time.
    let name = std::fs::read_to_string("/proc/thread-self/comm").expect("the thread's name");
    let main = name.trim_end();
    if let Some(slices) = slices(&trace) {
        assert_eq!(
            slices,
            [
                format!("outer 0 {main} bridge number=7 share=0.5"),
                format!("inner 1 {main} net host=a on=true"),
                "outer 0 worker bridge number=7 share=0.5 late=text".to_owned(),
            ]
        );
    }
}

#[test]
fn a_session_with_spans_alone_is_not_empty() {
    for kept in [false, true] {
        let recording = record(|session| {
            let session = session.log_from(Level::Info);
            if kept { session.keep_newest() } else { session }
        });
        with_tracing(|| tracing::info_span!("alone").in_scope(|| ()));
        if kept {
            assert_eq!(recording.snapshot().summary.why_empty, None);
        }
        assert_eq!(recording.session().summary().why_empty, None, "{kept}");
        let trace = recording.stop();
        assert_eq!((trace.summary.messages, &trace.summary.why_empty), (0, &None), "{kept}");
        assert_eq!((trace.log().why_empty(), trace.log().has_spans()), (None, true), "{kept}");
    }
    let trace = record(Builder::enable_all).stop();
    assert!(trace.summary.why_empty.is_some() && trace.log().why_empty().is_some());
}

#[test]
fn a_slice_has_the_latest_value_of_each_field() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        let span = tracing::info_span!("late", known = 1, empty = tracing::field::Empty);
        span.in_scope(|| {
            span.record("empty", "filled within");
            span.record("known", 2);
        });
        for round in 0..2000 {
            span.record("empty", round);
        }
        span.in_scope(|| tracing::info_span!("inner").in_scope(|| span.record("known", "three")));
    });
    if let Some(slices) = slices(&recording.stop()) {
        let fields: Vec<_> =
            slices.iter().map(|line| line.rsplit_once(" bridge ").unwrap().1).collect();
        assert_eq!(fields, ["known=2 empty=filled within", "known=three empty=1999", ""]);
    }
}

#[test]
fn spans_may_be_exited_in_any_order() {
    let recording = record(Builder::enable_all);
    with_tracing(|| {
        let around = tracing::info_span!("around").entered();
        let first = tracing::info_span!("first").entered();
        let second = tracing::info_span!("second").entered();
        let third = tracing::info_span!("third").entered();
        drop(first);
        drop(third);
        tracing::info_span!("within the second").in_scope(|| ());
        drop(second);
        tracing::info_span!("after").in_scope(|| ());
        drop(around);
    });
    let Some(slices) = slices(&recording.stop()) else { return };
    let depth = |line: &str| line.find(|c: char| c.is_ascii_digit()).unwrap();
    let heads: Vec<_> = slices.iter().map(|line| &line[..=depth(line)]).collect();
    assert_eq!(
        heads,
        ["around 0", "first 1", "second 2", "third 3", "within the second 3", "after 1"],
        "{slices:?}"
    );
}

#[test]
fn slices_nest_at_most_64_deep() {
    let recording = record(Builder::enable_all);
    fn dive(depth: u32) {
        tracing::info_span!("dive", depth).in_scope(|| {
            if depth < 70 {
                dive(depth + 1);
            }
        });
    }
    with_tracing(|| {
        dive(1);
        tracing::info_span!("after").in_scope(|| ());
    });
    if let Some(slices) = slices(&recording.stop()) {
        assert_eq!(slices.len(), 65);
        assert!(slices[63].starts_with("dive 63 ") && slices[63].ends_with(" depth=64"));
        assert!(slices[64].starts_with("after 0 "), "{}", slices[64]);
    }
}

/// Each chunk decodes alone, with its slices.
#[test]
fn slices_of_a_ring_buffer_are_complete() {
    let recording = record(|session| session.enable_all().keep_newest().buffer_size(64 << 10));
    with_tracing(|| {
        for round in 0..20_000u64 {
            tracing::info_span!("round", round).in_scope(|| tracing::info!("message"));
        }
    });
    let trace = recording.stop();
    assert_eq!(trace.summary.messages + trace.summary.lost(), 20_000);
    let count = trace.messages().len();
    assert!(count > 200, "{count}");
    if let Some(slices) = slices(&trace) {
        assert!(slices.len().abs_diff(count) < 2, "{} slices, {count} messages", slices.len());
        assert!(slices.last().unwrap().ends_with(" round=19999"));
    }
}

/// A client and a server of HTTP/2 on loopback: hyper and h2 speak through `tracing`, mio through
/// `log`.
#[test]
fn messages_of_libraries_are_captured() {
    use hyper::{Request, Response, body::Bytes, service::service_fn};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    type Body = http_body_util::Full<Bytes>;

    install();
    let recording = record(|session| session.enable_all().buffer_size(16 << 20));
    with_tracing(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let serve = async {
                let (stream, _) = listener.accept().await.unwrap();
                let answer = service_fn(async |_| {
                    Ok::<_, std::convert::Infallible>(Response::new(Body::from("hello")))
                });
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                server.serve_connection(TokioIo::new(stream), answer).await.unwrap();
            };
            let ask = async {
                let stream = TokioIo::new(tokio::net::TcpStream::connect(address).await.unwrap());
                let (mut client, connection) =
                    hyper::client::conn::http2::handshake(TokioExecutor::new(), stream)
                        .await
                        .unwrap();
                let connection = tokio::spawn(connection);
                let request = Request::get("http://localhost/").body(Body::default()).unwrap();
                assert_eq!(client.send_request(request).await.unwrap().status(), 200);
                drop(client);
                connection.await.unwrap().unwrap();
            };
            tokio::join!(serve, ask);
        });
    });
    let trace = recording.stop();
    assert_eq!(trace.summary.losses, []);
    let lines = trace.messages();
    let of = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert!(of("DEBUG h2::codec::framed_read received frame=Headers") >= 2, "{lines:#?}");
    assert!(of("VERBOSE mio::poll registering event source with poller: ") >= 2, "{lines:#?}");
}

#[test]
fn fields_of_events_are_names_of_arguments() {
    let recording = record(Builder::enable_all);
    let fields_of = |log: &Log| -> Vec<String> {
        let fields = log.entries().map(|entry| format!("{:?}", entry.values().fields()));
        fields.collect()
    };
    with_tracing(|| {
        tracing::info!(bytes = 1500, host = "example.org", "sent");
        tracing::info!("no field");
        tracing::info!(http.status = 200_u64, r#type = true, "first {}", "text");
        tracing::info!("odd name" = 1, ok = 2.5, "http.status-code" = 404, of = 3);
        for user in [None, Some("ann")] {
            tracing::info!(user, points = 7);
        }
    });
    let trace = recording.stop();
    assert_eq!(
        fields_of(&trace.log()),
        [
            r#"[("bytes", Int(1500)), ("host", Str("example.org"))]"#,
            "[]",
            r#"[("http.status", Int(200)), ("type", Bool(true))]"#,
            r#"[("ok", Float(2.5)), ("http.status-code", Int(404)), ("of", Int(3))]"#,
            r#"[("points", Int(7))]"#,
            r#"[("user", Str("ann")), ("points", Int(7))]"#,
        ]
    );
    // Ids are of template, place, level and group, as those of events ever were.
    let log = trace.log();
    let first = log.entries().next().expect("an entry");
    let place = first.message().expect("a message").location.clone();
    let id = protolog_core::message_id(&place, "%s bytes=%d host=%s", Level::Info, "bridge");
    assert_eq!(first.message_id(), id);
}
