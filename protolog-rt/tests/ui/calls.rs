//! Calls of another shape, and groups that are none.
use protolog_rt::{Level, ProtoLogGroup, d, protolog};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

const NAME: &str = "net";

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
    d!("sent");
    d!("net", "sent");
    d!(AppLog::Net);
    d!(pick(), "x");
    protolog!(Level::Info, group, "x");
    d!(&group, "x");
    d!(holder.group, "x");
    d!(AppLog::Net, "x %d" 1);
    d!(NoGroup::Net, "x");
    d!(NAME, "x");
    d!(&AppLog::Net, "x");
    d!(AppLog::Disk, "x");
    protolog!(AppLog::Net, "x");
    protolog!(Level::Info, AppLog::Net);
    protolog!(1, AppLog::Net, "x");
    protolog_rt::__private::call!();
}
