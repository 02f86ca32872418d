//! A guard belongs to its thread; a future in a span does not.

use protolog_rt::{InSpan, ProtoLogGroup, span};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

fn send(_: impl Send) {}

async fn holds() {
    let _held = span!(Log::Net, "held");
    std::future::ready(()).await;
}

fn main() {
    send(std::future::ready(()).in_span(|| span!(Log::Net, "request %d", 7)));
    send(span!(Log::Net, "guard"));
    send(holds());
}
