//! What programs and their libraries log through the crates `log` and `tracing`, in traces.
#![cfg(all(feature = "log", feature = "tracing"))]

mod common;

use common::{Trace, alone, record};
use protolog_reader::Rendering;
use protolog_rt::{Builder, Level, bridge};
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

fn traced(f: impl FnOnce()) {
    with_default(tracing_subscriber::registry().with(bridge::tracing_layer()), f);
}

/// `file:line` of each message, as the trace has it.
fn locations(trace: &Trace) -> Vec<String> {
    let log = trace.log();
    log.entries().filter_map(|entry| Some(entry.message()?.location.clone())).collect()
}

/// Counts how often it is printed.
struct Counts<'a>(&'a Cell<u32>);

impl fmt::Display for Counts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.set(self.0.get() + 1);
        f.write_str("printed")
    }
}

#[test]
fn records_become_messages_of_their_targets() {
    install();
    let recording = record(|session| session.log_from(Level::Info).group("net", Level::Verbose));
    let line = line!() + 1;
    log::info!("ready after {} ms", 12);
    log::debug!("not wanted");
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
fn a_record_that_nobody_wants_is_not_printed() {
    install();
    let alone = alone();
    let printed = Cell::new(0);
    assert_eq!(log::max_level(), log::LevelFilter::Off);
    log::error!("{}", Counts(&printed));
    drop(alone);
    let recording = record(|session| session.group("wanted", Level::Debug));
    assert_eq!(log::max_level(), log::LevelFilter::Debug);
    log::error!("{}", Counts(&printed));
    assert!(!log::log_enabled!(log::Level::Error));
    assert_eq!(printed.get(), 0);
    log::debug!(target: "wanted", "{}", Counts(&printed));
    assert!(log::log_enabled!(target: "wanted", log::Level::Debug));
    assert_eq!(printed.get(), 1);
    recording.stop().check(&["DEBUG wanted printed"]);
    assert_eq!(log::max_level(), log::LevelFilter::Off);
}

#[test]
fn events_become_messages_with_their_fields() {
    let recording = record(Builder::enable_all);
    let error = "no".parse::<u8>().unwrap_err();
    traced(|| {
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
    // Perfetto knows no unsigned numbers.
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

/// One callsite, whatever the type.
fn generic<T: tracing::Value>(value: T, more: Option<u32>) {
    tracing::info!(value, more, "generic");
}

#[test]
fn a_callsite_with_several_kinds_of_values_is_several_messages() {
    let recording = record(Builder::enable_all);
    traced(|| {
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

#[test]
fn long_fields_are_cut() {
    let recording = record(Builder::enable_all);
    traced(|| {
        tracing::info!(first = "x".repeat(4095), second = "yyy", third = 3, "m");
        tracing::info!(first = "é".repeat(5000), second = "z");
    });
    let lines = recording.stop().messages();
    let (xs, es) = ("x".repeat(4092), "é".repeat(2046));
    assert!(lines[0] == format!("INFO bridge m first={xs}… second=… third=3"), "{}", lines[0]);
    assert!(lines[1] == format!("INFO bridge first={es}… second=…"), "{}", lines[1]);
}

/// Counts the events it sees.
struct Other<'a>(&'a AtomicU32);

impl<S: Subscriber> Layer<S> for &'static Other<'static> {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn callsites_are_switched_by_sessions_and_other_layers_see_all() {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    static OTHER: Other<'static> = Other(&SEEN);
    let printed = Cell::new(0);
    let log = || {
        tracing::info!(value = %Counts(&printed), "one callsite");
    };
    let guard = alone();
    traced(log);
    assert_eq!(printed.get(), 0, "nobody asked");
    drop(guard);
    let subscriber = tracing_subscriber::registry().with(&OTHER).with(bridge::tracing_layer());
    with_default(subscriber, || {
        log();
        let recording = record(|session| session.group("bridge", Level::Debug));
        log();
        recording.stop().check(&["INFO bridge one callsite value=printed"]);
        log();
    });
    assert_eq!(printed.get(), 1, "the other layer prints nothing");
    assert_eq!(SEEN.load(Ordering::Relaxed), 3);
}

/// A client and a server of HTTP/2 on loopback: hyper and h2 speak through `tracing`, mio through `log`.
#[test]
fn libraries_that_log_are_heard() {
    use hyper::{Request, Response, body::Bytes, service::service_fn};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    type Body = http_body_util::Full<Bytes>;

    install();
    let recording = record(|session| session.enable_all().buffer_size(16 << 20));
    traced(|| {
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
