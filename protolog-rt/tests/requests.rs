//! Requests: each message belongs to the innermost request that its thread is in, on however many
//! threads and in however many tasks. Messages say in their texts where the program has logged
//! them, so that a trace is compared with the program and not with itself.

mod common;

use common::{Trace, record, record_concurrently};
use protolog_reader::{Log as ReadLog, Rendering};
use protolog_rt::{
    Builder, InRequest, Level, Pinned, ProtoLogGroup, Request, RequestScope, d, e, i,
    request_scope, span,
};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Db,
}

/// Logs a message that says which request it belongs to.
fn note(request: &str) {
    i!(Log::Net, "in %s", request);
}

/// Checks that each message belongs to the request that it names, and returns their number by
/// request.
#[track_caller]
fn check(log: &ReadLog) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in log.entries() {
        let text = entry.values().text(Rendering::Bare);
        let expected = text.rsplit_once("in ").expect("a request").1;
        assert_eq!(entry.request().unwrap_or("none"), expected, "{text}");
        *counts.entry(expected.to_owned()).or_default() += 1;
    }
    counts
}

/// The same, of a trace that trace_processor reads, too.
#[track_caller]
fn counts(trace: &Trace) -> BTreeMap<String, usize> {
    trace.messages();
    check(&trace.log())
}

fn expected<const N: usize>(counts: [(&str, usize); N]) -> BTreeMap<String, usize> {
    counts.into_iter().map(|(request, count)| (request.to_owned(), count)).collect()
}

#[test]
fn messages_belong_to_the_innermost_request() {
    let session = record(Builder::enable_all);
    note("none");
    let one = request_scope("one");
    note("one");
    let two = Request::new(2);
    {
        let _scope = two.enter();
        note("2");
        let _again = one.enter();
        note("one");
    }
    note("one");
    assert_eq!(Request::current().expect("a request").id(), "one");
    let inner = two.enter();
    drop(one);
    note("2");
    let last = request_scope("last");
    drop(inner);
    note("last");
    drop(last);
    note("none");
    assert!(Request::current().is_none());
    let trace = session.stop();
    let by_request = [("2", 2), ("last", 1), ("none", 2), ("one", 3)];
    assert_eq!(counts(&trace), expected(by_request));
}

#[test]
fn an_id_is_cut_and_a_deep_scope_marks_nothing() {
    let session = record(Builder::enable_all);
    let long = Request::new("x".repeat(100));
    assert!(long.id().len() <= 64 && long.id().ends_with('…'), "{}", long.id());
    let _outer = long.enter();
    note(long.id());
    let names: Vec<String> = (1..40).map(|depth| depth.to_string()).collect();
    let scopes: Vec<RequestScope> = names.iter().map(request_scope).collect();
    // It is in the innermost one that there is room for.
    note("15");
    drop(scopes);
    note(long.id());
    let trace = session.stop();
    assert_eq!(counts(&trace), expected([("15", 1), (long.id(), 2)]));
}

#[test]
fn a_scope_without_messages_writes_nothing() {
    let session = record(Builder::enable_all);
    note("none");
    for _ in 0..1000 {
        let _scope = request_scope("empty");
    }
    note("none");
    let trace = session.stop();
    assert_eq!(counts(&trace), expected([("none", 2)]));
    assert_eq!(trace.log().requests().count(), 0);
}

#[test]
fn threads_enter_one_request() {
    let session = record(Builder::enable_all);
    let requests = ["a", "b", "c", "d"].map(Request::new);
    thread::scope(|scope| {
        for number in 0..8 {
            let requests = requests.clone();
            scope.spawn(move || {
                for turn in 0..200 {
                    let request = &requests[(number + turn) % requests.len()];
                    note("none");
                    let _scope = request.enter();
                    note(request.id());
                    let _span = span!(Log::Db, "turn %d", turn);
                    note(request.id());
                }
            });
        }
    });
    let trace = session.stop();
    let each = 8 * 200 / 4 * 2;
    let all = [("a", each), ("b", each), ("c", each), ("d", each), ("none", 8 * 200)];
    assert_eq!(counts(&trace), expected(all));
}

/// Waits for its second poll.
#[derive(Default)]
struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn work(request: &str, turns: usize) {
    for _ in 0..turns {
        note(request);
        Turn::default().await;
    }
}

#[test]
fn futures_that_take_turns_on_a_thread_are_told_apart() {
    let session = record(Builder::enable_all);
    let (one, two) = (Request::new("one"), Request::new("two"));
    let mut futures: [Pin<Box<dyn Future<Output = ()>>>; 3] = [
        Box::pin(work("one", 50).in_request(one)),
        Box::pin(work("two", 50).in_request(two)),
        Box::pin(work("none", 50)),
    ];
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let polled = futures.iter_mut().map(|future| future.as_mut().poll(&mut context));
        if polled.collect::<Vec<_>>().iter().all(Poll::is_ready) {
            break;
        }
    }
    let trace = session.stop();
    assert_eq!(counts(&trace), expected([("none", 50), ("one", 50), ("two", 50)]));
}

