//! Spans that are recorded, in a loop for valgrind to count: the begin and the end of each; and
//! scopes of a request.

use crate::hot::{Repeat, session};
use harness::{Calls as _, Logger as _};
use protolog_rt::{ProtoLogGroup, Request, i, span};

#[derive(ProtoLogGroup)]
enum Spans {
    On,
    Other,
}

/// Spans that nobody makes, as `loggers` has calls: so no constant gets into the shared function.
#[cold]
fn others(number: u64, text: &str) {
    let _span = span!(Spans::Other, "other %d %d", number, number);
    let _span = span!(Spans::Other, "other %s", text);
    i!(Spans::Other, "other %d %d", number, number);
}

/// Makes so many spans.
pub(crate) fn calls(case: &str, calls: u64) -> Option<()> {
    let dir = tempfile::tempdir().expect("make a temporary directory");
    let logger = session(&dir.path().join("one"));
    std::hint::black_box(others as fn(u64, &str));
    let requests = ["GET /index.html", "GET /cart"].map(Request::new);
    match case {
        "span-two-ints" => Repeat(calls).run(|number| {
            let _span = span!(Spans::On, "request %d of %d", number, 7_u64);
        }),
        "span-text" => Repeat(calls).run(|_| {
            let _span = span!(Spans::On, "request %s", path = "/index.html");
        }),
        "request" => Repeat(calls).run(|number| {
            // Each has a mark.
            let _scope = requests[number as usize % 2].enter();
            i!(Spans::On, "request %d of %d", number, 7_u64);
        }),
        _ => return None,
    }
    logger.close();
    Some(())
}
