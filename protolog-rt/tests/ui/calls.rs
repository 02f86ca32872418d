//! Calls of another shape, and groups that are none.
use protolog_rt::{Level, ProtoLogGroup, d, protolog};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

enum NoGroup {
    Net,
}

impl AppLog {
    fn log(&self) {
        d!(Self::Net, "x");
    }
}

fn pick() -> AppLog {
    AppLog::Net
}

fn main() {
    let group = AppLog::Net;
    d!();
    d!("sent %d", 1);
    d!(AppLog::Net);
    d!(pick(), "x");
    protolog!(Level::Info, group, "x");
    d!(NoGroup::Net, "x");
    protolog!(AppLog::Net, "x");
    protolog!(Level::Info, AppLog::Net);
    protolog!(1, AppLog::Net, "x");
    protolog_rt::__private::call!();
}
