//! A program that joins Perfetto's tracing service, and logs a message.

use protolog_rt::{ProtoLogGroup, i};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

fn main() {
    protolog_rt::producer::connect();
    let (bytes, host) = (512, "example.org");
    i!(AppLog::Net, "sent %d bytes to %s", bytes, host);
}
