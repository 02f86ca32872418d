//! A fork within a request: what its child logs belongs to the request of the thread that forked,
//! and to no other one, until the child leaves it. An image that the child executes knows nothing
//! of it.
#![allow(unsafe_code)] // fork, _exit.

#[path = "common/fork.rs"]
mod fork;

use fork::{fork, has_process_of_its_own, spawn, wait};
use protolog_reader::{Rendering, Trace};
use protolog_rt::{Level, ProtoLogGroup, Request, Session, i, request_scope};
use protolog_testkit::temp_dir;
use std::path::Path;
use std::sync::Barrier;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

/// The messages of a trace, each with its request.
fn marked(path: &Path) -> Vec<(String, String)> {
    let log = Trace::open(path).expect("a trace").read().expect("a log");
    let entries = log.entries().map(|entry| {
        let request = entry.request().unwrap_or_default().to_owned();
        (request, entry.values().text(Rendering::Bare))
    });
    entries.collect()
}

#[test]
fn a_child_is_in_the_request_of_the_thread_that_forked() {
    if !has_process_of_its_own("a_child_is_in_the_request_of_the_thread_that_forked") {
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let builder = Session::builder().file(&path).log_from(Level::Info).follow_forks();
    let mut session = Some(builder.start().expect("start"));
    let (entered, forked) = (Barrier::new(2), Barrier::new(2));
    let child = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _request = request_scope("of another thread");
            i!(Log::Net, "another thread");
            entered.wait();
            forked.wait();
        });
        entered.wait();
        let request = request_scope("GET /cart/17");
        i!(Log::Net, "before the fork");
        let child = spawn(fork, || {
            i!(Log::Net, "in the child");
            let id = Request::current().map(|it| it.id().to_owned());
            {
                let _inner = request_scope("inner");
                i!(Log::Net, "in a request of its own");
            }
            i!(Log::Net, "behind it");
            session.take().expect("a session").stop().expect("stop");
            id.as_deref() == Some("GET /cart/17")
        });
        i!(Log::Net, "behind the fork");
        drop(request);
        i!(Log::Net, "no request");
        forked.wait();
        child
    });
    wait(child);
    session.take().expect("a session").stop().expect("stop");
    let own = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
        texts.iter().map(|(request, text)| ((*request).into(), (*text).into())).collect()
    };
    let of_child = dir.path().join(format!("app-{child}.pftrace"));
    assert_eq!(
        marked(&of_child),
        own(&[
            ("GET /cart/17", "in the child"),
            ("inner", "in a request of its own"),
            ("GET /cart/17", "behind it"),
        ])
    );
    assert_eq!(
        marked(&path),
        own(&[
            ("of another thread", "another thread"),
            ("GET /cart/17", "before the fork"),
            ("GET /cart/17", "behind the fork"),
            ("", "no request"),
        ])
    );
}
