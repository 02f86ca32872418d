//! Arguments that do not match the template in number.
use protolog_rt::{ProtoLogGroup, d};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

fn main() {
    let (n, host) = (1, "example.org");
    d!(AppLog::Net, "sent %d to %s", n);
    d!(AppLog::Net, "%04d");
    d!(AppLog::Net, "sent %d", n, host.len() + 1);
    d!(AppLog::Net, "100%%", n);
    d!(AppLog::Net, "sent %d", n,);
}
