//! Spans that are no spans.

use protolog_rt::{Level, ProtoLogGroup, Span, span};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

fn main() {
    let template = "request";
    let _: Span = span!("no group %d", 1);
    let _: Span = span!(Log::Net);
    let _: Span = span!(Log::Net, "text for a number %d", "text");
    let _: Span = span!(Log::Net, "one too few %d %d", 1);
    let _: Span = span!(Level::Debug, Log::Net, "a value {}", 1);
    let _: Span = span!(Log::Net, template);
    let _: Span = span!(Level::Debug, Log::Net, template);
    let _: Span = span!(Log::Net, "two names %d %d", n = 1, n = 2);
}