#[test]
fn tasks_take_their_request_to_other_threads() {
    let session = record(Builder::enable_all);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().expect("tokio");
    runtime.block_on(async {
        let mut tasks = Vec::new();
        for number in 0..64 {
            let request = Request::new(format!("task {number}"));
            let id = request.id().to_owned();
            let task = async move {
                for _ in 0..20 {
                    note(&id);
                    tokio::task::yield_now().await;
                    note(&id);
                }
            };
            tasks.push(tokio::spawn(task.in_request(request.clone())));
        }
        for task in tasks {
            task.await.expect("a task");
        }
    });
    let trace = session.stop();
    let counts = counts(&trace);
    assert_eq!(counts.len(), 64);
    assert!(counts.values().all(|count| *count == 40), "{counts:?}");
}

#[test]
fn pinned_messages_and_several_sessions_have_it() {
    let ring = |builder: Builder| {
        let pinned = Pinned::new().level(Level::Error).buffer_size(64 << 10);
        builder.enable_all().keep_newest().buffer_size(256 << 10).pin(pinned)
    };
    let pinning = record(ring);
    let rounds = |count: usize| {
        for _ in 0..count {
            note("none");
            let scope = request_scope("r");
            e!(Log::Db, "in r");
            note("r");
            e!(Log::Db, "in r");
            drop(scope);
            e!(Log::Db, "in none");
            e!(Log::Db, "in none");
        }
    };
    rounds(50);
    let stream = record_concurrently(Builder::enable_all);
    rounds(50);
    let stream = stream.stop();
    assert_eq!(counts(&stream), expected([("none", 150), ("r", 150)]));
    rounds(50);
    let pinning = pinning.stop();
    assert_eq!(counts(&pinning), expected([("none", 450), ("r", 450)]));
}

/// A chunk says by itself which request its thread is in, whatever was overwritten.
#[test]
fn a_ring_that_lost_the_begin_has_the_request() {
    let ring = |builder: Builder| builder.enable_all().keep_newest().buffer_size(32 << 10);
    let session = record(ring);
    let _scope = request_scope("long");
    (0..20_000).for_each(|number| d!(Log::Net, "%d: in long", number));
    let long = "x".repeat(9000);
    d!(Log::Net, "%s: in long", &long); // crosses chunks
    note("long");
    let snapshot = session.snapshot();
    let kept = counts(&snapshot)["long"];
    assert!((100..10_000).contains(&kept), "{kept}");
    session.stop();
}

/// What is done to a trace file as it is written.
fn files_have_it(configure: impl FnOnce(Builder) -> Builder) {
    let session = record(|builder| configure(builder.enable_all()));
    for number in 0..20_000u64 {
        let _scope = (number % 3 == 0).then(|| request_scope("third"));
        note(if number % 3 == 0 { "third" } else { "none" });
        if number % 100 == 0 {
            session.session().flush().expect("flush");
        }
    }
    let dir = session.path.parent().expect("a directory").to_path_buf();
    let trace = session.stop();
    let mut sum = BTreeMap::<String, usize>::new();
    let files = std::fs::read_dir(dir).expect("a directory");
    for file in files.map(|file| file.expect("a file").path()) {
        let file = protolog_reader::Trace::open(file).expect("open");
        let counts = check(&file.read().expect("read"));
        for (id, count) in counts {
            *sum.entry(id).or_default() += count;
        }
    }
    assert_eq!(sum, expected([("none", 13_333), ("third", 6_667)]));
    drop(trace);
}

#[test]
fn segments_go_on_with_it() {
    files_have_it(|builder| builder.segment_bytes(64 << 10));
}

#[test]
#[cfg(feature = "compression")]
fn compressed_traces_have_it() {
    files_have_it(|builder| builder.compress(6));
}

#[test]
fn a_poll_that_panics_leaves_the_request() {
    let session = record(Builder::enable_all);
    let request = Request::new("fails");
    let future = async {
        note("fails");
        panic!("as planned");
    };
    let mut future = pin!(future.in_request(request.clone()));
    let mut context = Context::from_waker(Waker::noop());
    let polled = std::panic::AssertUnwindSafe(|| future.as_mut().poll(&mut context));
    assert!(std::panic::catch_unwind(polled).is_err());
    note("none");
    let trace = session.stop();
    assert_eq!(counts(&trace), expected([("fails", 1), ("none", 1)]));
}
